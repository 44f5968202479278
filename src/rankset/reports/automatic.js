  const auto = data.automatic, ORANGE = "#c8741f";
  const nowhere = auto && "batch" in auto.beyond && "stream" in auto.beyond;  // no error of the slider accepts a row

  function attainable(name) {  // the smallest error from here on at which a row is accepted
    const shares = auto[name], level = auto.errors.findIndex((_, at) => at > state.error && shares[at] > 0);
    const error = level < 0 ? auto.beyond[name] : auto.errors[level];
    return error ? "The smallest error at which rows are accepted is " + percent(error) + "." : "No error accepts rows.";
  }
  function saved(share) {
    const minutes = by("minutes").valueAsNumber;
    if (!(minutes >= 0)) return ["saved", "–", "minutes per row are missing"];
    return ["saved", many(Number(fixed(minutes * Math.round(share * auto.rows) / 60, 1))) + " h", "at " + many(minutes) + " min per row"];
  }
  function told(name, more, rows, needs) {
    const share = auto[name][state.error];
    if (!share) return [["accepted", "none", "Too few rows, or too many mistakes, for an error of " + percent(auto.errors[state.error]) + ": it needs at least " + needs + ". " + attainable(name)]];
    return [["accepted", percent(share), more], ["for a person", many(auto.rows - Math.round(share * auto.rows)), "of " + many(auto.rows) + rows], saved(share)];
  }
  function automatic() {
    const at = state.error, error = percent(auto.errors[at]), wrong = auto.wrong_in_stream[at];
    by("error-value").textContent = error;
    by("error").setAttribute("aria-valuetext", "allowed error " + error + ": " + percent(auto.batch[at]) + " accepted as a batch, " + percent(auto.stream[at]) + " by a gate");
    by("batch-promise").textContent = "Promise: the expected share of wrong answers among the accepted rows is at most " + error + ".";
    by("gate-promise").textContent = "Promise: with probability " + percent(auto.confidence) + ", the share of wrong answers among all accepted rows is at most " + error + ".";
    tiles(by("batch"), told("batch", many(Math.round(auto.batch[at] * auto.rows)) + " rows", " rows", many(Math.ceil(1 / auto.errors[at]) - 1) + " rows"));
    tiles(by("gate"), told("stream", "of the " + many(auto.tested) + " rows that tested it", " rows like these", many(auto.needed[at]) + " accepted rows without a mistake"));
    by("gate-words").textContent = auto.gates[at] ? "The gate " + auto.gates[at] + ". Of the rows that it accepted in its test, " + percent(wrong) + " were wrong." : "";
    code(auto.errors[at]);
    automaticPicture();
  }
  function code(error) {
    const kind = auto.kind === "probs" ? "" : ', kind="' + auto.kind + '"';
    by("automatic-code").textContent = ["triage = rs.triage(probs, labels" + kind + ")  # labelled rows", "done = triage.accept(new_probs, error=" + error + ")  # a batch: done.accepted, done.labels",
      "gate = triage.threshold(error=" + error + ", confidence=" + auto.confidence + ")  # a stream: gate.accepts(row)"].join("\n");
  }
  function automaticPicture() {
    if (!window.Plotly || !auto || nowhere) return;
    const line = (y, name, style) => ({ x: auto.errors, y, name, mode: "lines+markers", line: style, marker: { size: y.map((_, at) => (at === state.error ? 11 : 0)) }, hovertemplate: name + ": %{y:.1%} at an error of %{x:.1%}<extra></extra>" });
    draw("automatic", [line(auto.batch, "as a batch", { color: BLUE }), line(auto.stream, "by a gate", { color: ORANGE, dash: "dash" })],
      { xaxis: { title: { text: "allowed error" }, tickformat: ".0%" }, yaxis: { title: { text: "share of rows accepted" }, tickformat: ".0%", range: [-0.02, 1.04] }, shapes: marked(auto.errors[state.error]).shapes });
  }
  function startAutomatic() {
    by("automatic-section").hidden = !auto;
    if (!auto) return;
    state.error = auto.first;
    by("automatic-note").textContent = "From the " + many(auto.rows) + " test rows of this report. If all of their answers were accepted, " + percent(auto.wrong) + " would be wrong.";
    if (nowhere) {
      state.error = auto.errors.length - 1;
      for (const id of ["automatic-controls", "automatic"]) by(id).hidden = true;
    }
    by("error").max = auto.errors.length - 1;
    by("error").value = state.error;
    const again = oncePerFrame(automatic);
    by("error").oninput = () => { state.error = Number(by("error").value); again(); };
    by("minutes").oninput = again;
    automatic();
  }
