"""MAPIE: martingales on LAC scores, 1 - p(true label), and monitoring of the error rate; calibration rows come first.

The estimator hands through the probability of a true label, so that every score is the one of the other libraries.
"""

from collections.abc import Callable

import numpy as np
from mapie.classification import SplitConformalClassifier
from mapie.exchangeability_testing import OnlineMartingaleTest, RiskMonitoring
from numpy.typing import NDArray
from peers import DELTA, Floats, Keys
from sklearn.base import BaseEstimator, ClassifierMixin

PACKAGES = ("mapie",)
SLOW = {
    "OnlineMartingaleTest, plugin_martingale": {
        "degraded": 5,
        "equal accuracy": 5,
        "wrong labels": 5,
        "unchanged after 250": 6,
    }
}
"""One stream of 4,000 rows takes it more than a minute."""
AT_ONCE = 100
"""Rows after which it is asked whether there was an alarm: only then can a slow test end."""


class HandsThrough(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of two classes whose only feature is the probability of class 0, which is the true one."""

    def __init__(self) -> None:
        self.classes_, self.n_features_in_, self.is_fitted_ = np.arange(2), 1, True

    def fit(self, features: object, labels: object) -> "HandsThrough":  # noqa: ARG002
        return self

    def predict_proba(self, features: Floats) -> Floats:
        return np.column_stack([features[:, 0], 1 - features[:, 0]])

    def predict(self, features: Floats) -> NDArray[np.int64]:
        return self.predict_proba(features).argmax(axis=1)


def martingale(method: str) -> Callable[[Keys], int | None]:
    """The first row at which a martingale, which also bets while it is calibrated, is above 1 / delta."""

    def alarm(keys: Keys) -> int | None:
        model = SplitConformalClassifier(HandsThrough(), conformity_score="lac", prefit=True)
        test = OnlineMartingaleTest(
            model, task="classification", test_method=method, test_level=DELTA, warn=False, random_state=keys.seed
        )
        for start in range(0, len(keys.strange), AT_ONCE):
            part = 1 - keys.strange[start : start + AT_ONCE, np.newaxis]
            test.update(part, np.zeros(len(part), dtype=np.int64))
            if test.is_exchangeable is False:
                history = np.array(test.martingale_value_history)
                return int((history > test.reject_threshold).argmax()) - keys.calibration
        return None

    return alarm


def monitoring(keys: Keys) -> int | None:
    """The first row at which the lower bound of the error rate is above the tolerated one."""
    wrong = keys.wrong.astype(np.int64)
    old, new = wrong[: keys.calibration], wrong[keys.calibration :]
    monitor = RiskMonitoring("accuracy", test_level=DELTA, warn=False)
    monitor.compute_threshold(np.zeros_like(old), old)
    monitor.update(np.zeros_like(new), new)
    above = monitor.online_risk_lower_bound_sequence_history > monitor.threshold
    return int(above.argmax()) if above.any() else None


METHODS = {
    **{f"OnlineMartingaleTest, {method}": martingale(method) for method in ("jumper_martingale", "plugin_martingale")},
    'RiskMonitoring("accuracy")': monitoring,
}
