  const sections = [...new Set(data.metrics.map((one) => one.section))].map((title) => [title, data.metrics.filter((one) => one.section === title)]);
  function coverage(score, alpha) {
    const band = score.band;
    draw("coverage", [
      ...(band ? [{ x: [...data.alphas, ...[...data.alphas].reverse()], y: [...band.map((b) => b[1]), ...band.map((b) => b[0]).reverse()], fill: "toself", line: { width: 0 }, fillcolor: "rgba(52,120,190,.2)", name: "sampling variation, " + percent(data.confidence), hoverinfo: "skip" }] : []),
      ...(score.guarantee.about === "classes" ? [] : [{ x: data.alphas, y: data.alphas.map((a) => 1 - a), line: { dash: "dash", color: "#888" }, name: "target", hovertemplate: "target %{y:.3f}<extra></extra>" }]),
      { x: data.alphas, y: score.metrics.coverage, line: { color: BLUE }, name: "observed", hovertemplate: "alpha %{x}: coverage %{y:.4f}<extra></extra>" },
    ], { xaxis: { title: { text: "alpha" } }, yaxis: { title: { text: "coverage" } }, shapes: marked(alpha).shapes });
  }
  function size() {
    draw("size", data.scores.map((one, place) => ({ x: one.metrics.coverage, y: one.metrics.size, name: short(one), mode: "lines+markers", marker: { size: one.metrics.coverage.map((_, at) => (at === state.level ? 11 : 0)) }, line: { width: place === state.score ? 3 : 1.4 }, hovertemplate: short(one) + ": coverage %{x:.4f}, size %{y:.3f}<extra></extra>" })),
      { xaxis: { title: { text: "observed coverage; the dots are this alpha" } }, yaxis: { title: { text: "mean set size" }, rangemode: "tozero" } });
  }
  function histogram(score) {
    const counts = score.histogram[state.level], total = counts.reduce((a, b) => a + b, 0), mean = metric(score, "size");
    draw("histogram", [{ type: "bar", x: counts.map((_, at) => at), y: counts.map((c) => c / total), customdata: counts, marker: { color: BLUE }, hovertemplate: "%{x} labels: %{customdata} rows (%{y:.1%})<extra></extra>" }],
      { xaxis: { title: { text: "labels in the set" }, ...whole(counts.length) }, yaxis: { title: { text: "share of rows" } }, ...marked(mean, "mean " + fixed(mean, 2)) });
  }
  function ranks() {
    const score = data.scores[state.score].ranks ? data.scores[state.score] : data.scores.find((one) => one.ranks);
    if (!score) { by("ranks").textContent = data.scores[state.score].guarantee.groups > 1 ? "Every group has its own r*; see rankset inspect." : data.scores[state.score].folds ? "Every fold has its own r*." : "No score here orders labels by rank alone."; by("ranks").className = "note"; return; }
    by("ranks-title").textContent = "Ranks of true labels at calibration, and the r* of " + short(score);
    const total = score.ranks.reduce((a, b) => a + b, score.absent || 0), star = score.r_star[state.level];
    let last = 0, sum = 0;
    while (last < score.ranks.length && (sum < 0.999 * (total - (score.absent || 0)) || last < star)) sum += score.ranks[last++];
    const counts = score.ranks.slice(0, last);
    draw("ranks", [{ type: "bar", x: counts.map((_, at) => at + 1), y: counts.map((c) => c / total), customdata: counts, marker: { color: BLUE }, hovertemplate: "rank %{x}: %{customdata} rows (%{y:.1%})<extra></extra>" }],
      { xaxis: { title: { text: "rank of the true label" }, ...whole(last) }, yaxis: { title: { text: "share of calibration rows" } }, ...marked(star, "r* = " + star) });
  }

  function scores() {
    const names = ["score", percent(data.confidence) + " interval", ...sections.flatMap(([, some]) => some.map((one) => one.name))];
    const tops = make("tr", undefined, "sections"), heads = make("tr");
    tops.append(heading("", 0, 2), ...sections.map(([title, some]) => heading(title, 1, some.length)));
    heads.append(...names.map((text, place) => heading(text, place)));
    document.querySelector("#scores thead").replaceChildren(tops, heads);
    document.querySelector("#scores tbody").replaceChildren(...data.scores.map((one, place) => {
      const line = cells([one.label, one.interval[state.level].map((v) => fixed(v)).join(" to "), ...names.slice(2).map((name) => shown(metric(one, name)))], names.map((_, at) => at > 0));
      if (one.text !== one.label) line.firstChild.title = one.text;
      if (place === state.score) { line.className = "chosen"; line.setAttribute("aria-current", "true"); }
      return line;
    }));
  }
  by("scores-title").textContent = (data.scores.length > 1 ? "All scores" : "This rule") + " at this alpha";
  by("scores-note").textContent = data.scores.filter((one) => one.text.length > 60).map((one) => one.label + ": " + one.text + ".").join(" ");
  function groups(score) {
    by("groups-section").hidden = !data.group_names.length;
    if (!data.group_names.length) return;
    document.querySelector("#groups thead tr").replaceChildren(...["group", "rows", "coverage", "mean size"].map((text, place) => { const head = make("th", text, place ? "number" : ""); head.scope = "col"; return head; }));
    const at = state.level, rows = data.group_names.map((name, g) => [name, data.group_counts[g], score.group_coverage[at][g], score.group_size[at][g]]).sort((a, b) => a[2] - b[2]);
    document.querySelector("#groups tbody").replaceChildren(...rows.map(([name, count, hits, width]) => cells([name, many(count), fixed(hits), fixed(width, 3)], [false, true, true, true])));
  }
  const named = data.scores.some((one) => one.ambiguous.some((row) => row.id !== undefined));
  const AMBIGUOUS = [...(named ? [["id", false]] : []), ["row", true], ["true label", false], ["size", true], ["set", false]];
  const nameOf = (row, column) => (row.names ? row.names[column] : data.classes[column]);
  function found(row) {
    const sought = by("find").value.trim().toLowerCase();
    return !sought || [row.id ?? String(row.row), row.label < 0 ? "absent" : nameOf(row, row.label)].some((text) => text.toLowerCase().includes(sought));
  }
  function ambiguous(score, alpha) {
    const heads = document.querySelector("#ambiguous thead tr"), rows = score.ambiguous.filter(found);
    if (!heads.children.length) heads.append(...AMBIGUOUS.map(([text, number]) => heading(text, number)));
    by("find-note").textContent = rows.length < score.ambiguous.length ? rows.length + " of the " + score.ambiguous.length + " listed rows" : "";
    by("ambiguous-note").textContent = "The rows with the largest sets of " + short(score) + " at alpha " + data.alpha + ". Rows are counted from 0. The true label has a thick border in the set; where the set misses it, it is red in its own column.";
    document.querySelector("#ambiguous tbody").replaceChildren(...rows.map((row) => {
      const size = row.sizes[state.level], kept = row.labels.filter(([, p]) => p > alpha);
      const line = cells([...(named ? [row.id] : []), row.row, row.label < 0 ? "absent" : nameOf(row, row.label), size], AMBIGUOUS.map(([, number]) => number)), cell = make("td");
      for (const [column] of kept) cell.append(make("span", nameOf(row, column), column === row.label ? "chip true" : "chip"));
      if (size > kept.length) cell.append(make("span", "and " + (size - kept.length) + " more", "faint"));
      if (!size) cell.append(make("span", "empty: no label reached the threshold", "faint"));
      if (size === kept.length && !kept.some(([column]) => column === row.label)) line.children[named ? 2 : 1].className = "missed";
      line.append(cell);
      return line;
    }));
  }
  function expected(score) {
    if (!score.band) return [];
    const at = state.level, [low, high] = score.band[at], seen = metric(score, "coverage");
    const where = seen < low ? "coverage is BELOW it" : seen > high && !score.tied[at] ? "coverage is above it" : "coverage is inside";
    return [["expected coverage", score.tied[at] ? "at least " + fixed(low) : fixed(low) + " to " + fixed(high), "range that sampling variation alone gives in " + percent(data.confidence) + " of calibrations; " + where]];
  }
  function sure(score) {
    if (!score.sure) return [];
    const at = state.level;
    return [["size with confidence " + score.sure.confidence, fixed(score.sure.size[at]), "mean size of the sets whose promise holds for this calibration with probability " + percent(score.sure.confidence) + ", not only on average over calibrations; they cover " + percent(score.sure.coverage[at]) + " of these rows"]];
  }
  const BIG = ["coverage", "size"];
  function facts(score, alpha) {
    const at = state.level, hits = metric(score, "coverage"), width = metric(score, "size"), macro = score.guarantee.about === "classes";
    tiles(by("facts"), [["coverage", shown(hits), (macro ? "not promised: the promise is about macro coverage" : "target " + asked(alpha)) + "; " + percent(data.confidence) + " interval " + score.interval[at].map((v) => fixed(v)).join(" to ")], ["size", shown(width), "mean number of labels in a set, of " + many(data.classes.length)]]);
    const tile = (one) => { const value = metric(score, one.name); return [one.name, shown(value), value === null ? one.undefined : one.explanation + (score.ranges[one.name] ? "; " + intervalOf(score, one.name) : "")]; };
    by("details").replaceChildren(...sections.flatMap(([title, some], place) => [make("h3", title), tiles(make("dl"), [...(place ? [] : [...expected(score), ...sure(score)]), ...some.filter((one) => !BIG.includes(one.name)).map(tile)])]));
    by("headline").textContent = short(score) + " at alpha = " + alpha + ": " + percent(hits) + " of " + many(data.rows) + " rows covered" + (macro ? "" : " (target " + askedPercent(alpha) + ")") + ", " + fixed(width, 2) + " labels on average, calibrated on " + many(score.guarantee.rows) + " rows.";
  }
  function lookOf(look) {
    if (!look) return [];
    const p = " (p = " + (look.p < 0.0001 ? "less than 0.0001" : look.p.toPrecision(2)) + ", " + many(look.rows) + " rows)";
    return [look.looks ? "Nothing speaks against test rows like the calibration rows" + p + "." : "These rows do not look exchangeable with the calibration rows" + p + ": what is proven is about rows like the calibration rows. Calibrate on rows like these."];
  }
  function words(score, alpha) {
    const own = score.guarantee, needed = data.needed[state.level], enough = own.smallest >= needed, apart = own.about === "groups", has = apart ? "The smallest of " + own.groups + " groups" : "The calibration set";
    const where = apart ? ", within every group of the condition (" + own.condition + ")" : own.about === "classes" ? ", on average over classes, rare and frequent ones alike" : "";
    const proven = score.proven[state.level];
    const absent = data.absent, unattained = own.absent && alpha < own.least;
    const told = [unattained ? "The true label is not among the candidates in " + many(own.absent) + " of " + many(own.rows) + " calibration rows, and no set can contain it there. So a coverage of " + askedPercent(alpha) + " cannot be attained" + (apart ? " in every group" : "") + ": alpha must be at least " + fixed(own.least) + ". Sets hold every candidate."
      : proven === null && own.absent ? "Over the draw of calibration rows and of a new row, the set contains the true label with probability at least " + askedPercent(alpha) + where + ", if the true label is never absent from more rows than this allows. If more labels are absent, sets miss as many, and no set could miss fewer. At calibration " + many(own.absent) + " of " + many(own.rows) + " labels were absent."
      : proven === null ? "Over the draw of calibration rows and of a new row, the set contains the true label with probability at least " + askedPercent(alpha) + where + ". It holds for every model and every number of rows."
      : proven > 0 ? "These sets come from several models, one for each fold. Usually they contain the true label with probability of about " + askedPercent(alpha) + where + ". The proven probability is at least " + percent(Math.floor(1000 * proven) / 1000) + "."
      : "For these sets nothing is proven at this level. Usually they contain the true label with probability of about " + askedPercent(alpha) + where + ".",
      ...(absent && absent.rows ? ["The true label is not among the candidates in " + many(absent.rows) + " of " + many(data.rows) + " test rows; they count as missed, and belong to no class."] : []),
      own.weighted ? "It is void if the weights are not right, or if the model, the score or its parameters have seen the calibration rows." : "It is void if new rows come from another source than the calibration rows, or if the model, the score or its parameters have seen those rows.",
      ...lookOf(score.exchangeable),
      (apart ? "It is an average over the rows of a group, and says" : "It is an average over " + own.about + ": single classes or groups may be covered less, and it says") + " nothing about one particular row. A small set does not mean that the model is right.",
      ...(own.shared && proven !== 0 ? ["Groups share calibration rows (" + own.condition + "): " + own.shared + "."] : []),
      ...(own.effective ? ["With their weights, the calibration rows count as " + many(own.effective) + " rows of equal weight" + (own.weighted && proven !== 0 ? "; " + own.weighted : "") + "."] : []),
      ...(own.weighted ? [] : [enough ? has + " has " + many(own.smallest) + " rows; this level needs at least " + many(needed) + "." : has + " is too small for this level: it needs " + many(needed) + " rows and has " + many(own.smallest) + ", so every label is kept" + (apart ? " there." : ".")])];
    by("words").replaceChildren(...told.map((text) => make("p", text)));
  }
  function picturesOfSets() {
    if (!window.Plotly) return;
    const score = data.scores[state.score], alpha = data.alphas[state.level];
    coverage(score, alpha); size(); histogram(score); ranks();
  }
  function pictures() { picturesOfSets(); automaticPicture(); }
  function show() {
    const score = data.scores[state.score], alpha = data.alphas[state.level];
    by("alpha-value").textContent = alpha;
    by("alpha").setAttribute("aria-valuetext", "alpha " + alpha);
    facts(score, alpha); scores(); groups(score); classes(score); ambiguous(score, alpha); words(score, alpha); picturesOfSets();
  }
  by("find-what").textContent = named ? "an id or a true label" : "a row or a true label";
  by("find").oninput = soon;
  startAutomatic();
  start(show, pictures);
