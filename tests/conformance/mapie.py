"""Numbers of MAPIE's tests and docstrings."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit

import rankset as rs
from conformance import asking, conventions
from conformance.cases import Case, Source


def source(path, commit):
    return Source("MAPIE", "scikit-learn-contrib/MAPIE", path, commit)


VERSION = "MAPIE 1.6.0"
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

FULL_MASS = rs.Aps(randomized=False)
X_TOY = np.arange(9).reshape(-1, 1)
Y_TOY = (0, 0, 1, 0, 1, 1, 2, 1, 2)
Y_BINARY = (0, 0, 1, 0, 1, 1, 0, 1, 1)
TOY_TEST = "test_toy_dataset_predictions"
TOY_BINARY_TEST = "test_toy_binary_dataset_predictions"
CUMULATED = "test_cumulated_scores"
CALIBRATION = ((0.4, 0.5, 0.1), (0.2, 0.6, 0.2), (0.6, 0.3, 0.1))
CALIBRATION_SCORES = (0.750183952461055, 0.029571416154050345, 0.9268006058188594)
DRAWS = tuple(np.random.RandomState(42).uniform(size=9).tolist())


@dataclass(frozen=True)
class Toy:
    """The peer's 9 rows, and a logistic regression fitted on all of them or on a part."""

    labels: tuple[int, ...]
    calibrating: float = 1.0
    """The share of rows that calibrate; below 1 the model is fitted on the others."""

    @cached_property
    def rows(self):
        """Which rows calibrate."""
        return self._split[1]

    @cached_property
    def probs(self):
        train = self._split[0]
        return LogisticRegression().fit(X_TOY[train], self.answers[train]).predict_proba(X_TOY)

    @cached_property
    def answers(self):
        return np.array(self.labels)

    @cached_property
    def _split(self):
        everybody = np.arange(len(X_TOY))
        cut = ShuffleSplit(n_splits=1, test_size=0.5, random_state=42).split(X_TOY)
        return (everybody, everybody) if self.calibrating == 1 else next(cut)


ALL_ROWS, HALF = Toy(Y_TOY), Toy(Y_TOY, 0.5)
BINARY, BINARY_HALF = Toy(Y_BINARY), Toy(Y_BINARY, 0.5)


def toy_sets(score, alpha, toy):
    """The sets of all 9 rows, and their coverage."""
    rule = rs.calibrate(toy.probs[toy.rows], toy.answers[toy.rows], score=score)
    sets = rule.predict(toy.probs, alpha)
    return (*asking.labels_of(sets), float(sets.covers(toy.answers).mean()))


def toy_sets_at_the_higher_quantile(score, alpha, toy):
    """The same at the level whose position is that of the peer's quantile."""
    n = len(toy.rows)
    return toy_sets(score, 1 - Fraction(conventions.higher_position(n, alpha), n + 1), toy)


def toy_aps_sets(keep, score, alpha, toy):
    """The threshold from keys with draws, ``keep`` of it from full masses, and their coverage."""
    draws = DRAWS[: len(toy.rows)]
    own = conventions.draws_from_above(rs.Aps(), toy.probs[toy.rows], toy.answers[toy.rows], draws)
    sets = keep(score, toy.probs, conventions.at_position(own, conventions.higher_position(len(own), alpha)))
    return (*sets, float(np.mean([label in kept for kept, label in zip(sets, toy.labels, strict=True)])))


def without_the_crossing(score, probs, quantile):
    """Labels whose keys are at most ``quantile``; the likeliest where there is none."""
    rule = asking.rule_below(score, quantile, probs.shape[1])
    return asking.labels_of(rule.predict(probs, asking.HALF, empty="top"))


def toy_masses(toy):
    """The mass up to and with the true label, and the rank of the true label."""
    scores = (FULL_MASS, rs.TopK())
    return tuple(key for score in scores for key in asking.keys(score, toy.probs, toy.labels))


def expected_masses(toy):
    """What the peer's test adds up."""
    terms = ((0,), (0,), (0, 1), (0, 1), (1,), (1,), (1, 2), (1, 2), (2,))
    return tuple(float(toy.probs[row, list(columns)].sum()) for row, columns in enumerate(terms))


def large_coverage(score):
    x, y = make_classification(n_samples=500, n_features=10, n_informative=3, n_classes=4, random_state=42)
    probs = LogisticRegression().fit(x, y).predict_proba(x)
    return (float(rs.calibrate(probs, y, score=score).predict(probs, 0.2).covers(y).mean()),)


TOP_TWO = (*((0, 1),) * 5, *((1, 2),) * 4, 1.0)
MOST_LIKELY = ((0,), (0,), (0,), (1,), (1,), (1,), (1,), (2,), (2,), 5 / 9)
LAC = ((0,), (0,), (0,), (1,), (1,), (1,), (1,), (1, 2), (2,), 6 / 9)
LAC_HERE = ((0,), (0,), (), (), (1,), (1,), (), (), (2,), 5 / 9)
LAC_SPLIT = (*((0, 1),) * 5, (1, 2), (2,), (2,), (2,), 8 / 9)
LAC_SPLIT_HERE = ((1,), (0, 1), (0, 1), (0, 1), (1,), (1, 2), (2,), (2,), (2,), 7 / 9)
LAC_BINARY = ((0,), (0,), (0,), (), (1,), (1,), (1,), (1,), (1,), 6 / 9)
LAC_BINARY_HERE = ((0,), (0,), (), (), (), (1,), (1,), (1,), (1,), 5 / 9)
LAC_BINARY_SPLIT = (*((0, 1),) * 8, (0,), 8 / 9)
LAC_BINARY_SPLIT_HERE = ((1,), *((0, 1),) * 7, (0,), 7 / 9)
APS = ((0,), (0,), (0, 1), (0, 1), (1,), (1,), (1, 2), (1, 2), (2,), 1.0)
APS_SPLIT = (*((0, 1),) * 4, (0, 1, 2), (0, 1, 2), (1, 2), (2,), (2,), 8 / 9)
APS_HERE = ((1,), (1,), (1,), (0, 1), (0, 1), (1, 2), (1, 2), (1, 2), (2,), 7 / 9)
APS_WITHOUT_SPLIT = ((1,), (1,), (1,), (1,), (0, 1), (1, 2), (2,), (2,), (2,), 5 / 9)


def toy_case(strategy, toy, score, theirs, **explained):
    told = f", {VERSION}" if "run" in explained else ""
    what = f"{strategy}: sets of 9 rows and their coverage at α = 0.5{told}"
    test = TOY_TEST if max(toy.labels) == 2 else TOY_BINARY_TEST
    inputs = {"score": score, "alpha": 0.5, "toy": toy}
    return Case(CLASSIFICATION, test, what, theirs, toy_sets, inputs, **explained)


def higher(ours):
    return {"reason": conventions.HIGHER, "ours": ours, "follow": toy_sets_at_the_higher_quantile}


def mixed(ours, keep):
    return {"reason": conventions.MIXED, "ours": ours, "follow": partial(toy_aps_sets, keep)}


def crossing_case(test, probs, theirs, ours):
    return Case(
        CLASSIFICATION,
        test,
        "APS's sets below 0.750",
        theirs,
        asking.sets_below,
        {"score": FULL_MASS, "probs": probs, "quantile": CALIBRATION_SCORES[0]},
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
    toy_case("lac", ALL_ROWS, rs.Thr(), LAC, **higher(LAC_HERE)),
    toy_case("lac_split", HALF, rs.Thr(), LAC_SPLIT, **higher(LAC_SPLIT_HERE)),
    toy_case("lac, two classes", BINARY, rs.Thr(), LAC_BINARY, **higher(LAC_BINARY_HERE)),
    toy_case("lac_split, two classes", BINARY_HALF, rs.Thr(), LAC_BINARY_SPLIT, **higher(LAC_BINARY_SPLIT_HERE)),
    toy_case("top_k", ALL_ROWS, rs.TopK(), TOP_TWO, **higher(MOST_LIKELY)),
    toy_case("top_k_split", HALF, rs.TopK(), TOP_TWO),
    toy_case("lac", ALL_ROWS, rs.Thr(), LAC_HERE, run=VERSION),
    toy_case("lac_split", HALF, rs.Thr(), LAC_SPLIT_HERE, run=VERSION),
    toy_case("lac, two classes", BINARY, rs.Thr(), LAC_BINARY_HERE, run=VERSION),
    toy_case("lac_split, two classes", BINARY_HALF, rs.Thr(), LAC_BINARY_SPLIT_HERE, run=VERSION),
    toy_case("top_k", ALL_ROWS, rs.TopK(), MOST_LIKELY, run=VERSION),
    toy_case("aps_not_include", ALL_ROWS, FULL_MASS, MOST_LIKELY),
    toy_case("aps_include", ALL_ROWS, FULL_MASS, APS, **mixed(MOST_LIKELY, conventions.up_to_the_crossing)),
    toy_case("aps_include_split", HALF, FULL_MASS, APS_SPLIT, **mixed(APS_HERE, conventions.up_to_the_crossing)),
    toy_case("aps_not_include_split", HALF, FULL_MASS, APS_WITHOUT_SPLIT, **mixed(APS_HERE, without_the_crossing)),
    *(
        Case(
            CLASSIFICATION,
            LARGE,
            f"{strategy}: coverage of 500 rows at α = 0.2",
            (theirs,),
            large_coverage,
            {"score": score},
            tolerance=tolerance,
        )
        for strategy, score, theirs, tolerance in (("lac", rs.Thr(), 0.802, 1e-9), ("top_k", rs.TopK(), 0.96, 0.005))
    ),
    Case(
        SCORE_SETS,
        "test_get_true_label_cumsum_proba_result",
        "mass up to the true label in 9 rows, and its rank",
        (*expected_masses(ALL_ROWS), 1, 1, 2, 2, 1, 1, 2, 2, 1),
        toy_masses,
        {"toy": ALL_ROWS},
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
            theirs="an error",
            reason=conventions.REFUSED,
            ours=(False,),
            follow=conventions.refused,
        )
        for alpha in (0.05, 0.07)
    ),
    Case(
        METRICS, "test_classification_toydata", "coverage", (0.8,), asking.coverage, {"mask": MASK, "labels": Y_CLASS}
    ),
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
