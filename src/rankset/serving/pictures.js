  const SVG = "http://www.w3.org/2000/svg", HEIGHT = 210, EDGE = { top: 10, right: 12, bottom: 34, left: 52 };
  function shape(tag, attributes, text) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
  }
  function steps(low, high, count, least = 0) {  // round numbers between two numbers
    const rough = Math.max(least, (high - low) / count), power = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].find((one) => one * power >= rough) * power;
    const found = [];
    for (let place = Math.ceil(low / step - 1e-9); place * step <= high + 1e-9 * step; place++) found.push(Number((place * step).toPrecision(12)));
    return found;
  }
  function range(series, least) {  // of all numbers, with some room; at least as wide as least
    const values = series.flat().filter((value) => value !== null), low = Math.min(...values, least[0]), high = Math.max(...values, least[1]), room = 0.04 * (high - low);
    return [low === least[0] && least[2] ? low : low - room, high === least[1] && least[3] ? high : high + room];
  }
  function runs(xs, values, changes) {  // neighbours that all have a value, between changes
    const found = [[]];
    values.forEach((value, place) => {
      if (value === null || changes.some((at) => place > 0 && xs[place - 1] <= at && at < xs[place])) found.push([]);
      if (value !== null) found.at(-1).push([xs[place], value]);
    });
    return found.filter((run) => run.length);
  }
  function axes(svg, scale, wide, told, axis, step) {
    for (const value of steps(...scale.y, 6, step)) {
      svg.append(shape("line", { x1: EDGE.left, x2: wide - EDGE.right, y1: scale.atY(value), y2: scale.atY(value), class: "grid" }));
      svg.append(shape("text", { x: EDGE.left - 6, y: scale.atY(value) + 4, "text-anchor": "end" }, told(value)));
    }
    for (const value of steps(...scale.x, Math.max(2, Math.floor(wide / 110)), 1)) {
      const at = scale.atX(value), nearEnd = at + 4 * many(value).length > wide;  // half of its width, at 12 pixels
      svg.append(shape("text", { x: nearEnd ? wide - 1 : at, y: HEIGHT - 16, "text-anchor": nearEnd ? "end" : "middle" }, many(value)));
    }
    svg.append(shape("text", { x: (EDGE.left + wide - EDGE.right) / 2, y: HEIGHT - 2, "text-anchor": "middle", class: "title" }, axis));
  }
  function curve(svg, scale, xs, values, name, changes) {
    for (const run of runs(xs, values, changes)) {
      const points = run.map(([x, y]) => scale.atX(x).toFixed(1) + "," + scale.atY(y).toFixed(1));
      if (run.length === 1) svg.append(shape("circle", { cx: scale.atX(run[0][0]), cy: scale.atY(run[0][1]), r: 3, class: name + " dot" }));
      else svg.append(shape("polyline", { points: points.join(" "), class: name + " line" }));
    }
  }
  function between(svg, scale, xs, low, high, changes) {
    for (const run of runs(xs, low.map((value, place) => (value === null ? null : place)), changes)) {
      const places = run.map(([, place]) => place);
      if (places.length === 1) { svg.append(shape("line", { x1: scale.atX(xs[places[0]]), x2: scale.atX(xs[places[0]]), y1: scale.atY(low[places[0]]), y2: scale.atY(high[places[0]]), class: "band-line" })); continue; }
      const around = [...places.map((place) => [xs[place], high[place]]), ...places.reverse().map((place) => [xs[place], low[place]])];
      svg.append(shape("polygon", { points: around.map(([x, y]) => scale.atX(x).toFixed(1) + "," + scale.atY(y).toFixed(1)).join(" "), class: "band" }));
    }
  }
  function keyed(id, entries) {  // what lines mean: [class, text]
    if (by(id).textContent === entries.map(([, text]) => text).join("")) return;
    by(id).replaceChildren(...entries.map(([name, text]) => {
      const entry = make("li"), svg = shape("svg", { width: 26, height: 10, "aria-hidden": "true" });
      svg.append(shape("line", { class: name, x2: 26, y1: 5, y2: 5 }));
      entry.append(svg, text);
      return entry;
    }));
  }
  function picture(id, { xs, curves, band, levels = [], changes = [], least, step, told, words, reading, axis }) {  // curves: [name, values, class]; levels: [value, class]; changes: places of the axis
    const box = by(id), wide = Math.max(240, box.clientWidth), svg = shape("svg", { viewBox: `0 0 ${wide} ${HEIGHT}`, width: wide, height: HEIGHT, "aria-hidden": "true" });
    const x = [0, Math.max(...xs, 1)], y = range([...curves.map(([, values]) => values), ...(band ?? []), levels.map(([value]) => value)], least);
    const scale = { x, y, atX: (value) => EDGE.left + ((value - x[0]) / (x[1] - x[0])) * (wide - EDGE.left - EDGE.right), atY: (value) => HEIGHT - EDGE.bottom - ((value - y[0]) / (y[1] - y[0])) * (HEIGHT - EDGE.top - EDGE.bottom) };
    axes(svg, scale, wide, told, axis, step);
    if (band) between(svg, scale, xs, ...band, changes);
    for (const at of changes) svg.append(shape("line", { x1: scale.atX(at), x2: scale.atX(at), y1: EDGE.top, y2: HEIGHT - EDGE.bottom, class: "change" }));
    for (const [value, name] of levels) svg.append(shape("line", { x1: EDGE.left, x2: wide - EDGE.right, y1: scale.atY(value), y2: scale.atY(value), class: name }));
    for (const [, values, name] of curves) curve(svg, scale, xs, values, name, changes);
    const mark = shape("line", { y1: EDGE.top, y2: HEIGHT - EDGE.bottom, class: "mark", visibility: "hidden" });
    svg.append(mark);
    const old = box.querySelector("svg");
    if (old) old.replaceWith(svg); else box.prepend(svg);
    box.setAttribute("aria-label", words);
    pointing(box, svg, mark, xs, scale, wide, reading);
  }
  function pointing(box, svg, mark, xs, scale, wide, reading) {  // the block below the pointer, or chosen by arrow keys, is read out
    let said = box.querySelector(".reading");
    if (!said) {
      said = make("p", undefined, "reading faint");
      said.setAttribute("aria-live", "polite");
      box.append(said);
      box.tabIndex = 0;
      box.setAttribute("role", "group");
    }
    const show = (place) => {
      box.place = place;
      mark.setAttribute("visibility", place === null ? "hidden" : "visible");
      if (place !== null) { mark.setAttribute("x1", scale.atX(xs[place])); mark.setAttribute("x2", scale.atX(xs[place])); }
      const text = place === null ? "Point at a block, tap it, or choose it with arrow keys, to read its numbers." : reading(place);
      if (said.textContent !== text) said.textContent = text;
    };
    const nearest = (event) => {
      const at = ((event.clientX - svg.getBoundingClientRect().left) / svg.getBoundingClientRect().width) * wide;
      return xs.reduce((best, value, place) => (Math.abs(scale.atX(value) - at) < Math.abs(scale.atX(xs[best]) - at) ? place : best), 0);
    };
    svg.onpointermove = svg.onpointerdown = (event) => { if (xs.length) show(nearest(event)); };
    svg.onpointerleave = (event) => { if (event.pointerType !== "touch") show(null); };  // a finger has left when it can be read
    box.onblur = () => show(null);
    box.onkeydown = (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
      if (step === undefined || !xs.length) return;
      event.preventDefault();
      show(Math.max(0, Math.min(xs.length - 1, (box.place ?? (step < 0 ? xs.length : -1)) + step)));
    };
    if (box.place !== undefined && box.place !== null && box.place < xs.length) show(box.place); else show(null);
  }
