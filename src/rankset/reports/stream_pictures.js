  const COLORS = { labels: BLUE, outputs: "#c8741f", coverage: "#2c8a5a" }, DASHES = { labels: "solid", outputs: "dash", coverage: "dot" };
  const FEW = 60;  // so many blocks are drawn as steps, more of them as a line
  const ink = () => (dark.matches && !state.printing ? "#e6e8eb" : "#1b1f24"), paper = () => (dark.matches && !state.printing ? "#1b2026" : "#fff");
  const known = (values) => blocks.row.map((_, at) => at).filter((at) => values[at] !== null);
  const pick = (values, places) => places.map((at) => values[at]);
  const shape = (places) => (places.length <= FEW ? "vh" : "linear");
  const first = (places) => blocks.row[places[0]] - blocks.rows[places[0]];  // where the first of these blocks begins
  const ofBlocks = (places, values) => ({ x: [first(places), ...pick(blocks.row, places)], y: [values[places[0]], ...pick(values, places)] });  // every block has its value from its first to its last row
  function stepped(places, values) {  // the same as a path of its own
    const x = places.flatMap((at, place) => [place ? blocks.row[places[place - 1]] : first(places), blocks.row[at]]);
    return { x, y: pick(values, places).flatMap((value) => [value, value]) };
  }
  const upright = (x, color) => ({ type: "line", x0: x, x1: x, y0: 0, y1: 1, yref: "paper", line: { color, dash: "dot", width: 1.5 } });
  const flat = (y, more) => ({ type: "line", x0: 0, x1: 1, xref: "paper", y0: y, y1: y, line: { color: "#888", dash: "dash", width: 1.2, ...more } });
  const marks = () => raised.map((one) => upright(one.at, COLORS[one.name]));

  function timed(id, traces, extra) {  // all pictures have the same margins, so that their rows stand below each other
    const narrow = by(id).clientWidth < 500;
    if (!state.printing) by(id).style.setProperty("--shape", by(id).clientWidth + " / " + by(id).clientHeight);  // on paper, pictures keep it
    draw(id, traces, { margin: { t: extra.showlegend === false ? 12 : 28, r: 12, b: 42, l: narrow ? 50 : 64 }, hovermode: "x unified", hoverlabel: { align: "left", bgcolor: paper() }, ...extra,
      xaxis: { title: { text: "rows" }, range: [0, Math.max(1, data.rows)], tickformat: ",d", automargin: false, nticks: narrow ? 5 : 10, hoverformat: ",d", spikethickness: 1, spikedash: "solid", spikecolor: "#888" }, yaxis: { automargin: false, ...extra.yaxis }, shapes: [...(extra.shapes ?? []), ...marks()] });
  }
  function coverage() {
    const at = known(blocks.coverage), outside = at.filter((place) => blocks.coverage[place] < blocks.low[place]);
    const top = stepped(at, blocks.high), bottom = stepped(at, blocks.low), least = Math.min(...pick(blocks.coverage, at), ...bottom.y);
    timed("coverage", [
      { x: [...top.x, ...bottom.x.reverse()], y: [...top.y, ...bottom.y.reverse()], fill: "toself", line: { width: 0 }, fillcolor: "rgba(52,120,190,.2)", name: percent(data.confidence) + " band", hoverinfo: "skip", mode: "lines" },
      { ...ofBlocks(at, blocks.coverage), mode: "lines", line: { color: BLUE, width: 1.3, shape: shape(at) }, name: "per block", hovertemplate: "%{y:.3f} covered in this block<extra></extra>" },
      { x: pick(blocks.row, outside), y: pick(blocks.coverage, outside), mode: "markers", marker: { color: red(), size: 6 }, cliponaxis: false, name: "below the band", hoverinfo: "skip" },
      { ...ofBlocks(at, blocks.running), mode: "lines", line: { color: ink(), width: 2.5, shape: shape(at) }, name: "so far", hovertemplate: "%{y:.4f} covered so far<extra></extra>" },
    ], { shapes: [flat(target)], yaxis: { title: { text: "share of labels" }, range: [Math.max(-0.02, least - 0.05), 1.02], hoverformat: ".3f" } });
  }
  function size() {
    const at = known(blocks.size);
    timed("size", [{ ...ofBlocks(at, blocks.size), mode: "lines", line: { color: BLUE, width: 1.6, shape: shape(at) }, name: "mean size", hovertemplate: "%{y:.3f} labels on average<extra></extra>" }],
      { showlegend: false, shapes: [flat(data.size, { dash: "dot" })], annotations: [{ x: 1, xref: "paper", xanchor: "right", y: data.size, yanchor: "bottom", showarrow: false, text: "mean " + fixed(data.size, 2), bgcolor: paper(), opacity: 0.9 }], yaxis: { title: { text: "labels in a set" }, rangemode: "tozero" } });
  }
  function level() {
    const highest = Math.max(data.alpha, ...blocks.level), lowest = Math.min(data.alpha, ...blocks.level), room = 0.12 * Math.max(highest - Math.min(0, lowest), 0.01);
    const ends = [...(lowest <= 0 ? [[0, "0 or less: every label", "top"]] : []), ...(highest >= 1 ? [[1, "1 or more: no label", "bottom"]] : [])];
    timed("level", [{ x: [0, ...blocks.row], y: [data.alpha, ...blocks.level], mode: "lines", line: { color: BLUE, width: 1.6 }, name: "level", hovertemplate: "level %{y:.4f}<extra></extra>" }],
      { showlegend: false, shapes: [flat(data.alpha), ...ends.map(([end]) => flat(end, { color: red(), dash: "dot" }))], yaxis: { title: { text: "level" }, range: [Math.min(0, lowest) - (lowest <= 0 ? room : 0), highest + room] },
        annotations: [{ x: 1, xref: "paper", xanchor: "right", y: data.alpha, yanchor: "bottom", showarrow: false, text: "alpha", bgcolor: paper(), opacity: 0.9 }, ...ends.map(([end, text, yanchor]) => ({ x: 1, xref: "paper", xanchor: "right", y: end, yanchor, showarrow: false, text, font: { color: red(), size: 11 } }))] });
  }

  const stretched = (power) => Math.asinh(power / 2);  // small powers of ten stand apart, and large ones stay in the picture
  const TICKS = [0, 1, 2, 3, 5, 10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000];
  const raisedTo = (power) => "10<sup>" + power + "</sup>";
  function ticks(low, high) {
    const least = (stretched(high) - stretched(low)) / 9, found = [];
    for (const power of [...TICKS.slice(1).map((one) => -one).reverse(), ...TICKS]) if (power >= low && power <= high && (!found.length || stretched(power) - stretched(found.at(-1)) > least || power === 0)) found.push(power);
    return { tickvals: found.map(stretched), ticktext: found.map((power) => (Math.abs(power) < 4 ? many(Number((10 ** power).toPrecision(3))) : raisedTo(power))) };
  }
  function evidence() {
    const all = EVIDENCE.flatMap((name) => blocks.evidence[name]), limits = alarms.map((one) => one.limit);
    const low = Math.min(-0.5, ...all) * 1.15, high = Math.max(...limits, ...all) * 1.15, x = [0, ...blocks.row], wide = by("evidence").clientWidth > 500;
    const series = EVIDENCE.map((name) => { const y = [0, ...blocks.evidence[name]]; return { x, y: y.map(stretched), customdata: y.map((value) => powers(value, raisedTo)), mode: "lines", line: { color: COLORS[name], dash: DASHES[name], width: 2 }, name, hovertemplate: name + " %{customdata}<extra></extra>" }; });
    const points = raised.map((one) => ({ x: [one.at], y: [stretched(one.limit)], mode: "markers", marker: { color: COLORS[one.name], size: 10, symbol: "triangle-up", line: { color: paper(), width: 1 } }, name: one.name + " alarm, row " + many(one.at), showlegend: wide, hoverinfo: "skip" }));
    const spans = raised.map((one) => ({ type: "rect", x0: one.since, x1: one.at, y0: 0, y1: 1, yref: "paper", fillcolor: COLORS[one.name], opacity: 0.18, line: { width: 0 } }));
    const [upper, lower] = [alarms[0], alarms[2]], told = (one, names, yanchor) => ({ x: 1, xref: "paper", xanchor: "right", y: stretched(one.limit), yanchor, showarrow: false, text: (wide ? "alarm about " : "") + names + " at " + many(exact(1 / one.delta)), font: { size: 11 } });
    timed("evidence", [...series, ...points], { shapes: [flat(stretched(upper.limit), { color: COLORS.labels }), flat(stretched(lower.limit), { color: COLORS.coverage }), ...spans], annotations: [told(upper, "labels and outputs", "bottom"), told(lower, "coverage", "top")],
      yaxis: { title: { text: "evidence" }, range: [stretched(low), stretched(high)], ...ticks(low, high) } });
  }

  function range(values, digits) {
    const some = values.filter((value) => value !== null);
    return some.length ? "from " + fixed(Math.min(...some), digits) + " to " + fixed(Math.max(...some), digits) : "none";
  }
  function notes() {
    const labelled = known(blocks.coverage).length, chance = (1 - data.confidence) / 2, alarmed = raised.length ? " Dotted vertical lines: where alarms were raised." : "";
    by("coverage-note").textContent = labelled ? "Dashed line: 1 − alpha = " + target + ". Thick line: all labels so far. Band: where at least " + percent(data.confidence) + " of blocks lie if each label is missed with probability " + data.alpha + ", independently of the others. Of " + several(labelled, "block") + " with labels (usually of " + several(usualRows() ?? 0, "row") + "), " + many(blocks.below) + " lie below the band and " + many(blocks.above) + " above; by chance alone at most " + percent(chance) + " each are expected. A label counts in the block in which it came." + alarmed : "No labels have come yet.";
    by("size-note").textContent = "Mean number of labels in the sets of a block. Larger sets mean that the model is less sure, or that the level is lower.";
    by("level-note").textContent = data.method === "Fixed()" ? "The alpha of the next set. It stays alpha; only the window follows the rows." : "The alpha of the next set. It falls after a miss and rises otherwise; a lower level gives larger sets. At 0 or less a set has every label, at 1 or more none.";
    by("evidence-note").textContent = "Evidence against “nothing has changed” (labels, outputs) and “misses are within what is allowed” (coverage). It starts at 1. An alarm is raised when its line first reaches the value named on the right; if nothing has changed, the chance that this ever happens is at most 1 divided by this value. Steps of the axis are powers of ten." + (raised.length ? " Triangles: alarms. Shaded: since when evidence had grown." : "");
    by("coverage").setAttribute("aria-label", "Share of covered labels over time, " + range(blocks.coverage) + " per block; over all labels " + (data.labels ? fixed(1 - data.miss_rate) : "none"));
    by("size").setAttribute("aria-label", "Mean set size over time, " + range(blocks.size, 3));
    by("level").setAttribute("aria-label", "Level over time, " + range(blocks.level) + ", now " + fixed(data.level));
    by("evidence").setAttribute("aria-label", "Evidence of the alarms over time; now " + alarms.map((one) => one.name + " " + powers(one.evidence) + (one.raised ? " (raised)" : "")).join(", "));
  }
  const shownPictures = { coverage: [coverage, data.labels > 0], size: [size, data.rows > 0], level: [level, count > 0], evidence: [evidence, count > 0] };
  function together() {  // the block below the pointer is shown in all pictures
    const drawn = Object.keys(shownPictures).filter((id) => shownPictures[id][1]);
    let busy = false;
    const all = (id, work) => { if (busy) return; busy = true; try { for (const other of drawn) if (other !== id) work(by(other)); } finally { busy = false; } };
    for (const id of drawn) {
      by(id).on("plotly_hover", (event) => all(id, (other) => Plotly.Fx.hover(other, { xval: event.xvals ? event.xvals[0] : event.points[0].x, yval: 0 }, ["xy"])));
      by(id).on("plotly_unhover", () => all(id, (other) => Plotly.Fx.unhover(other)));
    }
  }
  let linked = false;
  function pictures() {
    if (!window.Plotly) return;
    for (const [work, wanted] of Object.values(shownPictures)) if (wanted) work();
    if (!linked) { linked = true; together(); }
  }
  for (const [id, [, wanted]] of Object.entries(shownPictures)) by(id + "-section").hidden = !wanted && id !== "coverage";
  by("coverage").hidden = !data.labels;
  by("blocks-section").hidden = !count;
  by("headline").textContent = headline();
  facts(); alarmCards(); table(); words(); notes();
  startPictures(pictures);
