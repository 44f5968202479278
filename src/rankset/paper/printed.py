"""Algorithm 1 exactly as it is printed in the paper. It has no finite-sample guarantee."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from rankset.core import parallel
from rankset.core.alpha import Alpha, exact_alpha, threshold_position
from rankset.core.alpha_argument import takes_alpha
from rankset.core.calibration import Thresholds
from rankset.evaluation.calibrate import calibrate
from rankset.inputs.matrix import Kind
from rankset.inputs.prepare import prepare
from rankset.rules.batch import Batch
from rankset.rules.select import select, shared_reach
from rankset.rules.spec import RuleSpec
from rankset.sets import PredictionSets


@dataclass(frozen=True, repr=False)
class PrintedRule:
    """The rule of Algorithm 1 as printed in the paper, returned by ``printed_rule``. It has no coverage guarantee.

    A set contains all labels with a rank below r*. It also contains the label with rank r* if the probability of this
    label is at least pi*.

    ``rankset.Rank`` has the same r*, but a different probability limit (``RankProfile.threshold_prob``).
    Take the r*-th largest probability of each calibration row. ``rankset.Rank`` computes its limit from these values
    in the rows whose true label has rank r*. The printed algorithm computes pi* from these values in all rows. This is
    correct only if the values have the same distribution in both cases. Otherwise coverage can be far below 1 - alpha.

    Attributes
    ----------
    spec
        Score, kind and class names.
    alpha
        Allowed error rate.
    r_star
        Largest rank of a label in a set, r* in the paper. Number of classes + 1 if every set contains all labels.
    pi_star
        Smallest probability with which a label of rank r* is in the set, pi* in the paper.
    proportion
        Fraction of the labels with rank r* that should be in sets, p in the paper.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.paper.printed_rule(probs, labels, 0.1).r_star
    3
    """

    spec: RuleSpec
    alpha: Fraction
    r_star: int
    pi_star: float
    proportion: Fraction

    def __repr__(self) -> str:
        return (
            f"PrintedRule(alpha={float(self.alpha):g}, r_star={self.r_star}, pi_star={self.pi_star:.6g}; "
            f"no finite-sample guarantee)"
        )

    @property
    def expected_size(self) -> float:
        """Expected set size according to the paper: r* - 1 + p. Number of classes if every set contains all labels."""
        return self.spec.n_columns if self._everything else float(self.r_star - 1 + self.proportion)

    @property
    def _everything(self) -> bool:
        return self.r_star > self.spec.n_columns

    def predict(self, probs: ArrayLike) -> PredictionSets:
        """Return the prediction sets at the alpha of this rule.

        Parameters
        ----------
        probs
            Array (n, K): model outputs. Ties are ranked from left to right.

        Returns
        -------
        PredictionSets
            One set per row.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> len(rs.paper.printed_rule(probs, labels, 0.1).predict(probs[:5]))
        5
        """
        batch = Batch.of(self.spec, prepare(probs, kind=self.spec.kind, classes=self.spec.classes))
        cut = (np.array([self.r_star, 0]), np.array([-self.pi_star, 0.0]))
        thresholds = Thresholds(cut, np.array([self._everything, True]))
        offsets, codes = select(batch, thresholds, shared_reach(self.spec, thresholds))
        return PredictionSets(offsets, codes, self.spec.classes, self.alpha)


@takes_alpha
def printed_rule(probs: ArrayLike, labels: ArrayLike, alpha: Alpha, *, kind: Kind = "probs") -> PrintedRule:
    """Calibrate with steps 4 to 6 of Algorithm 1, exactly as printed in the paper.

    These steps are not defined if alpha is below 1 / (n + 1). In this case every set contains all labels.

    Parameters
    ----------
    probs
        Array (n, K): model outputs. The model must not have been trained on these rows.
    labels
        The true label of each row.
    alpha
        Allowed error rate, strictly between 0 and 1.
    kind
        The type of values in ``probs``: "probs", "logits" or "decision", as in ``calibrate``.

    Returns
    -------
    PrintedRule
        A rule for this alpha. It has no finite-sample guarantee.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.paper.printed_rule(probs, labels, 0.1)
    PrintedRule(alpha=0.1, r_star=3, pi_star=0.08147; no finite-sample guarantee)
    """
    rule, exact = calibrate(probs, labels, kind=kind), exact_alpha(alpha)
    ranks, n = rule.calibration.keys[0], rule.n
    misses = n + 1 - threshold_position(n, exact)
    if misses == 0:
        return PrintedRule(rule.spec, exact, rule.spec.n_columns + 1, -math.inf, Fraction(0))
    r_star = int(ranks[n - misses])
    below, at = int((ranks < r_star).sum()), int((ranks == r_star).sum())
    proportion = Fraction(n - misses - below, at)
    place = math.ceil(n * proportion)
    pi_star = float(np.sort(_at_rank(rule.spec, probs, r_star))[n - place]) if place else math.inf
    return PrintedRule(rule.spec, exact, r_star, pi_star, proportion)


def _at_rank(spec: RuleSpec, probs: ArrayLike, rank: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Each row's probability at ``rank``."""
    batch = Batch.of(spec, prepare(probs, kind=spec.kind, classes=spec.classes))
    cells = [batch.all_keys(part)[0] for part in parallel.split(*batch.shape)]
    return np.concatenate([part.prob[part.rank == rank] for part in cells])
