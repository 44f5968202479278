"""``labels``: how much more frequent each class is among new rows, whose labels are not known."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal

from numpy.typing import ArrayLike

from rankset import notebook
from rankset.conditions import LabelShift
from rankset.errors import KindError, warn
from rankset.inputs.matrix import Kind
from rankset.inputs.vocabulary import Name
from rankset.shift.features import NAMES
from rankset.shift.label_fit import LabelFit
from rankset.shift.rows_in import labelled_and_new

METHODS = ("em", "bbse")
RARELY = 0.001
"""How often a check fails by chance, about."""
HALF_NORMAL = math.sqrt(2 / math.pi)
"""Mean of the absolute value of a normal number with standard deviation 1."""
MOST_LINES = 30
"""Classes that are shown."""
HEAD = ("class", "share before", "share now", "factor", "standard error", "other estimate")
HEALS = "Weights do not heal a changed P(y|x): check coverage on some labelled new rows."
DISAGREE = f"EM and BBSE differ by more than chance: the outputs of a class may have changed. {HEALS}"
NO_MIX = (
    f"the outputs of new rows are not a mix of outputs of the labelled rows: this is not, or not only, a label shift. "
    f"{HEALS}"
)


@dataclass(frozen=True, repr=False)
class EstimatedLabelShift:
    """Shares of classes among new rows, estimated from outputs; made by ``rankset.shift.labels``.

    Attributes
    ----------
    classes : tuple
        Names of the classes, in column order.
    factors : tuple of float
        For each class, its share in new rows divided by its share in labelled rows. 1 for classes without labelled
        rows: nothing is known about them.
    errors : tuple of float
        Standard errors of the factors, from the chance in both labelled and new rows; NaN for classes without labelled
        rows.
    shares, source_shares : tuples of float
        Estimated shares of the classes in new rows, and their shares in labelled rows.
    method : str
        "em" or "bbse": which estimate ``factors`` are.
    others, other_errors : tuples of float
        Factors and standard errors by the other estimate, as a check.
    estimate_gap : float
        The largest difference of the two estimates, in units of its standard error.
    output_gap : float
        The largest difference between new rows and labelled rows with these factors as weights, in the means of the
        features of ``rankset.shift.covariate``, in units of its standard error.
    n_fit, n_target : int
        Number of labelled rows and of new rows.

    Examples
    --------
    >>> import numpy as np, rankset as rs
    >>> logits, labels = rs.datasets.load("agnews")
    >>> rare = np.isin(labels, [0, 1]) & (np.arange(len(labels)) % 5 > 0)     # four of five are missing in new rows
    >>> fit, calibration = np.arange(0, 1500), np.arange(1500, 3500)
    >>> target, new = np.split(np.flatnonzero(~rare)[np.flatnonzero(~rare) >= 3500], 2)
    >>> shift = rs.shift.labels(logits[fit], labels[fit], logits[target], kind="logits")
    >>> [round(factor, 1) for factor in shift.factors]
    [0.3, 0.3, 1.9, 1.6]
    >>> pooled = rs.Pooled(shift.condition)
    >>> rule = rs.calibrate(logits[calibration], labels[calibration], kind="logits", condition=pooled)
    >>> len(rule.predict(logits[new], alpha=0.1)) == len(new)
    True
    """

    classes: tuple[Name, ...]
    factors: tuple[float, ...]
    errors: tuple[float, ...]
    shares: tuple[float, ...]
    source_shares: tuple[float, ...]
    method: str
    others: tuple[float, ...]
    other_errors: tuple[float, ...]
    estimate_gap: float
    output_gap: float
    n_fit: int
    n_target: int

    @property
    def condition(self) -> LabelShift:
        """The condition for ``rankset.calibrate``: ``rankset.LabelShift(factors)``.

        Examples
        --------
        >>> import rankset as rs
        >>> logits, labels = rs.datasets.load("cifar10")
        >>> rs.shift.labels(logits[:1000], labels[:1000], logits[1000:3000], kind="logits").condition
        LabelShift(10 classes, factors from 0.8515 to 1.194)
        """
        return LabelShift(self.factors)

    @property
    def doubts(self) -> tuple[str, ...]:
        """Sentences about what speaks against a label shift; empty if chance explains all that is seen.

        Label shift means that rows of one class are as before. It cannot be seen from outputs whether labels still
        belong to the same outputs, so no doubts are no proof.

        Examples
        --------
        >>> import rankset as rs
        >>> logits, labels = rs.datasets.load("cifar10")
        >>> rs.shift.labels(logits[:1000], labels[:1000], logits[1000:3000], kind="logits").doubts
        ()
        """
        known = sum(share > 0 for share in self.source_shares)
        checks = ((self.estimate_gap, known, DISAGREE), (self.output_gap, len(NAMES), NO_MIX))
        return tuple(words for gap, count, words in checks if gap > NormalDist().inv_cdf(1 - RARELY / 2 / count))

    @property
    def effective_share(self) -> float:
        """Calibration rows are worth so much: this share of them, with equal weights.

        Examples
        --------
        >>> import rankset as rs
        >>> logits, labels = rs.datasets.load("cifar10")
        >>> round(rs.shift.labels(logits[:1000], labels[:1000], logits[1000:3000], kind="logits").effective_share, 2)
        0.99
        """
        pairs = list(zip(self.factors, self.source_shares, strict=True))
        return sum(f * s for f, s in pairs) ** 2 / sum(f * f * s for f, s in pairs)

    @property
    def coverage_loss(self) -> float:
        """Estimate of how much coverage can be lost by the chance in the factors: half of E|estimated - true factor|.

        Examples
        --------
        >>> import rankset as rs
        >>> logits, labels = rs.datasets.load("cifar10")
        >>> round(rs.shift.labels(logits[:1000], labels[:1000], logits[1000:3000], kind="logits").coverage_loss, 2)
        0.05
        """
        pairs = zip(self.errors, self.source_shares, strict=True)
        return sum(error * share for error, share in pairs if share > 0) * HALF_NORMAL / 2

    def __repr__(self) -> str:
        low, high = min(self.factors), max(self.factors)
        doubt = ", in doubt" if self.doubts else ""
        return (
            f"EstimatedLabelShift({self.method}, {len(self.classes):,} classes, factors from {low:.3g} to {high:.3g}, "
            f"effective share {self.effective_share:.2f}{doubt})"
        )

    def __str__(self) -> str:
        rows = [HEAD, *self._lines()]
        widths = [max(len(row[place]) for row in rows) for place in range(len(HEAD))]
        lines = ["  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join(["Estimated label shift", *lines, *self._notes()])

    def _repr_html_(self) -> str:
        notes = "".join(f"<div>{notebook.faint(note)}</div>" for note in self._notes())
        return notebook.card("Estimated label shift", notebook.table(self._lines(), HEAD), notes)

    def _lines(self) -> list[tuple[str, ...]]:
        """Return the classes that are shown, as texts: those whose factors are furthest from 1."""
        far = sorted(range(len(self.factors)), key=lambda place: -abs(math.log(max(self.factors[place], 1e-9))))
        shown = sorted(far[:MOST_LINES])
        numbers = (self.source_shares, self.shares, self.factors, self.errors, self.others)
        return [(str(self.classes[place]), *(f"{column[place]:.3f}" for column in numbers)) for place in shown]

    def _notes(self) -> list[str]:
        known = sum(share > 0 for share in self.source_shares)
        hidden, unknown = len(self.classes) - MOST_LINES, len(self.classes) - known
        notes = [f"and {hidden:,} classes with factors closer to 1"] if hidden > 0 else []
        notes += [f"{unknown:,} classes have no labelled rows: their factor is 1"] if unknown else []
        return [
            *notes,
            f"from {self.n_fit:,} labelled rows and {self.n_target:,} new rows",
            f"effective rows: 1,000 calibration rows count as {1000 * self.effective_share:,.0f}",
            f"coverage: can be lower by about {self.coverage_loss:.3f} because of chance in the factors",
            *([f"in doubt: {words}" for words in self.doubts] or ["nothing speaks against a label shift"]),
        ]


def labels(
    fit_outputs: Any,  # noqa: ANN401
    fit_labels: ArrayLike,
    target_outputs: Any,  # noqa: ANN401
    *,
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    method: Literal["em", "bbse"] = "em",
) -> EstimatedLabelShift:
    """Estimate how much more frequent each class is among new rows; their labels are not needed.

    Outputs are recalibrated on the labelled rows, with a temperature and a bias for every class. Then the shares of
    classes in new rows are those with the largest likelihood (EM of Saerens). Two checks follow, because rows of one
    class must be as before: a second estimate (BBSE) should agree, and outputs of new rows should be a mix of those of
    labelled rows. A warning says if one of them fails.

    Use labelled rows that are not calibration rows, and new rows that are not those to predict. Then coverage is at
    least 1 - alpha - E|estimated factor - true factor| / 2. ``PerLabel()`` needs no factors, but more rows.

    Parameters
    ----------
    fit_outputs : array-like (n, K), data frame or tensor
        Outputs of the model for labelled rows like the calibration rows.
    fit_labels : array-like (n,)
        Their true labels: class names or column numbers.
    target_outputs : array-like (m, K), data frame or tensor
        Outputs of the model for rows like the new rows.
    kind : {"probs", "logits", "binary"}, default "probs"
        The type of both outputs.
    classes : sequence, optional
        Names of the classes in column order, if labels are names.
    method : {"em", "bbse"}, default "em"
        Which of the two estimates to use.

    Returns
    -------
    EstimatedLabelShift
        ``shift.condition`` is the condition for ``rankset.calibrate``; ``rankset.Pooled(shift.condition)`` has usually
        smaller sets.

    Raises
    ------
    InputError, KindError, LabelError
        If rows or labels are invalid, if the sources have different columns, or if labels are of one class only.

    Examples
    --------
    >>> import rankset as rs
    >>> logits, labels = rs.datasets.load("carer")
    >>> print(rs.shift.labels(logits[:600], labels[:600], logits[600:], kind="logits"))        # no shift
    Estimated label shift
    class  share before  share now  factor  standard error  other estimate
        0         0.293      0.260   0.885           0.075           0.888
        1         0.318      0.374   1.175           0.089           1.176
        2         0.078      0.082   1.052           0.217           1.028
        3         0.153      0.139   0.905           0.124           0.910
        4         0.130      0.114   0.880           0.137           0.888
        5         0.027      0.031   1.155           0.444           1.116
    from 600 labelled rows and 1,400 new rows
    effective rows: 1,000 calibration rows count as 983
    coverage: can be lower by about 0.046 because of chance in the factors
    nothing speaks against a label shift
    """
    if method not in METHODS:
        raise KindError.argument("method", "'em' or 'bbse'", method)
    old, new = labelled_and_new(fit_outputs, fit_labels, target_outputs, kind, classes)
    fit = LabelFit.of(old, new)
    estimates = [(fit.by_em, fit.em_errors), (fit.by_bbse, fit.bbse_errors)]
    (factors, errors), (others, other_errors) = estimates if method == "em" else estimates[::-1]
    found = EstimatedLabelShift(
        tuple(old.classes.values),
        tuple(factors.tolist()),
        tuple(errors.tolist()),
        tuple((factors * fit.shares).tolist()),
        tuple(fit.shares.tolist()),
        method,
        tuple(others.tolist()),
        tuple(other_errors.tolist()),
        fit.estimate_gap,
        fit.output_gap,
        len(old),
        len(new),
    )
    for words in found.doubts:
        warn(words)
    return found
