"""The methods of four other libraries, and what to write in rankset for each: for peers_answers.py.

Each library is imported in an environment of its own, so imports stand where they are used.
"""

import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Rule = Callable[[Array], Array]
"""Probabilities (n, K) to sets, (n, K) booleans."""
Method = Callable[[Array, Array, float], Rule]
"""Probabilities, labels and alpha to a rule."""


def mapie() -> dict[str, Method]:
    from mapie.classification import SplitConformalClassifier
    from peers.mapie import HandsThrough

    def method(score: str, options: dict[str, Any]) -> Method:
        def calibrate(probs: Array, labels: Array, alpha: float) -> Rule:
            model = HandsThrough(probs.shape[1])
            rule = SplitConformalClassifier(model, confidence_level=1 - alpha, conformity_score=score, prefit=True)
            rule.conformalize(probs, labels)
            return lambda new: rule.predict_set(new, conformity_score_params=options)[1][:, :, 0]

        return calibrate

    drawn = {"include_last_label": "randomized"}
    methods = {score: method(score, {}) for score in ("lac", "aps")}
    return {
        **methods,
        "aps, randomized": method("aps", drawn),
        "raps": method("raps", {}),
        "top_k": method("top_k", {}),
    }


def torchcp() -> dict[str, Method]:
    import torch
    from peers.torchcp import SplitPredictor
    from torchcp.classification.predictor import ClassConditionalPredictor
    from torchcp.classification.score import APS, LAC, RAPS, SAPS

    def method(predictor: Any, score: Any, **options: Any) -> Method:  # noqa: ANN401
        def calibrate(probs: Array, labels: Array, alpha: float) -> Rule:
            rule = predictor(score_function=score(score_type="identity", **options), alpha=alpha)
            rule.calculate_threshold(torch.from_numpy(probs).float(), torch.from_numpy(labels))
            return lambda new: rule.predict_with_logits(torch.from_numpy(new).float()).numpy() == 1

        return calibrate

    return {
        "LAC": method(SplitPredictor, LAC),
        "APS": method(SplitPredictor, APS),
        "RAPS, 0.2, 2": method(SplitPredictor, RAPS, penalty=0.2, kreg=2),
        "SAPS, 0.2": method(SplitPredictor, SAPS, weight=0.2),
        "SAPS, 0.2, no draw": method(SplitPredictor, SAPS, weight=0.2, randomized=False),
        "LAC by class": method(ClassConditionalPredictor, LAC),
    }


def crepes() -> dict[str, Method]:
    from crepes import WrapClassifier
    from crepes.extras import hinge, margin

    def method(score: Any, *, smoothing: bool, by_class: bool = False) -> Method:  # noqa: ANN401
        def calibrate(probs: Array, labels: Array, alpha: float) -> Rule:
            rule = WrapClassifier(SimpleNamespace(classes_=np.arange(probs.shape[1]), predict_proba=lambda rows: rows))
            rule.calibrate(probs, labels, nc=score, class_cond=by_class)
            options = {"labels": False, "confidence": 1 - alpha, "smoothing": smoothing}
            return lambda new: rule.predict_set(new, **options) == 1

        return calibrate

    return {
        "hinge, no smoothing": method(hinge, smoothing=False),
        "hinge": method(hinge, smoothing=True),
        "margin, no smoothing": method(margin, smoothing=False),
        "hinge by class, no smoothing": method(hinge, smoothing=False, by_class=True),
    }


def puncc() -> dict[str, Method]:
    from deel.puncc.api.prediction import IdPredictor
    from deel.puncc.classification import APS, LAC, RAPS, ClasswiseLAC

    def method(kind: Any, **options: Any) -> Method:  # noqa: ANN401
        def calibrate(probs: Array, labels: Array, alpha: float) -> Rule:
            rule = kind(IdPredictor(), train=False, **options)
            rule.fit(X_calib=probs, y_calib=labels)
            return lambda new: mask(rule.predict(new, alpha=alpha)[1], new.shape[1])

        return calibrate

    def one_by_one(probs: Array, labels: Array, alpha: float) -> Rule:
        rule = method(APS)(probs, labels, alpha)
        return lambda new: np.concatenate([rule(new[i : i + 1]) for i in range(len(new))])

    methods = {"LAC": method(LAC), "APS": method(APS), "RAPS, 0.2, 2": method(RAPS, lambd=0.2, k_reg=2)}
    return {**methods, "APS, one row a call": one_by_one, "ClasswiseLAC": method(ClasswiseLAC)}


def mask(lists: list[list[int]], classes: int) -> Array:
    found = np.zeros((len(lists), classes), bool)
    for row, labels in zip(found, lists, strict=True):
        row[[int(label) for label in labels]] = True
    return found


PEERS: dict[str, Callable[[], dict[str, Method]]] = {
    "mapie": mapie,
    "torchcp": torchcp,
    "crepes": crepes,
    "puncc": puncc,
}


def ours(method: str) -> tuple[str, Method]:
    """What to write in rankset for a method of a peer, and the method."""
    import rankset as rs

    by_class = "class" in method.lower()
    scores = {
        ("lac", "hinge", "classwiselac"): ("Thr()", rs.Thr()),
        ("margin",): ("Margin()", rs.Margin()),
        ("top_k",): ("TopK()", rs.TopK()),
        ("aps",): ("Aps()", rs.Aps()),
        ("raps, 0.2, 2",): ("Raps(0.2, 2)", rs.Raps(0.2, 2)),
        ("raps",): ("Raps()", rs.Raps()),
        ("saps, 0.2, no draw",): ("Saps(0.2, randomized=False)", rs.Saps(0.2, randomized=False)),
        ("saps",): ("Saps(0.2)", rs.Saps(0.2)),
    }
    name, score = next(pair for starts, pair in scores.items() if method.lower().startswith(starts))

    def calibrate(probs: Array, labels: Array, alpha: float) -> Rule:
        condition = rs.PerLabel() if by_class else rs.Marginal()
        with warnings.catch_warnings(action="ignore", category=rs.RanksetWarning):
            rule = rs.calibrate(probs, labels, method=score, condition=condition)

        def predict(new: Array) -> Array:
            with warnings.catch_warnings(action="ignore", category=rs.RanksetWarning):
                return rule.predict(new, alpha=alpha).mask

        return predict

    return f"`{name}`, `PerLabel()`" if by_class else f"`{name}`", calibrate
