"""Writes the golden files of the current format number that are not there yet, and never overwrites one.

    PYTHONPATH=src python3 tests/golden/make.py

Each rule is stored as ``format<number>-<name>.rankset``. The JSON beside it holds rows, and what the rule answered
about them on the day it was written; every later version must still give these answers.
"""

import json
from pathlib import Path

import numpy as np

import rankset as rs
from rankset.io import container
from rankset.rules import rule_file

HERE = Path(__file__).parent
ALPHAS = ("0.1", "0.25", "0.5")
N_ROWS, N_NEWS = 120, 6

CASES = {
    "rank": {"score": rs.Rank()},
    "topk-floats": {"score": rs.TopK(), "classes": [0.5, 1.0, -2.5], "condition": rs.PerLabel()},
    "thr-binary": {"score": rs.Thr(), "kind": "binary", "classes": [False, True]},
    "margin-scores": {"score": rs.Margin(), "kind": "decision", "classes": ["cat", "Füchsin 🦊", 'q"\\\n']},
    "aps-rows": {"score": rs.Aps(), "condition": rs.PerGroup(), "groups": [3, 20]},
    "aps-logits": {"score": rs.Aps(randomized=False), "kind": "logits"},
    "raps-cross": {
        "score": rs.Raps(penalty=0.05, free_ranks=1, randomized=False),
        "condition": rs.PerLabelAndGroup(rs.PerGroup(), rs.PerLabel(("pet", "pet", "wild"))),
        "classes": ["cat", "dog", "fox"],
        "groups": ["north", "süd"],
    },
    "saps-ties": {"score": rs.TieBreak(rs.Saps(weight=0.3)), "seed": 7, "condition": rs.PerLabel((1, 2, 1))},
    "average": {"score": rs.Average(thr=0.5, aps=0.25, rank=2.0)},
    "temperature-logits": {"score": rs.Temperature(1 / 0.75), "kind": "logits"},
    "recalibrated": {
        "score": rs.Chosen(
            rs.Recalibrated(1 / 1.5, (0.9, 0.1, -0.2, 0.05, 0.3, -0.1, 0.02), (0.5, -0.25, 0.125)),
            "for the golden files",
        ),
    },
    "seen": {"score": rs.Seen(rs.Raps(penalty=0.05, free_ranks=1), (0, 2), 3)},
    "rank-absent": {"score": rs.Rank(), "absent": 4},
    "thr-absent-groups": {"score": rs.Thr(), "condition": rs.PerGroup(), "groups": ["north", "south"], "absent": 5},
    "tempered": {"score": rs.Tempered(rs.TieBreak(rs.Aps()), 1.7), "condition": rs.PerLabel(), "kind": "logits"},
    "thr-shares": {"score": rs.Thr((6, 3, 1)), "kind": "logits"},
    "rank-limited": {"score": rs.RankLimited(rs.Rank((1, 2, 5)), (1, 2, 3)), "condition": rs.PerLabel()},
    "class-offsets": {"score": rs.TieBreak(rs.ClassOffsets(rs.Aps(), (0.25, -0.1, 0.0))), "seed": 3},
    "fuzzy-classes": {
        "score": rs.FuzzyClasses(rs.Thr(), (-0.9, -0.5, -0.2, -0.7, -0.1, -0.3), (3, 2, 1), bandwidth=0.3),
        "condition": rs.PerLabel(("often", "seldom", "seldom")),
    },
    "thr-pooled": {"score": rs.Thr(), "condition": rs.Pooled()},
    "rank-pooled-groups": {
        "score": rs.Rank(),
        "condition": rs.Pooled(rs.PerLabelAndGroup(), borrow=50, tilt=5),
        "groups": ["north", "south"],
    },
    "aps-balanced": {"score": rs.Aps(), "condition": rs.Balanced((120, 40, 5))},
    "thr-pooled-balanced": {"score": rs.Thr((120, 40, 5)), "condition": rs.Pooled(rs.Balanced((120, 40, 5)))},
    "rank-stratified": {"score": rs.Rank(), "guaranteed": False},
    "thr-stratified-absent": {"score": rs.Thr(), "guaranteed": False, "absent": 3},
    "share-recall": {"score": rs.Share(), "kind": "marginals", "target": rs.Recall()},
    "thr-all-groups": {
        "score": rs.Thr(),
        "kind": "marginal_logits",
        "target": rs.AllLabels(),
        "condition": rs.PerLabelAndGroup(),
        "groups": ["north", "south"],
    },
    "rank-missed": {"score": rs.Rank(), "target": rs.AtMostMissed(1), "condition": rs.PerLabel((1, 2, 1))},
    "ties-any": {"score": rs.TieBreak(rs.TopK()), "kind": "decision", "target": rs.AnyLabel()},
    "thr-certain": {"score": rs.Thr(), "kind": "marginals", "target": rs.CertainLabels(), "condition": rs.PerLabel()},
    "thr-cost": {"score": rs.Thr(), "target": rs.Cost({0: 1, 2: "2.5"}, others=10)},
    "thr-marginals-stratified": {"score": rs.Thr(), "kind": "marginals", "guaranteed": False},
    "marginals-recall": {
        "score": rs.Chosen(
            rs.Marginals(
                rs.Share(),
                weights=(0.75, 0.5, -0.25, 0.125, -0.1, 0.05),
                intercepts=(0.5, -0.25, 0.125),
                means=(-1.0, 0.25, -0.5),
                deviations=(1.5, 0.75, 1.0),
                matrix=(0.1, -0.3, 0.25, 0.0, 0.05, 0.7, -0.2, 0.15, 0.3),
                names=("cat", "dog", "fox"),
            ),
            "for the golden files",
        ),
        "kind": "marginals",
        "target": rs.Recall(),
        "classes": ["cat", "dog", "fox"],
    },
    "thr-label-shift": {"score": rs.Thr(), "condition": rs.LabelShift((1, 1.5, 2))},
    "aps-pooled-label-shift": {"score": rs.Aps(), "condition": rs.Pooled(rs.LabelShift((3, 2, 2)))},
    "rank-weights": {"score": rs.Rank(), "weights": True},
    "aps-weights-groups": {"score": rs.Aps(), "condition": rs.PerGroup(), "groups": ["a", "b"], "weights": True},
    "thr-weights-absent": {"score": rs.Thr(), "absent": 5, "weights": True},
    "thr-weights-pooled": {"score": rs.Thr(), "condition": rs.Pooled(rs.LabelShift((1, 1.2, 1))), "weights": True},
    "share-weights-recall": {"score": rs.Share(), "kind": "marginals", "target": rs.Recall(), "weights": True},
    "thr-weights-cost": {"score": rs.Thr(), "target": rs.Cost({0: 1, 2: "2.5"}, others=10), "weights": True},
}


LABELS = HERE / "labels"
"""Folder of the files of what ``precise`` and ``bounds`` return."""
DECISIONS = HERE / "decisions"
"""Folder of the file of a triage."""


def precise_rule():
    """What ``precise`` returns, and rows it has not seen."""
    probs, labels = rs.datasets.load("goemotions")
    names = rs.datasets.SEVERAL_LABELS["goemotions"].classes
    made = rs.precise(probs[:1500], labels[:1500], error=0.3, method=rs.TieBreak(rs.Rank()), classes=names)
    return made, probs[1500:1506].astype(float).tolist()


def label_bounds():
    """What ``bounds`` returns, and rows it has not seen."""
    rng = np.random.default_rng(0)
    values = rows(rng, "marginals", N_ROWS + N_NEWS)
    made = rs.bounds(values[:N_ROWS], rng.random((N_ROWS, 3)) < values[:N_ROWS], classes=["cat", "dog", "fox"])
    return made, values[N_ROWS:].tolist()


def label_sets(made, news):
    """What ``precise`` and ``bounds`` say about rows, as plain lists."""
    if isinstance(made, rs.PreciseRule):
        return [labels.tolist() for labels in made.predict(news)]
    return {a: [sets.to_lists() for sets in made.predict(news, alpha=a)] for a in ALPHAS}


TRIAGES = {
    "triage": {"confidence": "two", "condition": rs.PerLabel((1, 1, 2, 2, 2, 2))},
    "triage-entropy": {"confidence": "entropy", "within": 2},
    "triage-fitted": {"confidence": rs.Correctness((0.5, 1.0, -0.25, 0.125), (0.0, 0.1, 0.2, 0.3, 0.4, 0.5))},
}


def triage(options):
    """Return a triage whose file is kept, and rows to ask it about."""
    logits, labels = rs.datasets.load("carer")
    made = rs.triage(logits[:400], labels[:400], kind="logits", **options)
    return made, logits[400:440]


def decided(made, news):
    """What a triage decides about rows."""
    rows = np.array(news)
    done, gate = made.accept(rows, "0.2"), made.threshold("0.3")
    return {
        "accepted": done.accepted.tolist(),
        "p_values": done.p_values.tolist(),
        "passed": gate.accepts(rows).tolist(),
    }


def number_of(options) -> int:
    """The format number of the file of a case."""
    if "weights" in options:
        return rule_file.FORMAT_WITH_WEIGHTS
    if "target" in options or options.get("kind", "").startswith("marginal"):
        return rule_file.FORMAT_WITH_TARGET
    if "guaranteed" in options:
        return rule_file.FORMAT_WITH_GUARANTEED
    return rule_file.FORMAT_WITH_ABSENT if "absent" in options else container.FORMAT


def main() -> None:
    for place, (name, options) in enumerate(CASES.items()):
        path = HERE / f"format{number_of(options)}-{name}.rankset"
        if path.exists():
            continue  # never overwritten: where answers change, raise container.FORMAT
        rule, news = case(np.random.default_rng(place), **options)
        rule.save(path)
        text = json.dumps({**news, **answers(rule, news)}, ensure_ascii=False)
        path.with_suffix(".json").write_text(text + "\n", encoding="utf-8")
    for name, made_of in (("precise", precise_rule), ("bounds", label_bounds)):
        path = LABELS / f"format{rule_file.FORMAT_WITH_TARGET}-{name}.rankset"
        if not path.exists():
            made, news = made_of()
            made.save(path)
            text = json.dumps({"rows": news, "sets": label_sets(made, news)}, ensure_ascii=False)
            path.with_suffix(".json").write_text(text + "\n", encoding="utf-8")
    for name, options in TRIAGES.items():
        path = DECISIONS / f"format{rule_file.FORMAT_WITH_TARGET}-{name}.rankset"
        if not path.exists():
            made, news = triage(options)
            made.save(path)
            text = json.dumps({"rows": news.astype(float).tolist(), "decided": decided(made, news.astype(float))})
            path.with_suffix(".json").write_text(text + "\n", encoding="utf-8")


def case(rng, *, groups=None, absent=0, guaranteed=True, weights=False, **options):
    """A rule, and rows (as their lists) it has not seen."""
    values = rows(rng, options.get("kind", "probs"), N_ROWS + N_NEWS)
    classes = options.get("classes", [0, 1, 2])
    labels = [classes[code] for code in rng.integers(0, len(classes), N_ROWS)]
    labels[:absent] = [rs.ABSENT] * absent
    if "target" in options and not isinstance(options["target"], rs.Cost):
        labels = rng.random((N_ROWS, len(classes))) < 0.4
    names = None if groups is None else [groups[code] for code in rng.integers(0, len(groups), N_ROWS + N_NEWS)]
    known, new = (None, None) if names is None else (names[:N_ROWS], names[N_ROWS:])
    own = rng.uniform(0.5, 1.5, N_ROWS + N_NEWS).round(3) if weights else None
    rule = rs.calibrate(values[:N_ROWS], labels, groups=known, weights=own[:N_ROWS] if weights else None, **options)
    rule = rule if guaranteed else rule._without_guarantee()
    further = {"weights": own[N_ROWS:].tolist()} if weights else {}
    return rule, {"rows": values[N_ROWS:].tolist(), "groups": new, **further}


def rows(rng, kind, n_rows):
    """Rows of ``kind``, short to write down."""
    if kind == "binary":
        return rng.random(n_rows).round(3)
    values = rng.normal(size=(n_rows, 3)).round(2)
    if kind == "marginals":
        return (1 / (1 + np.exp(-values))).round(3)
    return values if kind in {"logits", "decision", "marginal_logits"} else rs.softmax(values)


def answers(rule, news):
    """What ``rule`` says about the rows, as plain lists."""
    rows, per_row = news["rows"], {"groups": news["groups"], "weights": news.get("weights")}
    if rule.spec.below:
        return {"sets": {a: rule.predict(rows, a, **per_row).to_lists() for a in ALPHAS}, "p_values": None}
    return {
        "sets": {a: [labels.tolist() for labels in rule.predict(rows, a, **per_row)] for a in ALPHAS},
        "p_values": rule.p_values(rows, **per_row).tolist(),
    }


if __name__ == "__main__":
    main()
