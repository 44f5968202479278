"""Confidence instead of alpha: functions with alpha warn above 0.5, and explain words of other libraries."""

import importlib
import inspect
import warnings
from fractions import Fraction

import numpy as np
import pytest

import rankset as rs
from entry_points import LABELS, PROBS, N, by_group
from rankset.core.alpha_argument import WORDS, alpha_meant
from rankset.errors import KindError
from refusals import refused

RULE = rs.calibrate(PROBS, LABELS)
SETS = RULE.predict(PROBS, 0.1)
DONE = rs.triage(PROBS, LABELS).accept(PROBS, 0.9)
X = np.random.default_rng(4).normal(size=(N, 2))
MODEL = rs.ConformalClassifier(random_state=0).fit(X, LABELS)
FOLDS = rs.CrossRule((RULE, rs.calibrate(PROBS[::-1], LABELS[::-1])))

CALLS = {
    "at": RULE.at,
    "predict": lambda alpha, **words: RULE.predict(PROBS, alpha, **words),
    "predict by name": lambda alpha, **words: RULE.predict(PROBS, alpha=alpha, **words),
    "predict_parts": lambda alpha, **words: list(RULE.predict_parts(PROBS, alpha, rows=7, **words)),
    "expected_size": lambda alpha, **words: RULE.expected_size(PROBS, alpha, **words),
    "threshold": RULE.threshold,
    "coverage_band": RULE.coverage_band,
    "rank_profile": RULE.rank_profile,
    "describe": RULE.describe,
    "describe groups": by_group().describe,
    "from_mask": lambda alpha, **words: rs.PredictionSets.from_mask([[True, False]], alpha=alpha, **words),
    "review": lambda alpha, **words: DONE.review(RULE, alpha, **words),
    "evaluate": lambda alpha, **words: rs.evaluate(SETS, LABELS, alpha, **words),
    "auto": lambda alpha, **words: rs.auto(PROBS, LABELS, alpha, **words),
    "compare": lambda alpha, **words: rs.compare(PROBS, LABELS, alpha, repeats=2, **words),
    "choose": lambda alpha, **words: rs.choose([rs.Rank(), rs.Thr()], PROBS, LABELS, alpha, repeats=2, **words),
    "predict_set": lambda alpha, **words: MODEL.predict_set(X, alpha, **words),
    "folds predict": lambda alpha, **words: FOLDS.predict([PROBS, PROBS], alpha, **words),
    "folds guarantee": FOLDS.guarantee,
    "Choice": lambda alpha, **words: rs.Choice([rs.Rank()], alpha, **words),
    "Coverage": rs.Coverage,
    "SetSize": rs.SetSize,
    "RankDisplay rule": lambda alpha, **words: rs.RankDisplay.from_rule(RULE, alpha, **words),
    "RankDisplay rows": lambda alpha, **words: rs.RankDisplay.from_predictions(PROBS, LABELS, alpha, **words),
    "ClassCoverageDisplay": lambda alpha, **words: rs.ClassCoverageDisplay.from_predictions(
        SETS, LABELS, alpha=alpha, **words
    ),
    "printed_rule": lambda alpha, **words: rs.paper.printed_rule(PROBS, LABELS, alpha, **words),
    "study_rules": lambda alpha, **words: rs.reports.study_rules([RULE], PROBS, LABELS, alpha=alpha, **words),
    "study_scores": lambda alpha, **words: rs.reports.study_scores(
        PROBS, LABELS, PROBS, LABELS, candidates=[rs.Rank()], alpha=alpha, **words
    ),
}
OWN_CONFIDENCE = {
    "coverage_band",
    "evaluate",
    "ClassCoverageDisplay",
    "at",
    "predict",
    "predict by name",
    "predict_parts",
    "predict_set",
    "review",
    "describe",
    "describe groups",
}
"""Functions with an argument ``confidence`` of another meaning."""

every_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    importlib.import_module("matplotlib.pyplot").close("all")


@every_call
def test_an_alpha_above_one_half_warns_once_per_call_and_names_the_alpha_that_was_meant(call):
    with pytest.warns(rs.RanksetWarning) as caught:
        call(0.95)
    told = [str(one.message) for one in caught if "allowed error rate" in str(one.message)]
    assert len(told) == 1
    assert told[0].endswith("alpha=0.95 lets the sets miss the true label in 95% of rows. Did you mean alpha=0.05?")
    assert next(one for one in caught if "allowed error" in str(one.message)).filename == __file__


@every_call
@pytest.mark.parametrize("alpha", [0.1, 0.5, "0.5", Fraction(1, 2)])
def test_an_alpha_of_at_most_one_half_does_not_warn(call, alpha):
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "alpha is the allowed error rate")
        call(alpha)


@every_call
@pytest.mark.parametrize("word", sorted(WORDS - {"confidence"}))
def test_words_of_other_libraries_are_explained(call, word):
    with refused(KindError) as caught:
        call(0.1, **{word: 0.95})
    assert isinstance(caught.value, TypeError)
    assert "rankset takes alpha, the allowed error rate: pass alpha=" in str(caught.value)


@pytest.mark.parametrize("name", sorted(set(CALLS) - OWN_CONFIDENCE))
def test_confidence_is_explained(name):
    with pytest.raises(KindError, match=r"without a confidence beside alpha, got confidence 0\.95\.") as caught:
        CALLS[name](0.1, confidence=0.95)
    assert "pass alpha=0.05 only" in str(caught.value)
    assert "rule.at(alpha, confidence=0.95)" in str(caught.value)


def test_predict_without_alpha_explains_confidence():
    with refused(KindError.alpha_missing_beside("predict", 0.95, 0.05)):
        RULE.predict(PROBS, confidence=0.95)
    with refused(KindError.alpha_missing_beside("predict_set", 0.95, 0.05)):  # although alpha has a default there
        MODEL.predict_set(X, confidence=0.95)
    with pytest.raises(TypeError, match="unexpected keyword argument 'alfa'"):
        RULE.predict(PROBS, alfa=0.95)


@pytest.mark.parametrize(
    ("word", "value", "alpha"),
    [
        ("confidence", 0.95, 0.05),
        ("confidence_level", "0.9", 0.1),
        ("coverage", 95, 0.05),
        ("significance", 0.05, 0.05),
        ("significance_level", 5, 0.05),
        ("level", 0.9, 0.1),
        ("level", 0.1, 0.1),
        ("confidence", 1, None),
        ("confidence", "high", None),
        ("confidence", None, None),
        ("confidence", float("nan"), None),
    ],
)
def test_the_alpha_that_a_word_means(word, value, alpha):
    assert alpha_meant(word, value) == alpha


def test_grids_that_the_library_makes_do_not_warn():
    rs.CoverageDisplay.from_rule(RULE, PROBS, LABELS, alphas=[0.1, 0.9])
    rs.SizeDisplay.from_rule(RULE, PROBS, LABELS, alphas=[0.1, 0.9])
    rs.reports.study_rules([RULE], PROBS, LABELS)
    repr(RULE), RULE._repr_html_()


@pytest.mark.parametrize("alpha", [0, 1, 2, "x", None, float("nan"), np.array([0.9, 0.8])])
def test_invalid_alphas_are_refused_without_a_warning(alpha):
    with pytest.raises((rs.RanksetError, TypeError)):
        RULE.predict(PROBS, alpha)


LOOKUPS = [
    "Comparisons.get",
    *(f"rankset.paper.Numbers.{name}" for name in ("mean", "sd", "z")),
    *(f"rankset.paper.Results.{name}" for name in ("mean", "of")),
    "rankset.paper.table_1",
    "rankset.engines.shards.PredictionTask.of",
]
"""Functions that find results of an experiment by its alpha, and one that users do not call."""


def public_functions():
    """All public functions and methods with an argument ``alpha``, by name."""
    modules = [rs.paper, rs.reports, importlib.import_module("rankset.engines.shards")]
    owners = {name: getattr(rs, name) for name in dir(rs) if name not in ("torch", "engines")}
    for module in modules:
        owners |= {f"{module.__name__}.{name}": getattr(module, name) for name in dir(module) if name[0] != "_"}
    for name, owner in owners.items():
        if inspect.isclass(owner) and owner.__module__.startswith("rankset"):
            yield from ((f"{name}.{one}", found) for one, found in inspect.getmembers(owner) if one[0] != "_")
        elif callable(owner):
            yield name, owner


def test_every_public_function_with_alpha_answers_these_mistakes():
    found, missing = [], []
    for name, function in public_functions():
        plain = getattr(function, "__func__", function)
        if not inspect.isfunction(plain) or not plain.__module__.startswith("rankset"):
            continue
        if "alpha" in inspect.signature(plain).parameters:
            found.append(name)
            if plain.__code__.co_name != "checked":
                missing.append(name)
    assert missing == LOOKUPS
    assert {"Rule.predict", "Rule.describe", "auto", "compare", "RankDisplay.from_rule"} <= set(found)


def test_calibrate_and_classifiers_say_where_alpha_belongs():
    with refused(KindError.alpha_belongs_to("predict", "calibrate", "confidence", 0.95, 0.05)) as caught:
        rs.calibrate(PROBS, LABELS, confidence=0.95)
    assert "belongs to predict: call predict with alpha=0.05." in str(caught.value)
    with refused(KindError.not_alpha("calibrate", "confidence", 0.95, 0.05)):
        rs.calibrate(PROBS, LABELS, method="auto", confidence=0.95)
    for given in ({"alpha": 0.05}, {"confidence": 0.95}, {"significance": "0.05"}):
        with pytest.raises(KindError, match=r"belongs to predict_set: call predict_set with alpha=0\.05\."):
            rs.ConformalClassifier(**given)


def test_a_forgotten_alpha_names_no_internal_class():
    for call in (lambda: RULE.predict(PROBS), RULE.coverage_band, lambda: FOLDS.predict([PROBS] * 2)):
        with pytest.raises(KindError, match=r"^(predict|coverage_band) must be called with alpha, got no") as caught:
            call()
        assert "alpha=0.05 for 95% coverage" in str(caught.value)
        assert isinstance(caught.value, TypeError)
