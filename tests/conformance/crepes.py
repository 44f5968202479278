"""Numbers of crepes' tests, and what crepes gives where its tests look at shapes only."""

from functools import partial

import numpy as np

import rankset as rs
from conformance import asking, conventions
from conformance.cases import Case, Source

VERSION = "crepes 0.9.1"


def source(path):
    return Source("crepes", "henrikbostrom/crepes", f"tests/{path}", "9b2ea9245205b1bc12cb828765b060a03ec86021")


CORE = source("test_core_predictors_consolidated.py")
EXTRAS = source("test_extras_consolidated.py")
WRAPPERS = source("test_wrappers_integration_consolidated.py")

PROBS = ((0.1, 0.9), (0.6, 0.4))
OTHERS = ((0.8, 0.2), (0.4, 0.6))
CALIBRATION = (0.2, 0.5, 0.7)
NEWS = ((0.1, 0.4, 0.6), (0.3, 0.5, 0.9))
SMOOTHING = "test_conformal_classifier_predict_paths_and_smoothing"
DRAWS = np.random.RandomState(1).rand(6)
SAME = ((0.7, 0.3),) * 5
FIVE_LABELS = (0, 1, 0, 1, 0)

CASES = (
    Case(
        EXTRAS,
        "test_hinge_and_margin_basic",
        "hinge (LAC) of one label per row",
        (0.1, 0.4),
        asking.lac,
        {"probs": PROBS, "labels": (1, 0)},
    ),
    Case(
        EXTRAS,
        "test_hinge_and_margin_basic",
        "hinge of all labels",
        (0.9, 0.1, 0.4, 0.6),
        asking.all_lac,
        {"probs": PROBS},
        run=VERSION,
    ),
    Case(
        EXTRAS,
        "test_hinge_and_margin_basic",
        "margin of one label per row",
        (-0.8, -0.2),
        asking.keys,
        {"score": rs.Margin(), "probs": PROBS, "labels": (1, 0)},
        run=VERSION,
    ),
    Case(
        EXTRAS,
        "test_hinge_and_margin_basic",
        "margin of all labels",
        (0.8, -0.8, -0.2, 0.2),
        asking.all_keys,
        {"score": rs.Margin(), "probs": PROBS},
        run=VERSION,
    ),
    Case(
        EXTRAS,
        "test_hinge_margin_and_binning_additional_branches",
        "hinge of one label per row",
        (0.2, 0.4),
        asking.lac,
        {"probs": OTHERS, "labels": (0, 1)},
        run=VERSION,
    ),
    Case(
        EXTRAS,
        "test_hinge_margin_and_binning_additional_branches",
        "margin of one label per row",
        (-0.6, -0.2),
        asking.keys,
        {"score": rs.Margin(), "probs": OTHERS, "labels": (0, 1)},
        run=VERSION,
    ),
    Case(
        CORE,
        SMOOTHING,
        "p-values without smoothing",
        (1.0, 0.75, 0.5, 0.75, 0.75, 0.25),
        asking.p_values,
        {"calibration": CALIBRATION, "values": NEWS},
        run=VERSION,
    ),
    Case(
        CORE,
        SMOOTHING,
        "smoothed p-values, seed 1",
        (0.8542555, 0.68008112, 0.25002859, 0.57558314, 0.32337795, 0.02308465),
        asking.p_values,
        {"calibration": CALIBRATION, "values": NEWS},
        reason=conventions.SMOOTHED,
        ours=(1.0, 0.75, 0.5, 0.75, 0.75, 0.25),
        follow=partial(conventions.smoothed, taus=DRAWS),
        run=VERSION,
        tolerance=1e-8,
    ),
    Case(
        CORE,
        SMOOTHING,
        "sets of 3 rows at confidence 0.999, without smoothing",
        ((0, 1, 2), (0, 1, 2)),
        asking.sets_of_values,
        {"calibration": CALIBRATION, "values": NEWS, "alpha": "0.001"},
        run=VERSION,
    ),
    Case(
        CORE,
        SMOOTHING,
        "sets at confidence 0.75 (a level of our choice), without smoothing",
        ((0, 1, 2), (0, 1, 2)),
        asking.sets_of_values,
        {"calibration": CALIBRATION, "values": NEWS, "alpha": 0.25},
        reason=conventions.AT_LEAST,
        ours=((0, 1, 2), (0, 1)),
        follow=conventions.kept_when_equal,
        run=VERSION,
    ),
    Case(
        CORE,
        "test_conformal_classifier_and_cps_legacy_checks",
        "p-values without smoothing",
        (1.0, 0.5),
        asking.p_values,
        {"calibration": CALIBRATION, "values": ((0.1, 0.6),)},
        run=VERSION,
    ),
    Case(
        WRAPPERS,
        "test_conformal_classifier_alpha_index_all_labels_and_warning",
        "set of 1 row at confidence 0.999",
        ((0, 1),),
        asking.sets_of_values,
        {"calibration": (0.1,), "values": ((0.2, 0.3),), "alpha": "0.001"},
    ),
    Case(
        WRAPPERS,
        "test_wrapclassifier_flow_and_mondrian",
        "p-values of a decision tree's one-hot rows",
        (0.5, 1.0),
        asking.p_values_of,
        {"score": rs.Thr(), "probs": ((1.0, 0.0),), "labels": (0,), "news": ((0.0, 1.0),)},
        run=VERSION,
    ),
    Case(
        WRAPPERS,
        "test_oob_paths_for_wrappers",
        "p-values after calibration on one row",
        (0.5, 0.5),
        asking.p_values_of,
        {"score": rs.Thr(), "probs": ((0.4, 0.6),), "labels": (1,), "news": ((0.5, 0.5),)},
        run=VERSION,
    ),
    Case(
        WRAPPERS,
        "test_wrapclassifier_calibrate_class_cond_and_mc_function_from_legacy",
        "p-values by group of rows",
        (1.0, 0.25, 1.0, 1.0),
        asking.p_values_of,
        {
            "score": rs.Thr(),
            "probs": SAME,
            "labels": FIVE_LABELS,
            "news": SAME[:2],
            "condition": rs.PerGroup(),
            "groups": (0, 1, 0, 1, 0),
            "new_groups": (0, 1),
        },
        run=VERSION,
    ),
    Case(
        WRAPPERS,
        "test_wrapclassifier_calibrate_class_cond_and_mc_function_from_legacy",
        "p-values by true label",
        (1.0, 1.0),
        asking.p_values_of,
        {
            "score": rs.Thr(),
            "probs": SAME,
            "labels": FIVE_LABELS,
            "news": SAME[:1],
            "condition": rs.PerLabel(),
        },
        run=VERSION,
    ),
)
