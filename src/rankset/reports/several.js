  const LINES = [["recall", BLUE], ["all labels", "#d07c2c"]], known = (score) => LINES.some(([name]) => name === score.measure);
  const promised = (score) => !score.by_label && score.observed[0] !== null;  // whether one of the lines is
  const curve = (name, y, color, solid) => ({ x: data.alphas, y, line: { color, dash: solid ? "solid" : "dot", width: solid ? 3 : 2 }, name, hovertemplate: "alpha %{x}: " + name + " %{y:.4f}<extra></extra>" });
  function coverage(score, alpha) {
    const band = score.band;
    draw("coverage", [
      ...(band ? [{ x: [...data.alphas, ...[...data.alphas].reverse()], y: [...band.map((b) => b[1]), ...band.map((b) => b[0]).reverse()], fill: "toself", line: { width: 0 }, fillcolor: "rgba(52,120,190,.2)", name: "sampling variation, " + percent(data.confidence), hoverinfo: "skip" }] : []),
      ...(promised(score) ? [{ x: data.alphas, y: data.alphas.map((a) => 1 - a), line: { dash: "dash", color: "#888" }, name: "target of " + score.measure, hovertemplate: "target %{y:.3f}<extra></extra>" }] : []),
      ...(promised(score) && !known(score) ? [curve(score.measure, score.observed, "#2c8a5a", true)] : []),
      ...LINES.map(([name, color]) => curve(name, score.metrics[name], color, promised(score) && name === score.measure)),
    ], { xaxis: { title: { text: "alpha" } }, yaxis: { title: { text: "share" } }, shapes: marked(alpha).shapes });
  }
  function size() {
    draw("size", data.scores.map((one, place) => ({ x: one.metrics.recall, y: one.metrics.size, name: short(one), mode: "lines+markers", marker: { size: one.metrics.recall.map((_, at) => (at === state.level ? 11 : 0)) }, line: { width: place === state.score ? 3 : 1.4 }, hovertemplate: short(one) + ": recall %{x:.4f}, size %{y:.3f}<extra></extra>" })),
      { xaxis: { title: { text: "observed recall; the dots are this alpha" } }, yaxis: { title: { text: "mean set size" }, rangemode: "tozero" } });
  }
  const table = (id, heads, rows) => {
    document.querySelector("#" + id + " thead tr").replaceChildren(...heads.map((text, place) => heading(text, place)));
    document.querySelector("#" + id + " tbody").replaceChildren(...rows.map((row) => cells(row, heads.map((_, place) => place > 0))));
  };
  const ends = (range) => percent(data.confidence) + " interval " + range.map((value) => fixed(value)).join(" to ");
  function facts(score, alpha) {
    const at = state.level, other = promised(score) && !known(score) ? score.measure : null;
    tiles(by("facts"), [...(other ? [[other, fixed(score.observed[at]), "what is promised, as observed"]] : []), ["recall", fixed(metric(score, "recall")), ends(score.recall_interval[at])], ["all labels", fixed(metric(score, "all labels")), ends(score.all_interval[at])], ["size", fixed(metric(score, "size")), "mean number of labels in a set, of " + many(data.classes.length)]]);
    const rest = data.metrics.filter((one) => !["recall", "all labels", "size", other].includes(one.name));
    tiles(by("measures"), [...rest.map((one) => [one.name, shown(metric(score, one.name)), one.explanation]), ["rows set aside", many(data.set_aside), "of " + many(data.rows) + " test rows, because they have no label; " + many(score.guarantee.set_aside) + " at calibration"]]);
    by("headline").textContent = short(score) + " at alpha = " + alpha + ": " + (other ? other + " " + percent(score.observed[at]) + ", " : "") + "recall " + percent(metric(score, "recall")) + ", all labels in " + percent(metric(score, "all labels")) + " of " + many(data.rows - data.set_aside) + " rows with labels, " + fixed(metric(score, "size"), 2) + " labels on average, calibrated on " + many(score.guarantee.rows) + " rows.";
  }
  function promises(score, alpha) {
    const at = state.level, sure = score.sure, proven = score.proven[at], told = score.promise.replace("{}", askedPercent(alpha)), observed = (value) => (value === null ? "–" : fixed(value));
    table("promises", ["promise", "asked", "observed", "mean size"], [
      ["on average over calibrations", String(asked(alpha)), observed(score.observed[at]), fixed(metric(score, "size"), 3)],
      ...(sure ? [["for this calibration, with confidence " + data.sure, String(asked(alpha)), observed(sure.observed[at]), fixed(sure.size[at], 3)]] : [])]);
    const less = proven > 0 ? "Proven is at least " + percent(Math.floor(1000 * proven) / 1000) + ". " : "Nothing is proven. ";
    by("promises-note").textContent = (proven === null ? "Promised is: " + told + ". " : "Usual, but not proven, is: " + told + ". " + less) + (sure ? "All other numbers on this page are those of the first promise." : "A promise about this calibration is shown for rules with one threshold whose promise is proven.");
  }
  function labels(score) {
    const at = state.level;
    if (!score.label_columns) { by("classes-note").textContent = "There are too many labels to list."; return; }
    const rows = score.label_columns.map((column, place) => ({ name: data.classes[column], rows: data.counts[column], recall: score.label_recall[at][place], kept: score.label_kept[at][place] }));
    sortedTable("classes", [["name", "label"], ["rows", "rows with it", many], ["recall", "recall", fixed], ["kept", "share of sets with it", fixed]], rows, () => labels(data.scores[state.score]));
  }
  function groups(score) {
    by("groups-section").hidden = !score.group_names;
    if (!score.group_names) return;
    const value = (number) => (number === null ? "–" : fixed(number));
    const rows = score.group_names.map((name, place) => [name, score.group_rows[place], ...score.by_group[state.level][place]]).sort((a, b) => (a[3] ?? 2) - (b[3] ?? 2));
    table("groups", ["group", "rows with labels", "promised, as observed", "recall", "all labels", "mean size"], rows.map(([name, count, observed, recall, all, width]) => [name, many(count), value(observed), value(recall), value(all), fixed(width, 3)]));
  }
  function words(score, alpha) {
    const own = score.guarantee, needed = data.needed[state.level], proven = score.proven[state.level], where = own.groups > 1 && !score.by_label ? ", within every group of the condition (" + own.condition + ")" : "";
    const has = own.groups > 1 ? "The smallest of " + own.groups + " groups" : "The calibration set", told = score.promise.replace("{}", askedPercent(alpha));
    by("words").replaceChildren(...[
      proven === null ? "Over the draw of calibration rows and of a new row with labels, " + told + where + ". It holds for every model and every number of rows."
        : proven > 0 ? "These sets come from several models, one for each fold. Usually " + told + where + ". The proven share is at least " + percent(Math.floor(1000 * proven) / 1000) + "."
        : "For these sets nothing is proven at this level. Usually " + told + where + ".",
      "It is about rows that have labels. Rows without labels are set aside; they count for the size, the empty sets and the precision only.",
      own.weighted ? "It is void if the weights are not right, or if the model, the score or its parameters have seen the calibration rows." : "It is void if new rows come from another source than the calibration rows, or if the model, the score or its parameters have seen those rows.",
      score.by_label ? "It is about labels one by one. Of all labels of a row together nothing is promised, so the lines above have no target. The table of labels shows every label."
        : "It is an average over rows: rows with many labels and rare labels may be served worse, as the tables show. Recall() with a threshold per label (PerLabel) makes a promise about every label.",
      ...(own.effective ? ["With their weights, the calibration rows count as " + many(own.effective) + " rows of equal weight" + (own.weighted && proven !== 0 ? "; " + own.weighted : "") + "."] : []),
      ...(own.weighted ? [] : [own.smallest >= needed ? has + " has " + many(own.smallest) + " rows; this level needs at least " + many(needed) + "." : has + " is too small for this level: it needs " + many(needed) + " rows and has " + many(own.smallest) + ", so every label is kept" + (own.groups > 1 ? " there." : ".")]),
    ].map((text) => make("p", text)));
  }
  function pictures() {
    if (!window.Plotly) return;
    coverage(data.scores[state.score], data.alphas[state.level]);
    size();
  }
  function show() {
    const score = data.scores[state.score], alpha = data.alphas[state.level];
    by("alpha-value").textContent = alpha;
    by("alpha").setAttribute("aria-valuetext", "alpha " + alpha);
    facts(score, alpha); promises(score, alpha); labels(score); groups(score); words(score, alpha); pictures();
    table("numbers", ["rows with", "rows", "recall", "mean size"], score.by_number[state.level].map(([name, count, recall, width]) => [name, many(count), shown(recall), fixed(width, 3)]));
  }
  start(show, pictures);
