/* The order of search results: pages that answer questions first, then the reference, pages about the project last. */
var Scorer = {
  score: ([docname, title, anchor, descr, score, filename, kind]) => {
    if (/^understand\/questions/.test(docname)) return score + 24;
    if (/^(start|how-to|understand|coming-from)/.test(docname)) return score + 20;
    if (/^gallery/.test(docname)) return score + 10;
    if (/^project|^design|^testing/.test(docname)) return score - 10;
    if (kind === "object" && /^reference\/cli/.test(docname)) return score - 10;
    return score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
