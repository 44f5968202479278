// The simulation on the page "What the guarantee is, and is not". No libraries, no requests.
//
// A population of ROWS rows with K labels: every label has a random number, the true label has one that is larger by
// a signal. The signal makes the accuracy that was chosen. The score is RANK: the rank of the label, then its
// probability. Every calibration draws n rows, takes the k-th smallest score of their true labels as the threshold,
// and counts the new rows whose true label is kept. The same settings give the same picture: the draws have a seed.
(function () {
  "use strict";

  const K = 10;
  const ROWS = 40000;
  const SIZED = 2000; // rows whose sets are counted, for the mean size
  const CALIBRATIONS = 1000;
  const COUNTS = [5, 9, 10, 19, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000];
  const BINS = 40;

  function randomNumbers(seed) {
    // mulberry32: 32 bits of state, numbers in [0, 1)
    let state = seed >>> 0;
    return function () {
      state = (state + 0x6d2b79f5) >>> 0;
      let bits = Math.imul(state ^ (state >>> 15), state | 1);
      bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
      return ((bits ^ (bits >>> 14)) >>> 0) / 4294967296;
    };
  }

  const noise = (function () {
    const random = randomNumbers(1);
    const values = new Float64Array(ROWS * K);
    for (let i = 0; i < values.length; i += 2) {
      const radius = Math.sqrt(-2 * Math.log(1 - random()));
      const angle = 2 * Math.PI * random();
      values[i] = radius * Math.cos(angle);
      values[i + 1] = radius * Math.sin(angle);
    }
    return values;
  })();

  // What a signal must be so that the true label (column 0 of the noise) is the largest in this share of rows.
  const leads = (function () {
    const values = new Float64Array(ROWS);
    for (let row = 0; row < ROWS; row++) {
      let best = -Infinity;
      for (let j = 1; j < K; j++) best = Math.max(best, noise[row * K + j]);
      values[row] = best - noise[row * K];
    }
    return values.sort();
  })();
  const signalFor = (accuracy) => leads[Math.round(accuracy * ROWS) - 1] + 1e-9;

  // The score of a label, as one number that sorts like RANK: rank first, then the larger probability.
  function scoresOf(signal) {
    const own = new Float64Array(ROWS);
    const all = new Float64Array(SIZED * K);
    const weights = new Float64Array(K);
    for (let row = 0; row < ROWS; row++) {
      let total = 0;
      for (let j = 0; j < K; j++) {
        weights[j] = Math.exp(2 * (noise[row * K + j] + (j === 0 ? signal : 0)));
        total += weights[j];
      }
      for (let j = 0; j < (row < SIZED ? K : 1); j++) {
        let rank = 1;
        for (let other = 0; other < K; other++) if (weights[other] > weights[j]) rank += 1;
        const score = rank - weights[j] / total;
        if (j === 0) own[row] = score;
        if (row < SIZED) all[row * K + j] = score;
      }
    }
    return { own, sorted: own.slice().sort(), all: all.sort() };
  }

  const remembered = new Map();
  function population(signal) {
    if (!remembered.has(signal)) {
      if (remembered.size > 20) remembered.clear();
      remembered.set(signal, scoresOf(signal));
    }
    return remembered.get(signal);
  }

  function countUpTo(sorted, bound) {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle] <= bound) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // alpha comes in hundredths, so that the position is exact.
  const position = (n, hundredths) => n + 1 - Math.floor(((n + 1) * hundredths) / 100);

  function simulate(settings) {
    const { hundredths, n, accuracy, shift } = settings;
    const signal = signalFor(accuracy);
    const old = population(signal);
    const fresh = population(signal * (1 - shift));
    const random = randomNumbers(2);
    const k = position(n, hundredths);
    const coverages = new Float64Array(CALIBRATIONS);
    const drawn = new Float64Array(n);
    let size = 0;
    for (let i = 0; i < CALIBRATIONS; i++) {
      for (let j = 0; j < n; j++) drawn[j] = old.own[Math.floor(random() * ROWS)];
      drawn.sort();
      const threshold = k > n ? Infinity : drawn[k - 1];
      coverages[i] = countUpTo(fresh.sorted, threshold) / ROWS;
      size += countUpTo(fresh.all, threshold) / SIZED / CALIBRATIONS;
    }
    const mean = coverages.reduce((sum, value) => sum + value, 0) / CALIBRATIONS;
    const newAccuracy = countUpTo(fresh.sorted, 1) / ROWS;
    const band = k > n ? [1, 1] : [betaQuantile(0.05, k, n + 1 - k), betaQuantile(0.95, k, n + 1 - k)];
    const inside = coverages.reduce((sum, value) => sum + (value >= band[0] && value <= band[1]), 0) / CALIBRATIONS;
    return { coverages, mean, size, k, band, inside, newAccuracy };
  }

  // Quantiles of Beta(a, b) with whole a and b: P(X <= x) is a binomial tail of a + b - 1 draws.
  function betaBelow(x, a, b) {
    const n = a + b - 1;
    let term = 0; // log of C(n, a) x^a (1 - x)^(n - a)
    for (let i = 1; i <= a; i++) term += Math.log((n - a + i) / i);
    term += a * Math.log(x) + (n - a) * Math.log1p(-x);
    let sum = 0;
    for (let i = a; i <= n; i++) {
      sum += Math.exp(term);
      term += Math.log((n - i) / (i + 1)) + Math.log(x) - Math.log1p(-x);
    }
    return sum;
  }

  function betaQuantile(share, a, b) {
    let low = 0;
    let high = 1;
    for (let i = 0; i < 50; i++) {
      const middle = (low + high) / 2;
      if (betaBelow(middle, a, b) < share) low = middle;
      else high = middle;
    }
    return (low + high) / 2;
  }

  // The picture

  const STYLE = `
    .rs-sim { border: 1px solid var(--pst-color-border, #888); border-radius: 0.25rem; padding: 1rem; margin: 1rem 0; }
    .rs-sim .controls { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 15rem), 1fr)); gap: 0.75rem 1.5rem; }
    .rs-sim label { display: block; font-weight: 600; margin: 0; }
    .rs-sim .name { display: flex; justify-content: space-between; gap: 1rem; }
    .rs-sim output { font-variant-numeric: tabular-nums; white-space: nowrap; }
    .rs-sim input { width: 100%; margin: 0.25rem 0 0; accent-color: var(--pst-color-primary, #0a7d91); }
    .rs-sim button { margin-top: 0.75rem; padding: 0.25rem 0.75rem; border: 1px solid var(--pst-color-border, #888);
      border-radius: 0.25rem; background: transparent; color: var(--pst-color-text-base, currentColor); }
    .rs-sim input:focus-visible, .rs-sim button:focus-visible { outline: 2px solid var(--pst-color-primary, #0a7d91); outline-offset: 3px; }
    .rs-sim svg { display: block; width: 100%; height: auto; margin: 1rem 0 0.5rem; color: var(--pst-color-text-base, currentColor); }
    .rs-sim svg text { fill: var(--pst-color-text-base, currentColor); font-size: 13px; }
    .rs-sim .bar { fill: var(--pst-color-primary, #0a7d91); }
    .rs-sim .band { fill: var(--pst-color-text-muted, #777); fill-opacity: 0.22; }
    .rs-sim .axis { stroke: var(--pst-color-text-muted, #777); stroke-width: 1; }
    .rs-sim .target { stroke: var(--pst-color-text-base, currentColor); stroke-width: 2; stroke-dasharray: 6 4; }
    .rs-sim .mean { fill: var(--pst-color-text-base, currentColor); }
    .rs-sim .key { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; font-size: 0.85em; margin-bottom: 0.5rem; }
    .rs-sim .key svg { display: inline-block; width: 1.5rem; height: 1rem; margin: 0 0.35rem 0 0; vertical-align: -0.15rem; }
    .rs-sim p { margin: 0.25rem 0; }
    .rs-sim .broken { font-weight: 600; }
  `;

  const CONTROLS = [
    { id: "alpha", text: "alpha (error rate)", min: 1, max: 50, step: 1, start: 10, show: (v) => (v / 100).toFixed(2) },
    { id: "rows", text: "calibration rows", min: 0, max: COUNTS.length - 1, step: 1, start: 8, show: (v) => String(COUNTS[v]) },
    { id: "accuracy", text: "model accuracy", min: 15, max: 95, step: 5, start: 70, show: (v) => `${v}\u00a0%` },
    { id: "shift", text: "shift (harder rows)", min: 0, max: 100, step: 5, start: 0, show: (v) => `${v}\u00a0%` },
  ];

  function svg(name, attributes, text) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
    if (text !== undefined) node.textContent = text;
    return node;
  }

  function html(name, attributes, children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, String(value));
    node.append(...(children || []));
    return node;
  }

  function draw(picture, result, target, width) {
    const height = 250;
    const left = 12;
    const right = width - 12;
    const top = 24;
    const bottom = height - 50;
    const { coverages, band } = result;
    const lowest = Math.min(...coverages, band[0], target) - 0.005;
    const highest = Math.max(...coverages, band[1], target) + 0.005;
    const step = [0.01, 0.02, 0.05, 0.1, 0.2].find((one) => (highest - lowest) / one <= Math.max(4, width / 90)) || 0.25;
    const from = Math.max(0, Math.floor(lowest / step) * step);
    const to = Math.min(1, Math.ceil(highest / step) * step);
    const x = (value) => left + ((value - from) / (to - from)) * (right - left);
    const counts = new Array(BINS).fill(0);
    for (const value of coverages) counts[Math.min(BINS - 1, Math.floor(((value - from) / (to - from)) * BINS))] += 1;
    const y = (count) => bottom - (count / Math.max(...counts)) * (bottom - top);

    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    picture.replaceChildren();
    const bandLeft = x(band[0]);
    picture.append(svg("rect", { class: "band", x: bandLeft, y: top, width: Math.max(2, x(band[1]) - bandLeft), height: bottom - top }));
    const wide = (right - left) / BINS;
    counts.forEach((count, i) => {
      if (count) picture.append(svg("rect", { class: "bar", x: left + i * wide + 0.5, y: y(count), width: Math.max(1, wide - 1), height: bottom - y(count) }));
    });
    picture.append(svg("line", { class: "axis", x1: left, x2: right, y1: bottom, y2: bottom }));
    for (let i = 0; from + i * step <= to + 1e-9; i++) {
      const value = from + i * step;
      const end = value < from + 1e-9 ? "start" : value > to - 1e-9 ? "end" : "middle";
      const at = end === "start" ? x(value) - 8 : end === "end" ? x(value) + 8 : x(value);
      picture.append(svg("line", { class: "axis", x1: x(value), x2: x(value), y1: bottom, y2: bottom + 4 }));
      picture.append(svg("text", { x: at, y: bottom + 27, "text-anchor": end }, value.toFixed(2)));
    }
    picture.append(svg("text", { x: (left + right) / 2, y: height - 6, "text-anchor": "middle" }, "coverage of one calibration"));
    picture.append(svg("line", { class: "target", x1: x(target), x2: x(target), y1: top - 4, y2: bottom }));
    const side = x(target) > (left + right) / 2 ? "end" : "start";
    picture.append(svg("text", { x: x(target) + (side === "end" ? -6 : 6), y: top - 9, "text-anchor": side }, `1 − alpha = ${target.toFixed(2)}`));
    const m = x(result.mean);
    picture.append(svg("path", { class: "mean", d: `M${m},${bottom} l-7,12 h14 z` }));
  }

  function key() {
    const item = (text, ...shapes) => {
      const small = svg("svg", { viewBox: "0 0 24 16", "aria-hidden": "true" });
      small.append(...shapes);
      return html("span", {}, [small, text]);
    };
    return html("div", { class: "key" }, [
      item("how many calibrations", svg("rect", { class: "bar", x: 4, y: 2, width: 16, height: 12 })),
      item("1 − alpha", svg("line", { class: "target", x1: 12, x2: 12, y1: 0, y2: 16 })),
      item("mean coverage", svg("path", { class: "mean", d: "M12,2 l-7,12 h14 z" })),
      item("90 % band of the exact law", svg("rect", { class: "band", x: 0, y: 0, width: 24, height: 16 })),
    ]);
  }

  function start(box) {
    document.head.append(html("style", {}, [STYLE]));
    box.classList.add("rs-sim");
    const inputs = {};
    const shown = {};
    const controls = html("div", { class: "controls" });
    for (const one of CONTROLS) {
      const id = `rs-sim-${one.id}`;
      inputs[one.id] = html("input", { type: "range", id, min: one.min, max: one.max, step: one.step, value: one.start });
      shown[one.id] = html("output", { for: id });
      const name = html("span", { class: "name" }, [html("span", {}, [one.text]), shown[one.id]]);
      controls.append(html("div", {}, [html("label", { for: id }, [name]), inputs[one.id]]));
    }
    const reset = html("button", { type: "button" }, ["Reset"]);
    const picture = svg("svg", { role: "img", "aria-label": "Histogram of coverage; the text below has its numbers" });
    const words = html("div", { "aria-live": "polite", id: "rs-sim-words" });
    box.replaceChildren(controls, reset, picture, key(), words);

    function show() {
      for (const one of CONTROLS) {
        shown[one.id].textContent = one.show(Number(inputs[one.id].value));
        inputs[one.id].setAttribute("aria-valuetext", shown[one.id].textContent);
      }
      const settings = {
        hundredths: Number(inputs.alpha.value),
        n: COUNTS[Number(inputs.rows.value)],
        accuracy: Number(inputs.accuracy.value) / 100,
        shift: Number(inputs.shift.value) / 100,
      };
      const result = simulate(settings);
      const target = 1 - settings.hundredths / 100;
      draw(picture, result, target, Math.max(280, Math.min(760, box.clientWidth - 32)));
      const lines = [];
      if (result.k > settings.n) {
        lines.push(`${settings.n} rows are too few for alpha ${(settings.hundredths / 100).toFixed(2)}: every set contains all ${K} labels, so coverage is 1.`);
      } else {
        lines.push(
          `Mean coverage over ${CALIBRATIONS.toLocaleString("en")} calibrations: ${result.mean.toFixed(4)}. ` +
            `The exact mean without shift is k/(n + 1) = ${result.k}/${settings.n + 1} = ${(result.k / (settings.n + 1)).toFixed(4)}.`,
          `90\u00a0% band of the exact law, Beta(${result.k}, ${settings.n + 1 - result.k}): ${result.band[0].toFixed(4)} to ${result.band[1].toFixed(4)}. ` +
            `${(100 * result.inside).toFixed(1)}\u00a0% of the calibrations are inside.`,
          `Mean size of a set: ${result.size.toFixed(2)} of ${K} labels.`
        );
      }
      words.replaceChildren(...lines.map((line) => html("p", {}, [line])));
      if (settings.shift > 0) {
        const now = `The assumption is broken: on new rows the model is right in ${(100 * result.newAccuracy).toFixed(0)}\u00a0%, not ${(100 * settings.accuracy).toFixed(0)}\u00a0%. Nothing is promised here.`;
        words.append(html("p", { class: "broken" }, [now]));
      }
      box.dataset.mean = result.mean.toFixed(6);
    }

    let waiting = 0;
    const later = () => {
      cancelAnimationFrame(waiting);
      waiting = requestAnimationFrame(show);
    };
    for (const input of Object.values(inputs)) input.addEventListener("input", later);
    reset.addEventListener("click", () => {
      for (const one of CONTROLS) inputs[one.id].value = one.start;
      later();
    });
    window.addEventListener("resize", later);
    show();
  }

  const box = document.getElementById("simulation");
  if (box) start(box);
})();
