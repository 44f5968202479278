"""Numbers of MAPIE's tests and docstrings."""

from fractions import Fraction
from functools import cache, partial

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit

import rankset as rs
from conformance import asking, conventions
from conformance.cases import Case, Source


def source(path, commit):
    return Source("MAPIE", "scikit-learn-contrib/MAPIE", path, commit)


CLASSIFICATION = source("mapie/tests/test_classification.py", "00c73abe91ddbb147c08e1abf5bae63e3d1dce9d")
SCORE_SETS = source("mapie/tests/test_conformity_scores_sets.py", "029879ddbef0d5f068047bb08b8217c127980c63")
POSITIONS = source(
    "mapie/tests/test_utils_classification_conformity_scores.py", "044ae6977a7ed874686b78e278f0e9b433cb2f65"
)
UTILS = source("mapie/tests/test_utils.py", "00c73abe91ddbb147c08e1abf5bae63e3d1dce9d")
METRICS = source("mapie/tests/test_metrics.py", "00b23d391bf90ba710169e2705261127b86a1fb0")
DOCSTRINGS = source("mapie/metrics/classification.py", "08760f63b831f994102887a2bd2d477694c44645")
COVGAP = source("mapie/tests/covmetrics/test_covgap.py", "57032ae92d63f8dc3ea25cd25d4b04c9ea7bafe1")
SSC = source("mapie/tests/covmetrics/test_ssc.py", "57032ae92d63f8dc3ea25cd25d4b04c9ea7bafe1")

X_TOY = np.arange(9).reshape(-1, 1)
Y_TOY = np.array([0, 0, 1, 0, 1, 1, 2, 1, 2])
Y_BINARY = np.array([0, 0, 1, 0, 1, 1, 0, 1, 1])
TOY = "test_toy_dataset_predictions"
TOY_BINARY = "test_toy_binary_dataset_predictions"
CUMULATED = "test_cumulated_scores"
CALIBRATION = ((0.4, 0.5, 0.1), (0.2, 0.6, 0.2), (0.6, 0.3, 0.1))
CALIBRATION_SCORES = (0.750183952461055, 0.029571416154050345, 0.9268006058188594)
DRAWS = tuple(np.random.RandomState(42).uniform(size=9).tolist())  # noqa: NPY002


@cache
def toy(binary, split):
    """Probabilities of the 9 rows, their labels, and the rows that calibrate: all, or the half the model has not seen."""
    labels = Y_BINARY if binary else Y_TOY
    cut = ShuffleSplit(n_splits=1, test_size=0.5, random_state=42).split(X_TOY)
    train, calibrate = next(cut) if split else (np.arange(9), np.arange(9))
    return LogisticRegression().fit(X_TOY[train], labels[train]).predict_proba(X_TOY), labels, calibrate


def toy_sets(score, alpha, binary=False, split=False):
    """The sets of all 9 rows, and their coverage."""
    probs, labels, calibrate = toy(binary, split)
    sets = rs.calibrate(probs[calibrate], labels[calibrate], score=score).predict(probs, alpha)
    return (*asking.labels_of(sets), float(sets.covers(labels).mean()))


def toy_sets_at_the_higher_quantile(score, alpha, binary=False, split=False):
    """The same at the level whose position is that of the peer's quantile."""
    n = len(toy(binary, split)[2])
    level = 1 - Fraction(conventions.higher_position(n, alpha), n + 1)
    return toy_sets(score, level, binary, split)


def toy_aps(score, alpha, crossing, split=False):
    """The threshold from keys with draws, the sets from full masses: with the label that crosses, or without."""
    probs, labels, calibrate = toy(False, split)
    drawn = rs.Aps()
    own = conventions.draws_from_above(drawn, probs[calibrate], labels[calibrate], DRAWS[: len(calibrate)])
    quantile = conventions.at_position(own, conventions.higher_position(len(own), alpha))
    if crossing:
        sets = conventions.up_to_the_crossing(score, probs, quantile)
    else:
        rule = asking.rule_below(score, quantile, probs.shape[1])
        sets = asking.labels_of(rule.predict(probs, asking.HALF, empty="top"))
    return (*sets, float(np.mean([label in kept for kept, label in zip(sets, labels, strict=True)])))


def toy_masses():
    """The mass up to and with the true label, and the rank of the true label."""
    probs, labels, _ = toy(False, False)
    return (*asking.keys(rs.Aps(randomized=False), probs, labels), *asking.keys(rs.TopK(), probs, labels))


def expected_masses():
    """What the peer's test adds up, and its ranks."""
    probs, _, _ = toy(False, False)
    terms = ((0,), (0,), (0, 1), (0, 1), (1,), (1,), (1, 2), (1, 2), (2,))
    return tuple(float(probs[row, list(columns)].sum()) for row, columns in enumerate(terms))


def large_coverage(score):
    x, y = make_classification(n_samples=500, n_features=10, n_informative=3, n_classes=4, random_state=42)
    probs = LogisticRegression().fit(x, y).predict_proba(x)
    return (float(rs.calibrate(probs, y, score=score).predict(probs, 0.2).covers(y).mean()),)


TOP_TWO = ((0, 1),) * 5 + ((1, 2),) * 4
MOST_LIKELY = ((0,), (0,), (0,), (1,), (1,), (1,), (1,), (2,), (2,))
LAC = ((0,), (0,), (0,), (1,), (1,), (1,), (1,), (1, 2), (2,), 6 / 9)
LAC_HERE = ((0,), (0,), (), (), (1,), (1,), (), (), (2,), 5 / 9)
LAC_SPLIT = (*((0, 1),) * 5, (1, 2), (2,), (2,), (2,), 8 / 9)
LAC_SPLIT_HERE = ((1,), (0, 1), (0, 1), (0, 1), (1,), (1, 2), (2,), (2,), (2,), 7 / 9)
LAC_BINARY = ((0,), (0,), (0,), (), (1,), (1,), (1,), (1,), (1,), 6 / 9)
LAC_BINARY_HERE = ((0,), (0,), (), (), (), (1,), (1,), (1,), (1,), 5 / 9)
APS = ((0,), (0,), (0, 1), (0, 1), (1,), (1,), (1, 2), (1, 2), (2,), 1.0)
APS_SPLIT = (*((0, 1),) * 4, (0, 1, 2), (0, 1, 2), (1, 2), (2,), (2,), 8 / 9)
APS_WITHOUT_SPLIT = ((1,), (1,), (1,), (1,), (0, 1), (1, 2), (2,), (2,), (2,), 5 / 9)


def toy_case(strategy, theirs, score, ours=None, test=TOY, **inputs):
    """A case of the toy data: MAPIE's LAC and top-k, whose quantile is the higher one."""
    explained = {} if ours is None else {
        "reason": conventions.HIGHER, "ours": ours, "follow": toy_sets_at_the_higher_quantile
    }
    what = f"{strategy}: sets of 9 rows and their coverage at α = 0.5"
    inputs = {"score": score, "alpha": 0.5, **inputs}
    return Case(CLASSIFICATION, test, what, theirs, toy_sets, inputs, **explained)


def aps_case(strategy, theirs, ours, *, crossing, split=False):
    return Case(
        CLASSIFICATION,
        TOY,
        f"{strategy}: sets of 9 rows and their coverage at α = 0.5",
        theirs,
        toy_sets,
        {"score": rs.Aps(randomized=False), "alpha": 0.5, "split": split},
        reason=conventions.MIXED,
        ours=ours,
        follow=partial(toy_aps, crossing=crossing),
    )


def crossing_case(test, probs, theirs, ours):
    return Case(
        CLASSIFICATION,
        test,
        "APS's sets below 0.750",
        theirs,
        asking.sets_below,
        {"score": rs.Aps(randomized=False), "probs": probs, "quantile": CALIBRATION_SCORES[0]},
        reason=conventions.CROSSING,
        ours=ours,
        follow=conventions.up_to_the_crossing,
    )


def positions(probs, labels, theirs, ours):
    return Case(
        POSITIONS,
        "test_get_true_label_position",
        "place of the true label",
        theirs,
        asking.keys,
        {"score": rs.TopK(), "probs": probs, "labels": labels},
        reason=conventions.FROM_ZERO,
        ours=ours,
        follow=conventions.ranks_from_zero,
    )


Y_CLASS = (3, 3, 1, 2, 2)
MASK = ((0, 0, 1, 1), (0, 1, 0, 1), (0, 1, 1, 0), (0, 0, 1, 1), (0, 1, 0, 1))
FIRST = ((0, 0, 0, 0), (0, 1, 1, 1), (0, 1, 1, 0), (1, 1, 1, 1), (0, 1, 0, 1))
SECOND = ((0, 1, 1, 0), (0, 1, 1, 1), (0, 0, 0, 0), (0, 0, 1, 0), (0, 1, 1, 1))
SIZES, TWO_BINS, THREE_BINS = (0, 1, 2, 3, 4), (0, 3), (0, 2, 4)
IN_DOCS = ((1, 1, 1, 1), (0, 1, 0, 1), (1, 1, 1, 0), (0, 0, 1, 1), (1, 1, 0, 1))
FIRST_IN_DOCS = ((0, 0, 1), (0, 1, 1), (1, 1, 1), (0, 1, 1), (1, 0, 1))
SECOND_IN_DOCS = ((0, 1, 1), (1, 0, 1), (0, 1, 0), (0, 1, 1), (1, 1, 0))


def strata(what, mask, bins, coverages, lowest):
    """Coverage by set size, without the strata that have no rows, and the lowest of them."""
    inputs = {"mask": mask, "labels": Y_CLASS, "strata": bins}
    return (
        Case(
            METRICS,
            "test_classification_ssc_coverage_values",
            f"coverage by set size, {what}",
            coverages,
            asking.coverage_by_stratum,
            inputs,
        ),
        Case(
            METRICS,
            "test_classification_ssc_score_coverage_values",
            f"lowest coverage by set size, {what}",
            (lowest,),
            asking.lowest_coverage_by_stratum,
            inputs,
        ),
    )


def gap(test, covered, classes, alpha, theirs, **explained):
    inputs = {"covered": covered, "classes": classes, "alpha": alpha}
    what = f"mean distance of classes' coverage from {1 - alpha:g}"
    return Case(COVGAP, test, what, (theirs,), asking.class_gap, inputs, **explained)


def violation(test, sizes, covered, alpha, theirs, **explained):
    inputs = {"covered": covered, "sizes": sizes, "alpha": alpha}
    return Case(SSC, test, "violation by set size", (theirs,), asking.sscv, inputs, **explained)


def enough(test, n, alpha, theirs, **explained):
    inputs = {"n": n, "alpha": alpha}
    return Case(UTILS, test, f"{n} rows at α = {alpha:g}", (theirs,), asking.threshold_exists, inputs, **explained)


LARGE = "test_large_dataset_predictions"
BIG_CLASS = (1,) * 50 + (0, 1, 0), (0,) * 50 + (1, 2, 3)

CASES = (
    toy_case("lac", LAC, rs.Thr(), LAC_HERE),
    toy_case("lac_split", LAC_SPLIT, rs.Thr(), LAC_SPLIT_HERE, split=True),
    toy_case("lac, two classes", LAC_BINARY, rs.Thr(), LAC_BINARY_HERE, TOY_BINARY, binary=True),
    toy_case("top_k", (*TOP_TWO, 1.0), rs.TopK(), (*MOST_LIKELY, 5 / 9)),
    toy_case("top_k_split", (*TOP_TWO, 1.0), rs.TopK(), split=True),
    aps_case("aps_include", APS, (*MOST_LIKELY, 5 / 9), crossing=True),
    aps_case("aps_not_include", (*MOST_LIKELY, 5 / 9), (*MOST_LIKELY, 5 / 9), crossing=False),
    *(
        Case(
            CLASSIFICATION,
            LARGE,
            f"{strategy}: coverage of 500 rows at α = 0.2",
            (theirs,),
            large_coverage,
            {"score": score},
            tolerance=0.0081,
        )
        for strategy, score, theirs in (("lac", rs.Thr(), 0.802), ("top_k", rs.TopK(), 0.96))
    ),
    Case(
        SCORE_SETS,
        "test_get_true_label_cumsum_proba_result",
        "mass up to the true label in 9 rows, and its rank",
        (*expected_masses(), 1, 1, 2, 2, 1, 1, 2, 2, 1),
        toy_masses,
    ),
    Case(
        CLASSIFICATION,
        CUMULATED,
        "APS's scores with the draws of seed 42",
        CALIBRATION_SCORES,
        asking.drawn_keys,
        {"score": rs.Aps(), "probs": CALIBRATION, "labels": (0, 1, 2), "draws": DRAWS[:3]},
        reason=conventions.FROM_ABOVE,
        ours=(0.5 + 0.4 * DRAWS[0], 0.6 * DRAWS[1], 0.9 + 0.1 * DRAWS[2]),
        follow=conventions.draws_from_above,
    ),
    Case(
        CLASSIFICATION,
        CUMULATED,
        "threshold of these 3 scores at α = 0.65",
        (0.750183952461055,),
        asking.threshold,
        {"values": CALIBRATION_SCORES, "alpha": 0.65},
    ),
    crossing_case(
        CUMULATED,
        ((0.2, 0.7, 0.1), (0.0, 1.0, 0.0), (0.0, 0.7, 0.3), (0.3, 0.7, 0.0)),
        ((0, 1), (1,), (1, 2), (0, 1)),
        ((1,), (), (1,), (1,)),
    ),
    crossing_case(
        "test_image_cumulated_scores",
        ((0.2, 0.7, 0.1), (0.1, 0.2, 0.7), (0.3, 0.5, 0.2)),
        ((0, 1), (1, 2), (0, 1)),
        ((1,), (2,), (1,)),
    ),
    positions(((0.1, 0.3, 0.6), (0.2, 0.7, 0.1)), (2, 0), (0, 1), (1, 2)),
    positions(((0.7, 0.12, 0.18), (0.5, 0.24, 0.26)), (1, 0), (2, 0), (3, 1)),
    *(
        enough("test_valid_calculation_of_quantile", 30, alpha, theirs=True)
        for alpha in (0.05, 0.275, 0.5, 0.725, 0.95)
    ),
    *(
        enough(
            "test_invalid_calculation_of_quantile",
            10,
            alpha,
            theirs=None,
            reason=conventions.REFUSED,
            ours=(False,),
            follow=conventions.refused,
        )
        for alpha in (0.05, 0.07)
    ),
    Case(METRICS, "test_classification_toydata", "coverage", (0.8,), asking.coverage, {"mask": MASK, "labels": Y_CLASS}),
    Case(METRICS, "test_classification_toydata_width", "mean size", (2.0,), asking.mean_size, {"mask": MASK}),
    *strata("1alpha_None", FIRST, SIZES, (0.0, 0.5, 1.0, 1.0), 0.0),
    *strata("1alpha_base", FIRST, TWO_BINS, (1 / 3, 1.0), 1 / 3),
    *strata("1alpha_3sp", FIRST, THREE_BINS, (0.0, 2 / 3, 1.0), 0.0),
    *strata("2alpha_None", SECOND, SIZES, (0.0, 1.0, 0.0, 1.0), 0.0),
    *strata("2alpha_base", SECOND, TWO_BINS, (1 / 3, 1.0), 1 / 3),
    *strata("2alpha_3sp", SECOND, THREE_BINS, (0.5, 2 / 3), 0.5),
    *(
        Case(DOCSTRINGS, "classification_mean_width_score (docstring)", "mean size", (theirs,), asking.mean_size, mask)
        for mask, theirs in (({"mask": FIRST_IN_DOCS}, 2.0), ({"mask": SECOND_IN_DOCS}, 1.8))
    ),
    Case(
        DOCSTRINGS,
        "classification_ssc (docstring)",
        "coverage by set size",
        (1.0, 2 / 3),
        asking.coverage_by_stratum,
        {"mask": IN_DOCS, "labels": Y_CLASS, "strata": TWO_BINS},
    ),
    Case(
        DOCSTRINGS,
        "classification_ssc_score (docstring)",
        "lowest coverage by set size",
        (2 / 3,),
        asking.lowest_coverage_by_stratum,
        {"mask": IN_DOCS, "labels": Y_CLASS, "strata": TWO_BINS},
    ),
    gap("test_single_group_perfect_cover", (1, 1, 1, 1), (0, 0, 0, 0), 0.1, 0.1),
    gap("test_single_group_no_cover", (0, 0, 0, 0), (0, 0, 0, 0), 0.2, 0.8),
    gap("test_two_groups_balanced_cover", (1, 1, 1, 0, 0, 0), (0, 0, 0, 1, 1, 1), 0.25, 0.5),
    gap("test_unbalanced_group_sizes", (1, 1, 0, 0, 0), (0, 0, 1, 1, 1), 0.5, 0.5),
    gap("test_multiple_groups_three_classes", (1, 0, 1, 0, 1, 0), (0, 0, 1, 1, 2, 2), 0.2, 0.3),
    gap("test_groups_with_noncontiguous_labels", (1, 1, 0, 0), (10, 10, 42, 42), 0.5, 0.5),
    gap("test_many_groups_small_sizes", (1, 0, 1, 0), (0, 1, 2, 3), 0.25, 0.5),
    gap("test_large_group_and_small_groups", *BIG_CLASS, 0.1, 0.5),
    gap(
        "test_large_group_and_small_groups_weithed",
        *BIG_CLASS,
        0.1,
        (0.1 * 50 + 0.9 + 0.1 + 0.9) / 53,
        reason=conventions.WEIGHTED,
        ours=(0.5,),
        follow=conventions.weighted_gap,
    ),
    violation("test_single_group_perfect_cover", (0, 0, 0, 0), (1, 1, 1, 1), 0.1, 0.1),
    violation("test_multiple_groups_small_unique_y", (0, 0, 1, 1), (1, 0, 1, 0), 0.2, 0.3),
    violation(
        "test_groups_with_noncontiguous_labels",
        (10, 10, 42, 42),
        (1, 1, 0, 0),
        0.2,
        0.5,
        reason=conventions.MEAN_OF_STRATA,
        ours=(0.8,),
        follow=conventions.mean_violation,
    ),
)
