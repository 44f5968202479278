"""What to check if coverage is outside the range that sampling variation explains."""

from collections.abc import Sequence

TOO_LOW = (
    "Was the model trained or tuned on the calibration rows?",
    "Do these rows come from another source or time than the calibration rows?",
    "Are labels in another order than the rows, or columns in another order than the classes?",
    "Are the scores of another kind (probs, logits) than the kind that was passed?",
)
"""Reasons for low coverage."""
TOO_HIGH = (
    "Was the model trained on these rows, or are they among the calibration rows?",
    "Are these rows easier than the calibration rows, or from another source?",
    "Were the calibration labels in another order than their rows? Then sets are large.",
)
"""Reasons for high coverage. Ties are none: with ties the range ends at 1."""
BOTH = ("Do rows repeat others (copies, several rows of one person)? Then chance varies more than this.",)


SEVERAL_TOO_LOW = (
    *TOO_LOW[:3],
    "Are the scores of another kind (marginals, marginal_logits) than the kind that was passed?",
    "Do these rows have more labels than the calibration rows, or were they labelled by others?",
)
"""Reasons for which sets miss more of the labels of a row than promised."""
SEVERAL_TOO_HIGH = (
    *TOO_HIGH,
    "Do these rows have fewer labels than the calibration rows, or were they labelled by others?",
)
FALSE_TOO_LOW = (
    *SEVERAL_TOO_LOW[:4],
    "Are true labels of these rows not marked as such? A label that is not marked counts as false.",
)
"""Reasons for which sets contain more false labels than promised."""


def what_to_check(*, too_low: bool, confidence: float) -> list[str]:
    """Return lines that say what to check, by the side on which coverage is outside of its range."""
    return _lines("Coverage", TOO_LOW if too_low else TOO_HIGH, too_low=too_low, confidence=confidence)


def labels_to_check(*, too_low: bool, confidence: float, about_false_labels: bool) -> list[str]:
    """Do the same for rows that can have several labels, where what is promised was measured."""
    low = FALSE_TOO_LOW if about_false_labels else SEVERAL_TOO_LOW
    questions = low if too_low else SEVERAL_TOO_HIGH
    return _lines("The observed value", questions, too_low=too_low, confidence=confidence)


def _lines(what: str, questions: Sequence[str], *, too_low: bool, confidence: float) -> list[str]:
    side = "too low" if too_low else "too high"
    first = f"{what} is {side}. Chance alone does this in at most {(1 - confidence) / 2:.2g} of cases. Check:"
    return [first, *(f"- {question}" for question in (*questions, *BOTH))]
