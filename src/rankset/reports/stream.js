  const { alarms, blocks } = data, count = blocks.row.length, raised = alarms.filter((one) => one.raised);
  const WATCHED = { labels: "the scores of true labels, in the order in which labels come", outputs: "the largest probability of each row; no labels are needed", coverage: "how often sets miss the true label" };
  const exact = (value) => Number(value.toPrecision(12)), target = asked(data.alpha), sum = (values) => values.reduce((a, b) => a + b, 0);
  const several = (number, one, more = one + "s") => many(number) + " " + (number === 1 ? one : more);
  const usualRows = () => blocks.rows.filter((rows) => rows).sort((a, b) => a - b).at(Math.floor(blocks.rows.filter((rows) => rows).length / 2));
  function powers(value, superscript = (power) => "10^" + power) {  // evidence, from its logarithm to base 10
    return Math.abs(value) < 4 ? many(Number((10 ** value).toPrecision(3))) : superscript(fixed(value, 1));
  }

  function headline() {
    const missed = data.labels ? "Of " + several(data.labels, "label") + ", " + percent(data.miss_rate) + " were missed; " + percent(data.alpha) + " are allowed." : data.rows ? several(data.rows, "row") + ", and no labels yet." : "No rows yet.";
    return missed + " " + (raised.length ? "Alarm: " + raised.map((one) => one.name).join(", ") + "." : "No alarm.");
  }
  function possible() {  // miss rates that the bound allows, rounded to the outside
    const low = Math.max(0, data.alpha - data.bound), high = Math.min(1, data.alpha + data.bound);
    return [Math.floor(1e4 * low + 1e-6) / 1e4, Math.ceil(1e4 * high - 1e-6) / 1e4];
  }
  const useless = data.bound !== null && data.bound >= Math.max(data.alpha, 1 - data.alpha);  // it allows every miss rate
  function boundInWords() {
    if (!data.bounded) return "With " + data.method + " there is no bound for every sequence of rows: if rows change, nothing is proven about the miss rate.";
    if (data.bound === null) return "There are no labels yet. From the first one on, there is a bound for the miss rate that holds for every sequence of rows.";
    const [low, high] = possible(), said = "Whatever rows come, the miss rate over these " + several(data.labels, "label") + " is at most " + data.bound.toPrecision(3) + " away from alpha";
    if (low > 0 && high < 1) return said + ": between " + fixed(low) + " and " + fixed(high) + ". This is proven for every sequence of rows, also if they drift.";
    if (useless) return said + ". This is still more than it can be at all: the bound says nothing before more labels come.";
    return said + ": " + (low === 0 ? "at most " + fixed(high) : "at least " + fixed(low)) + ". This is proven for every sequence of rows, and becomes narrower with more labels.";
  }
  function facts() {
    const nothing = "–", waiting = several(data.waiting, "row") + (data.waiting === 1 ? " waits" : " wait");
    tiles(by("facts"), [
      ["miss rate", data.labels ? fixed(data.miss_rate) : nothing, data.labels ? many(data.misses) + " of " + several(data.labels, "label") + " were not in the set; allowed is " + data.alpha : "no labels yet; allowed is " + data.alpha],
      ["possible miss rate", data.bound === null || useless ? nothing : possible().map((end) => fixed(end)).join(" to "), data.bound === null ? (data.bounded ? "known from the first label on" : "no bound with " + data.method) : useless ? "the bound needs more labels" : "for every sequence of rows"],
      ["mean set size", data.size === null ? nothing : fixed(data.size, 3), "labels, of " + several(data.classes, "class", "classes")],
      ["rows", many(data.rows), several(data.labels, "label") + " came, " + waiting],
    ]);
    by("bound-words").textContent = boundInWords();
    const every = data.level <= 0 ? ": it has every label" : data.level >= 1 ? ": it has no label" : "";
    tiles(by("measures"), [
      ["level now", fixed(data.level), "the alpha of the next set" + every + "; it started at " + data.alpha],
      ["window", several(data.window, "row"), data.most_window === null ? "all labelled rows calibrate" : "the last labelled rows calibrate, at most " + many(data.most_window)],
      ["delay", several(data.delay, "row"), "the most that came between a row and its label"],
      ["score", data.scores[0].label, data.condition ? "thresholds " + data.condition : "one threshold for all rows"],
      ["level by", data.method, data.bounded ? "it has a bound for every sequence" : "it has no bound"],
      ...(data.dropped ? [["dropped", several(data.dropped, "row"), "without a label, because more than " + many(data.most_waiting) + " waited"]] : []),
    ]);
  }

  function alarmCard(one) {
    const card = make("div", undefined, one.raised ? "alarm raised" : "alarm"), title = make("h3", one.name), say = (text, name) => card.append(make("p", text, name));
    title.append(make("span", one.raised ? "ALARM" : "no alarm", "chip"));
    card.append(title);
    say("Watches " + WATCHED[one.name] + (one.name === "coverage" ? "; allowed is " + exact(data.alpha + data.tolerance) + " (alpha + tolerance)." : "."), "faint");
    if (!one.raised) {
      say(one.rows ? several(one.rows, one.name === "outputs" ? "row" : "label") + " seen. Largest evidence so far: " + powers(one.highest) + "; the alarm is raised at " + many(exact(1 / one.delta)) + "." : "It has seen nothing yet.");
      return card;
    }
    say("Raised at row " + many(one.at) + ", since about row " + many(one.since) + ": " + one.seen + ".");
    say((one.name === "coverage" ? "If sets missed no more than allowed" : "If nothing had changed") + ", the chance of so much evidence would be at most " + one.chance + ".");
    say("What to do: " + one.advice);
    return card;
  }
  function alarmCards() {
    by("alarms-title").textContent = raised.length ? "Alarms: " + raised.length + " of 3 raised" : "Alarms: none raised";
    by("alarms-note").textContent = "Rows are counted from 0. " + (data.restarted === null ? "A raised alarm stays raised." : "The alarms were started anew after " + several(data.restarted, "row") + "; they compare later rows with each other.");
    by("alarms").replaceChildren(...alarms.map(alarmCard));
  }

  const EVIDENCE = ["labels", "outputs", "coverage"], absent = (value, written = fixed) => (value === null ? "–" : written(value));
  const COLUMNS = [["rows up to", blocks.row, many], ["rows", blocks.rows, many], ["labels", blocks.labels, many], ["missed", blocks.misses, many], ["covered", blocks.coverage, fixed], ["band from", blocks.low, fixed], ["band to", blocks.high, fixed],
    ["covered so far", blocks.running, fixed], ["mean size", blocks.size, (value) => fixed(value, 3)], ["level", blocks.level, fixed], ...EVIDENCE.map((name) => ["log10 evidence: " + name, blocks.evidence[name], (value) => fixed(value, 2)])];
  function table() {
    by("blocks-summary").textContent = "Table of " + several(count, "block") + " of rows";
    by("blocks-note").textContent = "one line per block";
    document.querySelector("#blocks thead tr").replaceChildren(...COLUMNS.map(([name]) => heading(name, 1)));
    document.querySelector("#blocks tbody").replaceChildren(...blocks.row.map((_, at) => cells(COLUMNS.map(([, values, written]) => absent(values[at], written)), COLUMNS.map(() => true))));
    by("download").onclick = () => saveLines([COLUMNS.map(([name]) => quoted(name)).join(","), ...blocks.row.map((_, at) => COLUMNS.map(([, values]) => values[at] ?? "").join(","))], "rankset-stream.csv");
  }

  function proven() {
    if (!data.bounded) return ["With " + data.method + " nothing is proven about the miss rate if rows change. Adaptive() and Decaying() have a bound for every sequence of rows."];
    if (data.bound === null || useless) return ["Proven from the first label on: a bound for the distance between the miss rate and alpha, for every sequence of rows." + (useless ? " With so few labels, or labels that come so late, it allows every miss rate." : "")];
    return ["Proven: the miss rate over all " + several(data.labels, "label") + " is at most " + data.bound.toPrecision(3) + " away from alpha, for every sequence of rows, also if they drift or are chosen by somebody. It is no statement about chance. The more labels come, the smaller is this distance; labels that come late make it larger."];
  }
  function words() {
    const delta = alarms[2].delta, both = exact(alarms[0].delta + alarms[1].delta);
    by("words").replaceChildren(...[
      ...proven(),
      "Not proven: coverage in a short period, of a class, of a group, of a single row, or of rows whose labels do not come." + (data.waiting ? " " + several(data.waiting, "row") + (data.waiting === 1 ? " is" : " are") + " without a label now, and not counted." : ""),
      "Proven for alarms: if rows are exchangeable with each other and with the calibration rows (nothing changes, and their order says nothing), the probability that the alarm about labels or that about outputs is ever raised is at most " + both + ", however long the stream is. If every set misses its label with probability at most alpha + tolerance, the probability that the alarm about coverage is ever raised is at most " + delta + ".",
      "An alarm says that rows are not like earlier ones, not why. Rows that resemble their neighbours in time, such as the hours of a day, raise it too. “Since” is an estimate. No alarm does not mean that nothing has changed.",
    ].map((text) => make("p", text)));
  }
