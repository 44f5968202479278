"""What to check if coverage is outside the range that sampling variation explains."""

TOO_LOW = (
    "Was the model, or what stands before it, trained or tuned on the calibration rows?",
    "Do these rows come from another source, time or population than the calibration rows?",
    "Are labels in the order of the rows, and columns in the order of the classes?",
    "Are the scores of both the same kind (probs, logits), from the same model in evaluation mode?",
)
"""Questions if coverage is too low; a yes to the first two or a no to the others explains it."""
TOO_HIGH = (
    "Are these rows among those on which the model was trained, or among the calibration rows?",
    "Are these rows easier than the calibration rows, or from another source?",
)
"""Questions if coverage is too high; a yes explains it. Ties are no reason: they make the range end at 1."""
BOTH = ("Do many rows repeat others (copies, several rows of one person)? Then the range is wider than shown.",)


def what_to_check(*, too_low: bool, confidence: float) -> list[str]:
    """Return lines that say what to check, by the direction in which coverage is outside of its range."""
    side, questions = ("too low", TOO_LOW) if too_low else ("too high", TOO_HIGH)
    chance = f"{(1 - confidence) / 2:.2g}"
    first = f"coverage is {side}; chance alone does that in {chance} of all calibrations. Check:"
    return [first, *(f"- {question}" for question in (*questions, *BOTH))]
