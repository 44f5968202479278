  const data = JSON.parse(document.getElementById("data").textContent);
  const by = (id) => document.getElementById(id);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const state = { level: data.alphas ? data.alphas.indexOf(data.alpha) : 0, score: 0, sort: data.several ? "recall" : "coverage", falling: false, printing: false };

  function make(tag, text, name) {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (name) element.className = name;
    return element;
  }
  function fixed(value, digits = 4) {  // as rankset evaluate writes it: a number halfway between two others becomes the even one
    const text = Number(value).toFixed(digits), last = Number(text.at(-1)), halfway = Math.abs(value * 2 ** (digits + 1)) % 2 === 1;
    return halfway && last % 2 ? text.slice(0, -1) + (last - 1) : text;
  }
  const metric = (score, name) => score.metrics[name][state.level], shown = (value) => (value === null ? "–" : fixed(value));
  const percent = (value) => Number((100 * value).toFixed(1)) + " %";
  const asked = (alpha) => Number((1 - alpha).toPrecision(12)), askedPercent = (alpha) => Number((100 * (1 - alpha)).toPrecision(12)) + " %";
  const many = (value) => value.toLocaleString("en");
  const short = (score) => score.label;

  const BLUE = "#3478be", red = () => (dark.matches && !state.printing ? "#e57a6d" : "#c0392b");
  function layout(extra) {
    const night = dark.matches && !state.printing, ink = night ? "#e6e8eb" : "#1b1f24", line = night ? "#333a43" : "#d5d9e0";
    const axis = { gridcolor: line, zerolinecolor: line, linecolor: line, automargin: true, fixedrange: true };
    return { margin: { t: 24, r: 10, b: 44, l: 54 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: ink, size: 12 }, hoverlabel: { align: "left" },
      legend: { orientation: "h", y: 1.02, yanchor: "bottom" }, ...extra, xaxis: { ...axis, ...extra.xaxis }, yaxis: { ...axis, ...extra.yaxis } };
  }
  const fit = (plot) => { for (const svg of plot.querySelectorAll(".main-svg")) svg.setAttribute("viewBox", "0 0 " + svg.getAttribute("width") + " " + svg.getAttribute("height")); };
  function draw(id, traces, extra) {  // with a viewBox pictures can be printed at any size
    const plot = by(id), first = !plot.on;
    Plotly.react(plot, traces, layout(extra), { responsive: true, displayModeBar: false });
    if (first) plot.on("plotly_afterplot", () => fit(plot));
    fit(plot);
  }
  const marked = (x, text) => ({ shapes: [{ type: "line", x0: x, x1: x, y0: 0, y1: 1, yref: "paper", line: { color: red(), dash: "dot", width: 2 } }],
    annotations: [{ x, y: 1, yref: "paper", yanchor: "bottom", text, showarrow: false, font: { color: red(), size: 12 } }] });
  const whole = (count) => (count < 15 ? { dtick: 1 } : { tickformat: ",d" });

  function cells(values, numbers) {
    const line = make("tr");
    line.append(...values.map((value, place) => make("td", value, numbers[place] ? "number" : "")));
    return line;
  }
  function heading(text, place, span) {
    const head = make("th", text, place ? "number" : "");
    head.scope = span ? "colgroup" : "col";
    if (span) head.colSpan = span;
    return head;
  }
  function tiles(list, told) {
    list.replaceChildren(...told.map(([name, value, more]) => {
      const box = make("div"), answer = make("dd", value);
      if (more) answer.append(make("small", more));
      box.append(make("dt", name), answer);
      return box;
    }));
    return list;
  }
  function sortedTable(id, columns, rows, again) {  // columns: key, heading, and how a number is written; a click on a heading sorts
    const head = document.querySelector("#" + id + " thead tr"), body = document.querySelector("#" + id + " tbody");
    if (!head.children.length) head.append(...columns.map(([key, text], place) => {
      const cell = make("th", undefined, place ? "number" : ""), button = make("button", text);
      cell.scope = "col";
      button.type = "button";
      button.onclick = () => { state.falling = state.sort === key ? !state.falling : false; state.sort = key; again(); };
      cell.append(button);
      return cell;
    }));
    columns.forEach(([key, text], place) => {
      const cell = head.children[place], chosen = state.sort === key;
      cell.setAttribute("aria-sort", chosen ? (state.falling ? "descending" : "ascending") : "none");
      cell.firstChild.textContent = text + (chosen ? (state.falling ? " ▼" : " ▲") : "");
    });
    const value = (row) => (state.sort === "name" && row.name.trim() !== "" && !isNaN(row.name) ? Number(row.name) : row[state.sort]);
    rows.sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0) * (state.falling ? -1 : 1));
    body.replaceChildren(...rows.map((row) => cells(columns.map(([key, , written]) => (written ? written(row[key]) : row[key])), columns.map((_, place) => place > 0))));
  }
  function oncePerFrame(work) {
    let waiting = 0;
    return () => { if (!waiting) waiting = requestAnimationFrame(() => { waiting = 0; work(); }); };
  }
  let redraw = () => {};
  const soon = oncePerFrame(() => redraw());
  const quoted = (value) => '"' + String(value).replaceAll('"', '""') + '"';
  function saveLines(lines, name) {  // as a file of the reader
    const link = make("a");
    link.href = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "text/csv" }));
    link.download = name;
    link.click();
  }
  function download() {
    const names = data.metrics.map((one) => one.name), lines = [["score", "alpha", "low", "high", ...names].map(quoted).join(",")];
    for (const one of data.scores) data.alphas.forEach((a, at) => lines.push([quoted(one.label), a, ...(one.interval ?? one.recall_interval)[at], ...names.map((name) => one.metrics[name][at] ?? "")].join(",")));
    saveLines(lines, "rankset-report.csv");
  }
  function startPictures(pictures) {
    dark.addEventListener("change", pictures);
    const printing = (now) => { state.printing = now; pictures(); };
    window.addEventListener("beforeprint", () => printing(true));
    window.addEventListener("afterprint", () => printing(false));
    requestAnimationFrame(() => setTimeout(() => {  // numbers first: the pictures' library takes a second to start
      const library = make("script", by("plotly").textContent);
      document.head.append(library);
      pictures();
    }, 0));
  }
  function start(show, pictures) {  // show: everything again; pictures: only the pictures
    redraw = show;
    by("alpha").max = data.alphas.length - 1;
    by("alpha").value = state.level;
    by("alpha").oninput = () => { state.level = Number(by("alpha").value); soon(); };
    by("score").append(...data.scores.map((one, place) => { const option = make("option", short(one)); option.value = place; return option; }));
    by("score").onchange = () => { state.score = Number(by("score").value); soon(); };
    by("controls").onsubmit = (event) => event.preventDefault();
    by("download").onclick = download;
    show();
    startPictures(pictures);
  }
