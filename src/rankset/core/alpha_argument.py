"""``takes_alpha``: what functions with an argument ``alpha`` say to users who think of confidence instead."""

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import wraps
from types import FrameType
from typing import ParamSpec, TypeVar

from rankset.core.alpha import exact_alpha
from rankset.errors import KindError, LevelError, Option, warn

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

SUCCESS_WORDS = frozenset({"confidence", "confidence_level", "conf", "coverage", "coverage_level", "target_coverage"})
"""Words of other libraries for 1 - alpha."""
ERROR_WORDS = frozenset({"significance", "significance_level", "error_rate", "miscoverage", "epsilon"})
"""Words of other libraries for alpha."""
EITHER_WORDS = frozenset({"level"})
"""Words that mean one or the other: a value above 0.5 is taken for 1 - alpha."""
WORDS = SUCCESS_WORDS | ERROR_WORDS | EITHER_WORDS
HALF = Fraction(1, 2)
FAR = 10**6
"""Place of an argument that cannot be passed by its place."""


def takes_alpha(function: Callable[P, R]) -> Callable[P, R]:
    """Return ``function``, an entry point with an argument ``alpha``, with two answers to frequent mistakes.

    A word of other libraries, such as ``confidence=0.95``, raises a ``KindError`` (a TypeError) that names the alpha to
    pass. An alpha above 0.5 gives a warning, but only if users call the function: a call from inside rankset does not
    warn, so each call of a user warns once, and grids of alphas made by rankset do not warn.
    """
    parameters = inspect.signature(function).parameters
    words = WORDS.difference(parameters)
    several = "Alphas" in str(parameters["alpha"].annotation)
    place = list(parameters).index("alpha") if parameters["alpha"].kind != inspect.Parameter.KEYWORD_ONLY else FAR
    default = parameters["alpha"].default
    beside = "confidence" in parameters and default is not None
    name = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        if kwargs and not words.isdisjoint(kwargs):
            raise _refusal(name, words, kwargs, has_alpha="alpha" in kwargs or len(args) > place)
        alpha = kwargs["alpha"] if "alpha" in kwargs else args[place] if len(args) > place else default
        if alpha is inspect.Parameter.empty or (beside and len(args) <= place and _only_confidence(kwargs)):
            _check_complete(name, parameters, kwargs)
        if (type(alpha) is not float or alpha > 0.5) and alpha is not None and _is_users(sys._getframe(1)):
            for one in _each(alpha) if several else [alpha]:
                warn_of_confidence(one)
        return function(*args, **kwargs)

    return checked


def _only_confidence(given: Mapping[str, object]) -> bool:
    """Return whether a confidence is passed by name and alpha is not."""
    return given.get("confidence") is not None and "alpha" not in given


def _check_complete(name: str, parameters: Mapping[str, inspect.Parameter], given: Mapping[str, object]) -> None:
    """Raise the error for a call without alpha, unless something else is wrong with the call, too."""
    if not set(given) <= set(parameters):
        return
    if "confidence" in given:
        raise KindError.alpha_missing_beside(name, given["confidence"], alpha_meant("confidence", given["confidence"]))
    raise KindError.alpha_missing(name)


def _each(alpha: object) -> Iterable[object]:
    """Return each of several alphas, or the only one. An iterator is left alone, because it can be read only once."""
    return alpha if isinstance(alpha, list | tuple) or getattr(alpha, "ndim", 0) == 1 else [alpha]  # type: ignore[return-value]


def class_takes_alpha(kind: type[T]) -> type[T]:
    """Return the class ``kind``, whose ``__init__`` has an argument ``alpha``, after ``takes_alpha`` of its
    ``__init__``."""
    kind.__init__ = takes_alpha(kind.__init__)  # type: ignore[method-assign]
    return kind


def warn_of_confidence(alpha: object) -> None:
    """Warn if ``alpha`` is above 0.5: it is probably a confidence. Invalid values are left to ``exact_alpha``."""
    try:
        exact = exact_alpha(alpha)  # type: ignore[arg-type]
    except LevelError:
        return
    if exact > HALF:
        share = f"{float(100 * exact):.6g}%"
        warn(
            "alpha is the allowed error rate: ",
            Option("alpha", float(exact)),
            f" lets the sets miss the true label in {share} of rows. Did you mean ",
            Option("alpha", float(1 - exact)),
            "?",
        )


def alpha_meant(word: str, value: object) -> float | None:
    """Return the alpha that ``word=value`` means, such as 0.05 for confidence=0.95; None if ``value`` is no level."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    share = number / 100 if 1 < number < 100 else number
    if not 0 < share < 1:
        return None
    is_error = word in ERROR_WORDS or (word in EITHER_WORDS and share <= 0.5)
    return round(share if is_error else 1 - share, 12)


def refuse_alpha(function: str, method: str, given: Mapping[str, object]) -> None:
    """Raise an error if alpha, or a word of other libraries for it, is passed to ``function`` instead of ``method``."""
    for word in given:
        if word == "alpha" or word in WORDS:
            meant = alpha_meant("significance" if word == "alpha" else word, given[word])
            raise KindError.alpha_belongs_to(method, function, word, given[word], meant)


def _refusal(function: str, words: frozenset[str], given: Mapping[str, object], *, has_alpha: bool) -> KindError:
    """Return the error for a call with a word of other libraries."""
    word = next(name for name in given if name in words)
    if function == "calibrate" and "auto" not in (given.get("method"), given.get("score")):
        return KindError.alpha_belongs_to("predict", function, word, given[word], alpha_meant(word, given[word]))
    meant = alpha_meant(word, given[word])
    if word == "confidence" and has_alpha:
        return KindError.confidence_elsewhere(function, given[word], meant)
    return KindError.not_alpha(function, word, given[word], meant)


def _is_users(frame: FrameType) -> bool:
    """Return whether a frame runs code outside rankset."""
    return not frame.f_globals.get("__name__", "").startswith("rankset.")
