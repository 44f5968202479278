"""``rows_needed``: how many calibration rows a promise needs."""

from __future__ import annotations

from rankset.core.alpha import Alpha
from rankset.core.alpha_argument import takes_alpha
from rankset.core.promise_argument import promise_of
from rankset.targets import Cost, OneLabel, Recall, Target, checked_target


@takes_alpha
def rows_needed(
    alpha: Alpha,
    confidence: Alpha | None = None,
    *,
    next_rows: int | None = None,
    target: Target | str = OneLabel(),  # noqa: B008
) -> int:
    """Return the smallest number of calibration rows with which sets can leave labels out.

    With fewer rows, every set must contain all labels to keep the promise. With a condition, every group needs so many
    rows.

    Parameters
    ----------
    alpha
        The allowed error rate, strictly between 0 and 1.
    confidence
        Probability that the promise holds for one calibration, as in ``Rule.predict``. By default the promise is about
        the mean over calibrations.
    next_rows
        As in ``Rule.predict``.
    target
        The target, as in ``calibrate``.

    Returns
    -------
    int

    Raises
    ------
    LevelError
        If ``alpha`` is not strictly between 0 and 1.
    KindError
        If ``confidence`` is not strictly between 0 and 1.

    Examples
    --------
    >>> import rankset as rs
    >>> rs.rows_needed(0.1), rs.rows_needed(0.1, confidence=0.95), rs.rows_needed(0.01, 0.99)
    (9, 29, 459)
    """
    shares = isinstance(checked_target(target), Recall | Cost)
    return promise_of(alpha, confidence, next_rows, shares=shares).rows_needed
