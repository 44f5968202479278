// Reads a .rankset file in JavaScript, in browsers and Node, and predicts: docs/reference/format.md is all it needs.
//   import { readRule } from "./read_rule.mjs";
//   const rule = readRule(await file.arrayBuffer());      // in Node: readRule(readFileSync("rule.rankset"))
//   rule.predict([0.7, 0.2, 0.1], "0.1")       // labels of the set, most likely first; a group is a third argument
// Scores Rank, Thr, TopK, Margin; conditions Marginal, PerLabel, PerGroup; one label per row. Others are refused.
// The digest of the file is not checked. Whole numbers above 2^53 as names of classes are rounded by JSON.

function known(what, value, values, names = values) {
  if (values.includes(value)) return value;
  throw new Error(`${what} ${JSON.stringify(value)} is not known here, only ${names.join(", ")}`);
}

function contents(data) {                       // the header of the rule, and its arrays as arrays of numbers
  const buffer = new Uint8Array(data).slice().buffer;
  const length = buffer.byteLength < 8 ? NaN : Number(new DataView(buffer).getBigUint64(0, true));
  if (!(8 + length <= buffer.byteLength)) throw new Error("this is no file of a rule, or it is cut off");
  const { __metadata__: about, ...places } = JSON.parse(new TextDecoder().decode(buffer.slice(8, 8 + length)));
  const arrays = {};
  for (const [name, { dtype, data_offsets: [start, end] }] of Object.entries(places)) {
    const bytes = buffer.slice(8 + length + start, 8 + length + end);
    if (bytes.byteLength !== end - start) throw new Error("the file of the rule is cut off");
    arrays[name] = known("the type", dtype, ["F64", "I64"]) === "F64"
      ? Array.from(new Float64Array(bytes)) : Array.from(new BigInt64Array(bytes), Number);
  }
  return [JSON.parse(about?.rankset ?? '{"what": "another file"}'), arrays];
}

function fraction(alpha) {                      // numerator and denominator of a decimal as it was typed: 0.1, 0,1, 10%
  const [, number, percent] = /^\s*(.*?)\s*(%?)\s*$/.exec(String(alpha)) ?? [];
  const typed = /^(\d*)[.,]?(\d*)(?:e([+-]?\d{1,3}))?$/i.exec(number ?? "");
  const places = typed ? typed[2].length - Number(typed[3] ?? 0) + 2 * percent.length : 0;
  const digits = typed ? BigInt((typed[1] + typed[2] || "0") + "0".repeat(Math.max(0, -places))) : 0n;
  const scale = 10n ** BigInt(Math.max(0, places));
  if (!(digits > 0n && digits < scale)) throw new Error(`alpha must lie between 0 and 1, got ${alpha}`);
  return [digits, scale];
}

const rint = (x) => x + 6755399441055744 - 6755399441055744; // to the nearest whole number, halves to even ones

function exp(x) {                               // of x <= 0, with the bits that rankset has on every machine
  const k = rint(Math.max(x, -1100) * 1.4426950408889634);
  const r = Math.max(x, -1100) - k * 0.69314718036912381649 - k * 1.90821492927058770002e-10;
  const q = r * r;
  let c = -691 / 653837184000;
  for (const t of [1 / 23950080, -1 / 604800, 1 / 15120, -1 / 360, 1 / 6]) c = c * q + t;
  c = c * q + 2 - r;
  return k < -1000 ? (2 * r / c + 1) * 2 ** -1000 * 2 ** (k + 1000) : (2 * r / c + 1) * 2 ** k;
}

function sum(x) {                               // in the order in which NumPy adds the entries of a row
  if (x.length < 8) return x.reduce((total, one) => total + one, 0);
  if (x.length > 128) {
    const half = Math.floor(x.length / 2) - (Math.floor(x.length / 2) % 8);
    return sum(x.slice(0, half)) + sum(x.slice(half));
  }
  const r = x.slice(0, 8), whole = x.length - (x.length % 8);
  for (let place = 8; place < whole; place++) r[place % 8] += x[place];
  const total = r[0] + r[1] + (r[2] + r[3]) + (r[4] + r[5] + (r[6] + r[7]));
  return x.slice(whole).reduce((all, one) => all + one, total);
}

export function softmax(x) {
  const top = x.reduce((most, one) => Math.max(most, one));
  const e = x.map((one) => exp(one - top)), total = sum(e);
  return e.map((one) => one / total);
}

const KEYS = {                                  // of the label in a column; smaller ones are kept first
  Rank: (row, column, rank, share) => [rank, -row[column] / share],
  Thr: (row, column, _, share) => [-row[column] / share],
  TopK: (row, column, rank) => [rank],
  Margin: (row, column, rank, _, ranking) => [(row[ranking[rank === 1 ? 1 : 0]] ?? -Infinity) - row[column]],
};

export function readRule(data) {                // an ArrayBuffer, or bytes such as those of readFileSync
  const [rule, arrays] = contents(data);
  known("the content", rule.what, ["rule"]);
  if (rule.target) throw new Error("rules for several labels per row are not known here");
  known("the format", rule.format, [1, 2, 3]);
  const kind = known("the kind", rule.kind, ["probs", "logits", "scores", "binary"]);
  const keysOf = KEYS[known("the score", rule.score.name, Object.keys(KEYS))];
  const condition = known("the condition", rule.condition.name, ["Marginal", "PerLabel", "PerRow"],
    ["Marginal", "PerLabel", "PerGroup"]);   // files call it PerRow
  if (condition === "PerLabel") known("the clusters", rule.condition.clusters ?? null, [null]);
  const classes = typeof rule.classes === "number" ? Array.from({ length: rule.classes }, (_, k) => k) : rule.classes;
  const width = kind === "binary" ? 1 : classes.length;

  function threshold(group, [numerator, denominator]) { // null: every label stays
    const [start, end] = [arrays.offsets[group], arrays.offsets[group + 1]];
    const n = BigInt(end - start + (arrays.absent?.[group] ?? 0));
    const k = Number(n + 1n - ((n + 1n) * numerator) / denominator);
    return k > end - start ? null : Array.from({ length: rule.keys }, (_, j) => arrays[`key${j}`][start + k - 1]);
  }

  function predict(row, alpha, group) {
    const values = Array.from(row), level = fraction(alpha);
    const isNumber = (one) => typeof one === "number" && one < Infinity && (kind === "logits" || one > -Infinity);
    const wanted = width === 1 ? "1 number" : `${width} numbers`;
    if (values.length !== width) throw new Error(`a row must have ${wanted}, got ${values.length}`);
    if (!values.every(isNumber)) throw new Error("a row must have numbers only, and none that is infinite");
    if (kind === "probs" && !(Math.abs(sum(values) - 1) <= 0.01)) throw new Error("probabilities must have the sum 1");
    if (["probs", "binary"].includes(kind) && !values.every((one) => one >= 0 && one <= 1.01)) {
      throw new Error("probabilities must lie between 0 and 1");
    }
    if (condition === "PerRow" && (group ?? "") === "") throw new Error("this rule needs the group of the row");
    const x = kind === "logits" ? softmax(values) : kind === "binary" ? [1 - values[0], values[0]] : values;
    const ranking = x.map((_, column) => column).sort((a, b) => x[b] - x[a] || a - b);
    const kept = ranking.filter((column, place) => {
      const cell = condition === "PerLabel" ? column : condition === "PerRow" ? rule.groups.indexOf(group) : 0;
      const limit = cell < 0 ? null : threshold(cell, level);
      const keys = keysOf(x, column, place + 1, rule.score.shares?.[column] ?? 1, ranking);
      const differs = limit === null ? -1 : keys.findIndex((key, j) => key !== limit[j]);
      return differs < 0 || keys[differs] < limit[differs];
    });
    return kept.map((column) => classes[column]);
  }
  const about = { kind, condition, score: rule.score.name, rows: arrays.key0.length + sum(arrays.absent ?? []) };
  return { ...about, classes, groups: rule.groups, guaranteed: rule.guaranteed ?? true, predict };
}
