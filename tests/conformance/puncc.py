"""Numbers of puncc's tests."""

import math
from functools import partial

import rankset as rs
from conformance import asking, conventions
from conformance.cases import Case, Source


def source(path, commit):
    return Source("puncc", "deel-ai/puncc", f"tests/{path}", commit)


SETS = source("api/test_prediction_sets.py", "030ef51ebb9713bff2b49e85c801705510ef71b9")
NEW_SETS = source("test_prediction_sets.py", "3488701f3aecd5e1728b1bf8844d4bba70066dda")
UTILS = source("api/test_utils.py", "6cf73f3f2854d7e02e6a3571d2cf5f69b25bf325")
METRICS = source("test_metrics.py", "3488701f3aecd5e1728b1bf8844d4bba70066dda")

PROBS = ((0.7, 0.2, 0.1), (0.2, 0.5, 0.3))
FIVE = ((0.5, 0.3, 0.1, 0.06, 0.04),)
RESULTS = ((1, 0, 1), (0, 1, 0), (0, 0, 0))

CASES = (
    Case(
        SETS,
        "test_classwise_lac_and_raps_variants",
        "LAC's sets with a quantile per class",
        ((), (2,)),
        asking.lac_sets,
        {"probs": PROBS, "quantiles": (0.2, 0.4, 0.8)},
    ),
    Case(
        NEW_SETS,
        "test_raps_set",
        "RAPS's sets below 0.65 (penalty 0.1, one free rank, no draws)",
        ((0,), (1, 2)),
        asking.sets_below,
        {"score": rs.Raps(0.1, 1, randomized=False), "probs": PROBS, "quantile": 0.65},
        reason=conventions.CROSSING,
        ours=((), (1,)),
        follow=conventions.up_to_the_crossing,
    ),
    Case(
        SETS,
        "test_raps_set_size_does_not_depend_on_batch_size",
        "RAPS's set below 0.95 (no penalty, no draws)",
        ((0, 1, 2, 3),),
        asking.sets_below,
        {"score": rs.Raps(0.0, 1, randomized=False), "probs": FIVE, "quantile": 0.95},
        reason=conventions.CROSSING,
        ours=((0, 1, 2),),
        follow=conventions.up_to_the_crossing,
    ),
    Case(
        SETS,
        "test_raps_set_size_does_not_depend_on_batch_size",
        "RAPS's set below infinity",
        ((0, 1, 2, 3, 4),),
        asking.sets_below,
        {"score": rs.Raps(0.0, 1, randomized=False), "probs": FIVE, "quantile": math.inf},
    ),
    Case(
        UTILS,
        "QuantileCheck.test_simple_quantile1d",
        "median of 1, 2, 3, 4",
        (2,),
        asking.threshold,
        {"values": (1, 2, 3, 4), "alpha": 0.5},
        reason=conventions.PLAIN,
        ours=(3,),
        follow=conventions.plain_quantile,
    ),
    *(
        Case(
            UTILS,
            "QuantileCheck.test_simple_quantile2d",
            f"median of {step}, {2 * step}, … {5 * step}",
            (3 * step,),
            asking.threshold,
            {"values": tuple(range(step, 6 * step, step)), "alpha": 0.5},
        )
        for step in (1, 10)
    ),
    Case(
        UTILS,
        "AlphaCheck.test_too_low_alpha",
        "10 rows at α = 0.01",
        ("an error",),
        asking.threshold_exists,
        {"n": 10, "alpha": 0.01},
        reason=conventions.REFUSED,
        ours=(False,),
        follow=partial(conventions.refused, others=1),
    ),
    Case(
        METRICS,
        "test_classification_metrics",
        "coverage",
        (2 / 3,),
        asking.coverage,
        {"mask": RESULTS, "labels": (0, 1, 1)},
    ),
    Case(METRICS, "test_classification_metrics", "mean size", (1.0,), asking.mean_size, {"mask": RESULTS}),
)
