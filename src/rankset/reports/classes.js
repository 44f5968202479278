  const CLASSES = data.own_names ? "positions" : "classes";
  const COLUMNS = [["name", data.own_names ? "position" : "class"], ["rows", "rows", many], ["coverage", "coverage", fixed], ["interval", percent(data.confidence) + " interval"], ["size", "mean size", (value) => fixed(value, 3)]];

  if (data.scores.some((one) => one.pooled)) COLUMNS.splice(3, 0, ["pooled", "with Pooled", (value) => (value === null ? "" : fixed(value))]);
  const INTERVAL = COLUMNS.findIndex(([key]) => key === "interval");
  const ENOUGH_FOR_EACH = 100;  // calibration rows of every class, from which on PerLabel does as well as Pooled
  const logFactorials = [0];
  function logFactorial(n) {
    while (logFactorials.length <= n) logFactorials.push(logFactorials.at(-1) + Math.log(logFactorials.length));
    return logFactorials[n];
  }
  function atMost(hits, n, p) {  // the probability of at most so many covered rows, for p > hits / n: terms get smaller
    let term = Math.exp(logFactorial(n) - logFactorial(hits) - logFactorial(n - hits) + hits * Math.log(p) + (n - hits) * Math.log1p(-p)), sum = term;
    for (let i = hits; i > 0 && term > 1e-17 * sum; i--) { term *= (i * (1 - p)) / ((n - i + 1) * p); sum += term; }
    return sum;
  }
  function upperLimit(hits, n) {
    if (hits === n) return 1;
    let low = hits / n, high = 1;
    for (let step = 0; step < 50; step++) {
      const middle = (low + high) / 2;
      if (atMost(hits, n, middle) > (1 - data.confidence) / 2) low = middle; else high = middle;
    }
    return high;
  }
  const known = new Map();
  function exactInterval(hits, n) {  // Clopper-Pearson, as in Python
    const key = hits + "/" + n;
    if (!known.has(key)) known.set(key, [1 - upperLimit(n - hits, n), upperLimit(hits, n)]);
    return known.get(key);
  }

  const intervalOf = (score, name) => { const [low, high] = score.ranges[name][state.level]; return low === null ? "" : percent(data.confidence) + " interval " + fixed(low) + " to " + fixed(high); };
  function classFacts(score, alpha) {
    const far = Number((1 - alpha - 0.1).toPrecision(12));
    const told = { "macro coverage": (score.guarantee.about === "classes" ? "target " + asked(alpha) + "; " : "") + "mean of the coverage of all " + CLASSES, "RMS class gap": "typical gap to " + asked(alpha) + ", less what chance adds", "classes far below": "share of " + CLASSES + " below " + far, "classes below 50%": "share of " + CLASSES + " below 0.5" };
    tiles(by("class-facts"), Object.entries(told).map(([name, words]) => {
      const value = metric(score, name), more = score.ranges[name] && value !== null ? "; " + intervalOf(score, name) : "";
      return [name, shown(value), value === null ? data.metrics.find((one) => one.name === name).undefined : words + more];
    }));
  }
  function marksInWords(score, alpha, marked, count) {
    const share = percent((1 - data.confidence) / 2), sure = percent((1 + data.confidence) / 2), least = score.surely_below[state.level];
    if (!marked) return "No " + (data.own_names ? "position" : "class") + " is marked: the " + percent(data.confidence) + " interval of each reaches " + asked(alpha) + ".";
    return many(marked) + " of " + many(count) + " " + CLASSES + " are marked “below”: their " + percent(data.confidence) + " interval ends below " + asked(alpha) + ". Chance marks up to " + share + " of " + CLASSES + " that reach " + asked(alpha) + ". " + (least ? "With confidence " + sure + ", at least " + many(least) + " of all " + many(count) + " are below it." : "So it is not sure that any of them is below it.");
  }
  const PROVEN_OF_POOLED = "Proven with Pooled is the coverage of all rows together; that of each class is only approximate.";
  function pooledInWords(score) {  // what Pooled does on halves of these rows, if it was measured
    const pooled = score.pooled, gaps = pooled?.gap[state.level], sizes = pooled?.size[state.level];
    if (!gaps) return [];
    const changes = gaps.includes(null) ? "the mean size changes" : "the RMS class gap changes from " + fixed(gaps[0], 3) + " to " + fixed(gaps[1], 3) + ", and the mean size";
    const how = pooled.halves === 1 ? "a random half of these rows: rows of it calibrate, and the other half tests" : pooled.halves + " random halves of these rows: rows of one half calibrate, and the other half tests";
    return ["With condition=rs.Pooled(), classes borrow calibration rows from each other: " + changes + " from " + fixed(sizes[0], 2) + " to " + fixed(sizes[1], 2) + ". Both were measured on " + how + " (" + many(pooled.rows) + " rows calibrate" + (pooled.rows < score.guarantee.rows ? "; the rule has " + many(score.guarantee.rows) : "") + ")."];
  }
  function remedies(score, marked) {  // sentences about what would help marked classes; the place for more of them
    const measured = pooledInWords(score), own = score.guarantee, alone = own.groups === 1 && !own.shared && !data.own_names;
    if (!alone || !(marked || measured.length)) return [];
    const rarest = Math.round((own.rows * Math.min(...data.counts)) / data.rows);
    const here = "Judging by the test rows, the rarest class has about " + many(rarest) + " of the rule's calibration rows" + (rarest < ENOUGH_FOR_EACH ? "." : ", so PerLabel is the better choice.");
    const told = measured.length ? measured : ["condition=rs.Pooled() is for few calibration rows per class: classes borrow rows from each other."];
    return [...told, PROVEN_OF_POOLED + " If every class has about " + ENOUGH_FOR_EACH + " calibration rows or more, use condition=rs.PerLabel() instead: it promises the coverage of each class. At this alpha it needs at least " + many(data.needed[state.level]) + " of every class. " + here];
  }
  function classes(score) {
    const alpha = data.alphas[state.level], hits = score.class_hits[state.level];
    classFacts(score, alpha);
    if (data.own_names) {
      by("classes-title").textContent = "Positions";
      by("classes-note").textContent = "Candidates have names of their own in every row, so these are rows by the position of the true label among the candidates, counted from 0.";
    }
    if (!hits) { document.querySelector("#classes tbody").replaceChildren(); by("classes-words").replaceChildren(); by("classes-note").textContent = "There are too many classes to list."; return; }
    const rows = data.classes.map((name, k) => ({ name, rows: data.counts[k], hits: hits[k], size: score.class_size[state.level][k], pooled: score.pooled?.coverage[state.level]?.[k] ?? null })).filter((row) => row.rows);
    for (const row of rows) {
      const ends = exactInterval(row.hits, row.rows);
      Object.assign(row, { coverage: row.hits / row.rows, interval: ends.map((end) => fixed(end)).join(" to "), marked: ends[1] < asked(alpha) });
    }
    const marked = rows.filter((row) => row.marked).length;
    by("classes-words").replaceChildren(make("p", marksInWords(score, alpha, marked, rows.length)), ...remedies(score, marked).map((text) => make("p", text)));
    sortedTable("classes", COLUMNS, rows, () => classes(data.scores[state.score]));
    const lines = document.querySelectorAll("#classes tbody tr");
    rows.forEach((row, place) => {  // sorted like the lines
      if (!row.marked) return;
      lines[place].children[2].classList.add("missed");
      lines[place].children[INTERVAL].prepend(make("span", "below", "chip missed"), " ");
    });
  }
