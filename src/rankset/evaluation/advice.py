"""What to check if coverage is outside the range that sampling variation explains."""

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


def what_to_check(*, too_low: bool, confidence: float) -> list[str]:
    """Return lines that say what to check, by the side on which coverage is outside of its range."""
    side, questions = ("too low", TOO_LOW) if too_low else ("too high", TOO_HIGH)
    first = f"Coverage is {side}. Chance alone does this in at most {(1 - confidence) / 2:.2g} of cases. Check:"
    return [first, *(f"- {question}" for question in (*questions, *BOTH))]
