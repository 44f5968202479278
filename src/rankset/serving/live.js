  const WATCHED = { labels: "the scores of true labels, in the order in which labels come", outputs: "the largest probability of each row; no labels are needed", coverage: "how often sets miss the true label" };
  const several = (number, one, more = one + "s") => many(number) + " " + (number === 1 ? one : more);
  const nothing = "–", powers = (value) => (Math.abs(value) < 4 ? many(Number((10 ** value).toPrecision(3))) : "10^" + fixed(value, 1));
  const MOST = 6, evidenceInWords = (value) => (value > MOST ? "more than a million" : value < -3 ? "less than 0.001" : many(Number((10 ** value).toPrecision(3))));
  const put = (id, text) => { if (by(id).textContent !== text) by(id).textContent = text; };
  const begun = (number, one) => (number ? several(number, one) + " so far, too few to draw" : "no " + one + "s");
  const none = (what) => "No " + what + (now.seen > now.rows ? " at alpha " + now.alpha : "") + " yet";
  const MOST_HEIGHT = 480;  // pixels of the table of classes
  const moment = (seconds) => new Date(1000 * seconds).toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
  let now = data, promised = "promised";  // or "asked", if nothing is proven

  function headline() {
    const raised = now.alarms.filter((one) => one.raised), of = now.before ? " since this rule is served" : "", others = now.seen > now.rows ? " (" + several(now.seen, "row") + " at other levels)" : "", missed = now.labels ? "Of " + several(now.labels, "label") + of + ", " + percent(now.misses / now.labels) + " were missed; " + percent(now.alpha) + " are allowed." : now.rows ? several(now.rows, "row") + of + (now.store ? ", and no labels yet." : ". Labels are not taken.") : none("rows") + of + others + ".", chance = now.misses > now.alpha * now.labels ? ": so far this can be chance." : ".";
    put("headline", missed + " " + (raised.length ? "Alarm: " + raised.map((one) => one.name).join(", ") + "." : "No alarm" + chance));
    document.title = (raised.length ? "ALARM: " + raised.map((one) => one.name).join(", ") + " - " : "") + (now.name ?? now.score) + " - rankset serve";
    put("troubles", now.troubles.join(" "));
    by("troubles").hidden = !now.troubles.length;
    promised = now.proven ? "promised" : "asked";
    put("promised", promised);
    put("promise", now.proven ? "Promise: " + now.proven + "." : "Nothing is proven about the sets of this rule.");
    put("about", (now.name ? now.name + ": " : "") + now.score + (now.condition ? ", thresholds " + now.condition : "") + ", " + several(now.n_classes, "class", "classes") + ", calibrated on " + several(now.n, "row") + ".");
  }
  function facts() {
    tiles(by("facts"), [
      ["coverage", now.labels ? fixed(1 - now.misses / now.labels, 3) : nothing, (now.labels ? many(now.labels - now.misses) + " of " + several(now.labels, "label") + " were in their sets; " : (now.store ? none("labels").toLowerCase() : "labels are not taken") + "; ") + promised + " is " + asked(now.alpha)],
      ["mean set size", now.size === null ? nothing : fixed(now.size, 3), "labels, of " + several(now.n_classes, "class", "classes")],
      ["rows", many(now.seen), (now.rows === now.seen ? "at alpha " + now.alpha : many(now.rows) + " of them at alpha " + now.alpha) + (now.before ? "; " + many(now.seen_before) + " before this rule" : "")],
      ["requests per second", fixed(now.per_second, 1), "in the last 10 seconds; " + many(now.requests) + " since the start"],
      ...(now.triage ? [["accepted by triage", now.decided ? percent(now.accepted / now.decided) : nothing, now.decided ? many(now.accepted) + " of " + several(now.decided, "row") : "no rows yet"]] : []),
      ...(now.checked ? [["accepted and wrong", percent(now.wrong / now.checked), many(now.wrong) + " of " + several(now.checked, "accepted row") + " with a label"]] : []),
    ]);
  }
  function alarmCard(one) {
    const card = make("div", undefined, one.raised ? "alarm raised" : "alarm"), title = make("h3", one.name), say = (text, name) => card.append(make("p", text, name));
    title.append(make("span", one.raised ? "ALARM" : "no alarm", "chip"));
    card.append(title);
    say("Watches " + WATCHED[one.name] + ".", "faint");
    if (one.raised) {
      say("Raised" + (one.time ? " on " + moment(one.time) : "") + " at row " + many(one.at) + (now.rows + now.before === now.seen + now.seen_before ? "" : " of all rows") + ", since about row " + many(one.since) + ": " + one.seen + ". " + (one.name === "coverage" ? "If sets missed no more than allowed" : "If nothing had changed") + ", the chance of so much evidence would be " + (one.highest > MOST ? "less than 1 in a million." : "at most " + one.chance + "."));
      say(one.advice);
    }
    if (!now.store && one.name !== "outputs") { say("Not watched: the server keeps no rows, so it takes no labels."); return card; }
    const part = Math.max(0, Math.min(1, one.evidence / one.limit)), bar = make("progress");
    bar.max = 1;
    bar.value = part;
    bar.setAttribute("aria-label", "Evidence of the alarm " + one.name);
    card.append(bar);
    say(one.rows ? "Evidence now " + evidenceInWords(one.evidence) + ", the largest so far " + evidenceInWords(one.highest) + "; the alarm is raised at " + powers(one.limit) + ". " + several(one.rows, one.name === "outputs" ? "row" : "label") + " seen." : "It has seen nothing yet.");
    return card;
  }
  let cards = "";
  function alarms() {
    const told = JSON.stringify(now.alarms);
    if (told !== cards) by("alarms").replaceChildren(...now.alarms.map(alarmCard));
    cards = told;
  }
  function pictures() {
    const { blocks } = now, xs = blocks.row, last = (values) => values.filter((value) => value !== null).at(-1), axis = "rows at alpha " + now.alpha, changes = now.before ? [now.before] : [], block = (place) => "Up to row " + many(xs[place]) + " at alpha " + now.alpha + ": ", when = (place) => ". It begins on " + moment(blocks.start[place]) + ".";
    for (const entry of document.querySelectorAll(".changed")) entry.hidden = !now.before;
    put("coverage-note", now.labels ? "Share of labels in their sets, block by block, and over all labels so far. In the band lie " + percent(now.confidence) + " of the blocks if each label is missed with probability " + now.alpha + ". The last block is drawn when it has half as many labels as the one before." : now.store ? none("labels") + ". They are sent to POST /feedback." : "The server keeps no rows, so it takes no labels.");
    const labelled = blocks.labels.some((count) => count);
    by("coverage").hidden = !labelled;
    if (labelled) picture("coverage", { xs, axis, changes, curves: [["so far", blocks.running, "second"], ["block", blocks.coverage, "first"]], band: [blocks.low, blocks.high], levels: [[asked(now.alpha), "level"]], least: [asked(now.alpha) - 0.05, 1, false, true], told: (value) => percent(value),
      words: "Coverage over time: in the last block " + percent(last(blocks.coverage)) + (now.labels ? ", over all labels " + percent(1 - now.misses / now.labels) : "") + ", " + promised + " " + askedPercent(now.alpha) + ". Arrow keys read single blocks.",
      reading: (place) => block(place) + (blocks.coverage[place] === null ? begun(blocks.labels[place], "label") : percent(blocks.coverage[place]) + " of " + several(blocks.labels[place], "label") + ", band " + percent(blocks.low[place]) + " to " + percent(blocks.high[place])) + when(place) });
    put("size-note", now.rows ? "Mean number of labels in a set, block by block." : none("rows") + ". They are sent to POST /predict.");
    by("size").hidden = by("evidence").hidden = !xs.length;
    put("evidence-note", xs.length ? "Each alarm is raised when its evidence reaches its limit. The scale is logarithmic." : none("rows") + ".");
    if (!xs.length) return;
    picture("size", { xs, axis, changes, curves: [["size", blocks.size, "first"]], least: [0, 1, true, false], told: (value) => String(value), words: "Mean set size over time: in the last block " + fixed(last(blocks.size) ?? 0, 2) + ". Arrow keys read single blocks.",
      reading: (place) => block(place) + (blocks.size[place] === null ? begun(blocks.rows[place], "row") : fixed(blocks.size[place], 2) + " labels, mean of " + several(blocks.rows[place], "row")) + when(place) });
    evidence(xs, axis, block, changes, when);
  }
  const watched = () => now.alarms.filter((one) => now.store || one.name === "outputs");  // without labels, there is one
  function limits() {  // one line for each different limit, with the alarms that it belongs to
    const different = [...new Set(watched().map((one) => one.limit))].sort((a, b) => b - a);
    return different.map((limit, place) => [limit, place ? "level other" : "level", "limit " + powers(limit) + ": " + watched().filter((one) => one.limit === limit).map((one) => one.name).join(", ")]);
  }
  function evidence(xs, axis, block, changes, when) {
    const { blocks } = now, names = watched().map((one) => one.name), curves = names.map((name) => [name, blocks.evidence[name], { labels: "first", outputs: "second", coverage: "third" }[name]]), levels = limits();
    keyed("evidence-key", [...curves.map(([name, , line]) => [line, name]), ...levels.map(([, line, text]) => [line, text])]);
    picture("evidence", { xs, axis, changes, curves, levels, least: [-0.5, 2, false, false], step: 1, told: (value) => (Math.abs(value) < 4 ? powers(value) : "10^" + value),
      words: "Evidence of the alarms over time: now " + watched().map((one) => one.name + " " + powers(one.evidence) + " (limit " + powers(one.limit) + ")").join(", ") + ". Arrow keys read single blocks.",
      reading: (place) => block(place) + (xs[place] > now.before ? names.map((name) => name + " " + powers(blocks.evidence[name][place])).join(", ") : "of an earlier rule") + when(place) });
  }
  function classes() {
    by("classes-section").hidden = !now.classes.length;
    put("classes-note", "Coverage of every class with labels, with an interval of " + percent(now.confidence) + (now.classes.length < now.n_classes ? "; " + many(now.classes.length) + " of " + several(now.n_classes, "class", "classes") : "") + ". " + (now.several ? "The thresholds of the rule are " + now.condition + ". " : "The rule has one threshold, which promises coverage over all rows, not of every class. ") + (now.before ? "Labels of rows before this rule are not counted." : ""));
    sortedTable("classes", [["name", "class"], ["coverage", "coverage", (value) => fixed(value, 3)], ["low", "at least", (value) => fixed(value, 3)], ["high", "at most", (value) => fixed(value, 3)], ["labels", "labels", many]], now.classes, classes);
    wholeRows(document.querySelector("#classes-section .scroll"));
  }
  function wholeRows(box) {  // the box ends after a whole row, and it is said that more rows follow
    const rows = [...box.querySelectorAll("tbody tr")], end = (row) => row.offsetTop + row.offsetHeight, inside = rows.filter((row) => end(row) <= MOST_HEIGHT);
    const all = inside.length === rows.length || !inside.length;
    box.style.maxHeight = all ? "none" : end(inside.at(-1)) + box.offsetHeight - box.clientHeight + "px";
    by("classes-more").hidden = all;
    put("classes-more", all ? "" : "The first " + several(inside.length, "row") + " of " + many(rows.length) + "; scroll in the table to see the others.");
  }
  function show() { headline(); facts(); alarms(); pictures(); classes(); }

  function listen() {
    const source = new EventSource("events"), again = (seconds) => { source.close(); setTimeout(listen, 1000 * seconds); };
    const tell = (text, lost) => { put("state", text); by("state").classList.toggle("lost", lost); };
    source.onopen = () => tell("Live.", false);
    source.addEventListener("numbers", (event) => { now = JSON.parse(event.data); soon(); });
    source.addEventListener("end", () => { tell("The server stops.", true); again(3); });
    source.onerror = async () => {
      tell("No connection to the server. These numbers are of " + new Date(1000 * now.time).toLocaleTimeString("en-GB") + ".", true);
      if (source.readyState !== EventSource.CLOSED) return;
      const answer = await fetch("rule").catch(() => null);
      if (answer && answer.status === 401) location.reload(); else again(5);
    };
    addEventListener("pagehide", () => source.close());
  }
  redraw = show;
  show();
  new ResizeObserver(soon).observe(document.body);
  listen();
