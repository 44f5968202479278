"""The arguments ``confidence``, ``next_rows`` and ``all_groups`` of users, as a ``Promise``."""

from fractions import Fraction

from rankset.core.alpha import Alpha, exact_alpha
from rankset.core.arrays import is_whole
from rankset.core.promise import Promise
from rankset.errors import Either, KindError, LevelError, Option, warn

HALF = Fraction(1, 2)
MOST_NEXT_ROWS = 10**6
PARTS = Either(
    "None for targets that count parts of rows, such as Recall()",
    "left out for targets that count parts of rows, such as Recall()",
)


def promise_of(
    alpha: Alpha,
    confidence: Alpha | None = None,
    next_rows: int | None = None,
    *,
    all_groups: bool = False,
    n_groups: int = 1,
    shares: bool = False,
) -> Promise:
    """Return what users ask for; raise an error if the arguments do not fit together.

    ``n_groups`` is the number of groups of the rule; ``shares`` says whether a part of a row can be missed.
    """
    exact = exact_alpha(alpha)
    if confidence is None:
        if next_rows is not None or all_groups:
            raise KindError.confidence_missing("next_rows" if next_rows is not None else "all_groups")
        return Promise(exact)
    if next_rows is not None and (not is_whole(next_rows) or not 1 <= next_rows <= MOST_NEXT_ROWS):
        raise KindError.argument("next_rows", f"an integer from 1 to {MOST_NEXT_ROWS:,}, or None", next_rows)
    if not isinstance(all_groups, bool):
        raise KindError.argument("all_groups", "True or False", all_groups)
    if next_rows is not None and shares:
        raise KindError.argument("next_rows", PARTS, next_rows)
    rows = None if next_rows is None else int(next_rows)
    return Promise(exact, exact_confidence(confidence), rows, n_groups if all_groups else 1, shares)


def exact_confidence(confidence: Alpha) -> Fraction:
    """Return a confidence exactly as typed: 0.95 is 19/20."""
    try:
        exact = exact_alpha(confidence)
    except LevelError:
        raise KindError.argument("confidence", "a number strictly between 0 and 1, such as 0.95", confidence) from None
    if exact < HALF:
        warn(
            "confidence is the probability that the promise holds for this calibration: ",
            Option("confidence", float(exact)),
            " is low. Did you mean ",
            Option("confidence", float(1 - exact)),
            "?",
        )
    return exact
