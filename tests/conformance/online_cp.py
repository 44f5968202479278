"""Numbers of online-cp's tests and docstrings."""

from functools import partial

import numpy as np

from conformance import asking, conventions
from conformance.cases import Case, Source


def source(path, commit):
    return Source("online-cp", "egonmedhatten/online-cp", path, commit)


METRICS = source("tests/test_metrics.py", "42e69013298d95afd48c2fc7ff5ccd50cbcb34bb")
CLASSIFIERS = source("tests/test_classifiers.py", "0f644c967561a633799d426138ef2b1fc805a832")
DOCSTRING = source("src/online_cp/classifiers.py", "0e9b90388d561885999ea124aec68fbfa4a7fb84")
PROPERTIES = source("tests/test_properties.py", "0ebe6c353d77a71108f4747831bbd60a4180dd0d")
SETS = source("tests/test_prediction_set.py", "440e83af6498cd8ef66ff7fc0d081fad930e2596")

ALL, WITHOUT_1, ONLY_1, ONLY_0, NONE = (1, 1, 1), (1, 0, 1), (0, 1, 0), (1, 0, 0), (0, 0, 0)
RUN = {"mask": (ONLY_1, ONLY_0, ONLY_1), "labels": (1, 1, 1)}
SECOND_DRAW = np.random.default_rng(1337).uniform(size=2)[1]


def one(test, what, mask, theirs, ask):
    return Case(METRICS, test, what, (theirs,), ask, {"mask": (mask,), "labels": (1,)})


CASES = (
    one("TestErrorRate.test_no_error_when_y_in_gamma", "miss rate", ALL, 0.0, asking.miss_rate),
    one("TestErrorRate.test_error_when_y_not_in_gamma", "miss rate", WITHOUT_1, 1.0, asking.miss_rate),
    Case(METRICS, "TestErrorRate.test_running_mean", "miss rate of 3 rows", (1 / 3,), asking.miss_rate, RUN),
    Case(METRICS, "TestErrorRate.test_values_history", "misses row by row", (0, 1, 0), asking.misses, RUN),
    one("TestObservedExcess.test_no_excess_when_singleton", "wrong labels", ONLY_1, 0, asking.wrong_labels),
    one("TestObservedExcess.test_excess_when_multiple_labels", "wrong labels", ALL, 2, asking.wrong_labels),
    one("TestObservedExcess.test_excess_when_y_not_in_gamma", "wrong labels", WITHOUT_1, 2, asking.wrong_labels),
    Case(METRICS, "TestSetSize.test_size", "mean size of one set", (3.0,), asking.mean_size, {"mask": (ALL,)}),
    Case(METRICS, "TestSetSize.test_empty_set", "mean size of one set", (0.0,), asking.mean_size, {"mask": (NONE,)}),
    Case(
        SETS,
        "test_discrete_membership_invariant",
        "misses of labels 0 to 9, of the set 0, 2, 5, 7",
        (0, 1, 0, 1, 1, 0, 1, 0, 1, 1),
        asking.misses,
        {"mask": ((1, 0, 1, 0, 0, 1, 0, 1, 0, 0),) * 10, "labels": tuple(range(10))},
    ),
    Case(
        CLASSIFIERS,
        "TestConformalClassifierWrapper.test_empty_training_predicts_all_labels",
        "p-values and set without calibration rows, 2 labels",
        (1.0, 1.0, (0, 1)),
        asking.sets_without_calibration,
        {"n_labels": 2},
    ),
    Case(
        CLASSIFIERS,
        "TestConformalNearestNeighboursClassifier.test_first_prediction_includes_all_labels",
        "set without calibration rows, 3 labels",
        ((0, 1, 2),),
        lambda n_labels: asking.sets_without_calibration(n_labels)[-1:],
        {"n_labels": 3},
    ),
    Case(
        DOCSTRING,
        "ConformalNearestNeighboursClassifier (docstring)",
        "p-values of two labels as strange as the one row before",
        (0.18552796163759344, 0.18552796163759344),
        asking.p_values,
        {"calibration": (0.0,), "values": ((0.0, 0.0),)},
        reason=conventions.SMOOTHED,
        ours=(1.0, 1.0),
        follow=partial(conventions.smoothed, taus=(SECOND_DRAW, SECOND_DRAW)),
    ),
    Case(
        PROPERTIES,
        "test_minimum_training_set_one_sided",
        "fewest rows at ε = 0.5, 0.2, 0.1, 0.05, 0.01",
        (2, 5, 10, 20, 100),
        asking.rows_needed,
        {"alphas": (0.5, 0.2, 0.1, 0.05, 0.01)},
        reason=conventions.ONE_MORE,
        ours=(1, 4, 9, 19, 99),
        follow=conventions.all_rows_needed,
    ),
)
