"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const by = (id) => document.getElementById(id);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const state = { level: nearest(data.alpha), score: 0, sort: "coverage", falling: false };

  function nearest(alpha) {
    return data.alphas.reduce((best, one, place) => (Math.abs(one - alpha) < Math.abs(data.alphas[best] - alpha) ? place : best), 0);
  }
  function make(tag, text, name) {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (name) element.className = name;
    return element;
  }
  const fixed = (value, digits = 3) => Number(value).toFixed(digits);
  const percent = (value) => Number((100 * value).toFixed(1)) + " %";

  function layout(extra) {
    const ink = dark.matches ? "#e6e8eb" : "#1b1f24", line = dark.matches ? "#333a43" : "#d5d9e0";
    const axis = { gridcolor: line, zerolinecolor: line, linecolor: line, automargin: true };
    return { margin: { t: 10, r: 10, b: 44, l: 54 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: ink, size: 12 },
      legend: { orientation: "h", y: 1.02, yanchor: "bottom" }, ...extra, xaxis: { ...axis, ...extra.xaxis }, yaxis: { ...axis, ...extra.yaxis } };
  }
  const options = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["lasso2d", "select2d"] };
  const draw = (id, traces, extra) => Plotly.react(id, traces, layout(extra), options);
  const line = (x, color) => ({ type: "line", x0: x, x1: x, y0: 0, y1: 1, yref: "paper", line: { color, dash: "dot", width: 2 } });
  const ACCENT = "#c0392b";

  function coverage(score, alpha) {
    const band = score.band;
    draw("coverage", [
      ...(band ? [{ x: [...data.alphas, ...[...data.alphas].reverse()], y: [...band.map((b) => b[1]), ...band.map((b) => b[0]).reverse()], fill: "toself", line: { width: 0 }, fillcolor: "rgba(52,120,190,.2)", name: "luck alone, " + percent(data.confidence), hoverinfo: "skip" }] : []),
      { x: data.alphas, y: data.alphas.map((a) => 1 - a), line: { dash: "dash", color: "#888" }, name: "asked" },
      { x: data.alphas, y: score.coverage, line: { color: "#3478be" }, name: "seen" },
    ], { xaxis: { title: { text: "alpha" } }, yaxis: { title: { text: "coverage" } }, shapes: [line(alpha, ACCENT)] });
  }
  function size() {
    draw("size", data.scores.map((one, place) => ({ x: one.coverage, y: one.size, name: one.name.split("(")[0], mode: "lines+markers", marker: { size: one.coverage.map((_, at) => (at === state.level ? 11 : 4)) }, line: { width: place === state.score ? 3 : 1.4 } })),
      { xaxis: { title: { text: "coverage seen" } }, yaxis: { title: { text: "mean set size" }, rangemode: "tozero" } });
  }
  function histogram(score) {
    const counts = score.histogram[state.level], total = counts.reduce((a, b) => a + b, 0);
    draw("histogram", [{ type: "bar", x: counts.map((_, at) => at), y: counts.map((c) => c / total), marker: { color: "#3478be" } }],
      { xaxis: { title: { text: "labels in the set" }, ...(counts.length < 15 ? { dtick: 1 } : {}) }, yaxis: { title: { text: "share of rows" } }, shapes: [line(score.size[state.level], ACCENT)] });
  }
  function ranks() {
    const score = data.scores.find((one) => one.ranks);
    if (!score) { by("ranks").textContent = "No score here orders labels by rank alone."; return; }
    const total = score.ranks.reduce((a, b) => a + b, 0), star = score.r_star[state.level];
    let last = 0, sum = 0;
    while (last < score.ranks.length && (sum < 0.999 * total || last < star)) sum += score.ranks[last++];
    draw("ranks", [{ type: "bar", x: score.ranks.slice(0, last).map((_, at) => at + 1), y: score.ranks.slice(0, last).map((c) => c / total), marker: { color: "#3478be" } }],
      { xaxis: { title: { text: "rank of the true label; r* = " + star } }, yaxis: { title: { text: "share of calibration rows" } }, shapes: [line(star, ACCENT)] });
  }
  const COLUMNS = [["name", "class"], ["rows", "rows"], ["coverage", "coverage"], ["size", "mean size"]];
  function classes(score) {
    const head = document.querySelector("#classes thead tr"), body = document.querySelector("#classes tbody");
    head.replaceChildren(...COLUMNS.map(([key, text]) => {
      const cell = make("th"), button = make("button", text + (state.sort === key ? (state.falling ? " ▼" : " ▲") : ""));
      cell.scope = "col";
      cell.setAttribute("aria-sort", state.sort === key ? (state.falling ? "descending" : "ascending") : "none");
      button.type = "button";
      button.onclick = () => { state.falling = state.sort === key ? !state.falling : false; state.sort = key; classes(data.scores[state.score]); };
      cell.append(button);
      return cell;
    }));
    const hits = score.class_coverage[state.level];
    if (!hits) { body.replaceChildren(); by("classes-note").textContent = "There are too many classes to list."; return; }
    const rows = data.classes.map((name, k) => ({ name, rows: data.counts[k], coverage: hits[k], size: score.class_size[state.level][k] })).filter((row) => row.rows);
    rows.sort((a, b) => (a[state.sort] < b[state.sort] ? -1 : a[state.sort] > b[state.sort] ? 1 : 0) * (state.falling ? -1 : 1));
    body.replaceChildren(...rows.map((row) => {
      const line = make("tr");
      line.append(make("td", row.name), make("td", row.rows), make("td", fixed(row.coverage)), make("td", fixed(row.size, 2)));
      return line;
    }));
  }
  function ambiguous(score, alpha) {
    by("ambiguous-note").textContent = "The sets of " + score.name + " with the most labels; the true label has a thick border.";
    document.querySelector("#ambiguous tbody").replaceChildren(...score.ambiguous.map((row) => {
      const line = make("tr"), cell = make("td"), size = row.sizes[state.level], kept = row.labels.filter(([, p]) => p > alpha);
      for (const [column] of kept) {
        const chip = make("span", data.classes[column], column === row.label ? "chip true" : "chip");
        if (column === row.label) chip.title = "the true label";
        cell.append(chip);
      }
      if (size > kept.length) cell.append(make("span", "and " + (size - kept.length) + " more", "faint"));
      line.append(make("td", row.row), make("td", data.classes[row.label]), make("td", size), cell);
      return line;
    }));
  }
  function luck(score) {
    if (!score.band) return [];
    const at = state.level, [low, high] = score.band[at], seen = score.coverage[at];
    const where = seen < low ? ": BELOW" : seen > high && !score.tied[at] ? ": above" : ": inside";
    return [["luck alone", score.tied[at] ? "at least " + fixed(low) + (seen < low ? ": BELOW" : "") : fixed(low) + " to " + fixed(high) + where]];
  }
  function facts(score, alpha) {
    const at = state.level;
    const told = [["coverage", fixed(score.coverage[at], 4)], ["asked", fixed(1 - alpha, 2)], [percent(data.confidence) + " interval", score.interval[at].map((v) => fixed(v)).join(" to ")],
      ...luck(score), ["mean size", fixed(score.size[at])], ["single labels", percent(score.singletons[at])], ["empty sets", percent(score.empty[at])],
      ["SSCV", fixed(score.sscv[at])], ["SSCV, empty apart", fixed(score.sscv_apart[at])]];
    by("facts").replaceChildren(...told.flatMap(([name, value]) => { const box = make("div"); box.append(make("dt", name), make("dd", value)); return [box]; }));
    by("headline").textContent = "At alpha = " + alpha + ": " + percent(score.coverage[at]) + " of " + data.rows.toLocaleString("en") + " rows covered (asked " + percent(1 - alpha) + "), " + fixed(score.size[at], 2) + " labels on average, calibrated on " + data.calibration.toLocaleString("en") + " rows.";
  }
  function words(alpha) {
    const needed = data.needed[state.level], enough = data.smallest >= needed, has = data.groups > 1 ? "The smallest of " + data.groups + " groups" : "The calibration set";
    const told = ["Over the draw of calibration rows and of a new row, the set contains the true label with probability at least " + percent(1 - alpha) + ". It holds for every model and every number of rows.",
      "It is void if new rows come from another source than the calibration rows, or if the model, the score or its parameters have seen those rows.",
      "It is an average over rows: single classes or groups may be covered less, and it says nothing about one particular row. A small set does not mean that the model is right.",
      enough ? has + " has " + data.smallest.toLocaleString("en") + " calibration rows; this level needs at least " + needed + "." : has + " is too small for this level: it needs " + needed + " rows and has " + data.smallest + ", so every label is kept" + (data.groups > 1 ? " there." : ".")];
    by("words").replaceChildren(...told.map((text) => make("p", text)));
  }
  function show() {
    const score = data.scores[state.score], alpha = data.alphas[state.level];
    by("alpha-value").textContent = alpha.toFixed(2);
    by("alpha").setAttribute("aria-valuetext", "alpha " + alpha.toFixed(2));
    facts(score, alpha); coverage(score, alpha); size(); histogram(score); ranks(); classes(score); ambiguous(score, alpha); words(alpha);
  }
  function download() {
    const quoted = (value) => '"' + String(value).replaceAll('"', '""') + '"';
    const lines = [["score", "alpha", "coverage", "low", "high", "mean size", "single labels", "empty", "SSCV", "SSCV empty apart"].map(quoted).join(",")];
    for (const one of data.scores) data.alphas.forEach((a, at) => lines.push([quoted(one.name), a, one.coverage[at], ...one.interval[at], one.size[at], one.singletons[at], one.empty[at], one.sscv[at], one.sscv_apart[at]].join(",")));
    const link = make("a");
    link.href = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "text/csv" }));
    link.download = "rankset-report.csv";
    link.click();
  }
  by("alpha").max = data.alphas.length - 1;
  by("alpha").value = state.level;
  by("alpha").oninput = () => { state.level = Number(by("alpha").value); show(); };
  by("score").append(...data.scores.map((one, place) => { const option = make("option", one.name); option.value = place; return option; }));
  by("score").onchange = () => { state.score = Number(by("score").value); show(); };
  by("controls").onsubmit = (event) => event.preventDefault();
  by("download").onclick = download;
  dark.addEventListener("change", show);
  show();
})();
