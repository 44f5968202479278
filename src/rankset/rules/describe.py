"""Methods of a rule that use only its calibration: thresholds, the range of coverage, ranks."""

from __future__ import annotations

import numpy as np

from rankset import notebook
from rankset.core import coverage_law
from rankset.core.alpha import Alpha, exact_alpha, threshold_position
from rankset.core.calibration import Calibration
from rankset.errors import RuleError
from rankset.inputs.per_row import names_per_row
from rankset.inputs.row_index import RowIndex
from rankset.inputs.vocabulary import Names
from rankset.rules.spec import RuleSpec
from rankset.rules.summaries import CoverageBand, RankProfile

SHOWN_LEVELS = (0.01, 0.05, 0.1, 0.2)


class DescribesRule:
    """Methods of ``Rule`` that need no rows."""

    spec: RuleSpec
    calibration: Calibration

    @property
    def n(self) -> int:
        """Number of calibration rows."""
        return len(self.calibration)

    def __repr__(self) -> str:
        spec = self.spec
        caveat = spec.traits.caveat
        return (
            f"Rule({spec.score!r}, {spec.condition!r}, kind={spec.kind!r}, "
            f"{len(spec.classes):,} classes, calibrated on {self.n:,} rows{f'; {caveat}' if caveat else ''})"
        )

    def _repr_html_(self) -> str:
        spec = self.spec
        thresholds = notebook.faint(f"{spec.n_groups:,} threshold{'s' * (spec.n_groups != 1)}")
        facts: list[tuple[object, ...]] = [
            ("score", repr(spec.score), notebook.faint(spec.traits.caveat or "")),
            ("condition", repr(spec.condition), thresholds),
            ("classes", f"{len(spec.classes):,}", notebook.chips(spec.classes.values[:10], spec.n_columns - 10)),
            ("kind", spec.kind, ""),
        ]
        tables = [notebook.table(facts)] if spec.n_groups > 1 else [notebook.table(facts), self._levels_html()]
        return notebook.card(f"Rule, calibrated on {self.n:,} rows", *tables)

    def _levels_html(self) -> str:
        """Return a table of coverage bands at some levels."""
        bands = [(alpha, self.coverage_band(alpha)) for alpha in SHOWN_LEVELS]
        rows = [
            (f"{alpha:g}", notebook.bar(band.low, f"{band.low:.4f} to {band.high:.4f}{' or more' * band.tied}"))
            for alpha, band in bands
        ]
        return notebook.table(rows, ("alpha", "coverage, in 90% of calibrations"))

    def coverage_band(
        self, alpha: Alpha, *, confidence: float = 0.9, group: object = None, label: object = None
    ) -> CoverageBand:
        """Return the range in which the coverage of this rule is expected.

        Coverage depends on which rows were used for calibration. If we repeated the calibration with other rows, the
        coverage would follow a Beta distribution. This method returns two quantiles of this distribution. If several
        calibration rows have the same score value, coverage can be higher. Then ``tied`` of the result is True.

        Parameters
        ----------
        alpha : the tolerated miss rate, strictly between 0 and 1.
        confidence : probability that the coverage is in the band, strictly between 0 and 1.
        group, label : the group or the label whose threshold you want. Needed if the condition has several thresholds.

        Returns
        -------
        CoverageBand

        Raises
        ------
        LevelError : if ``alpha`` or ``confidence`` is not strictly between 0 and 1.
        RuleError : if a group or label is needed but not passed, is unknown, or is not used by the condition.

        Examples
        --------
        >>> import numpy as np, rankset as rs
        >>> tops = np.linspace(0.51, 0.99, 99)
        >>> rs.calibrate(np.column_stack((tops, 1 - tops)), np.zeros(99, int)).coverage_band(0.1)
        CoverageBand(90% within 0.8467 to 0.9442, mean 0.9000, n=99)
        """
        tails = coverage_law.tails(confidence)
        number = self._group(group, label)
        n = len(self.calibration.of_group(number)[0])
        k = threshold_position(n, exact_alpha(alpha))
        if k > n:
            return CoverageBand(1.0, 1.0, 1.0, confidence, n)
        low, high = (coverage_law.beta_quantile(q, k, n + 1 - k) for q in tails)
        return CoverageBand(low, high, k / (n + 1), confidence, n, self.calibration.tied(number, k))

    def threshold(self, alpha: Alpha, *, group: object = None, label: object = None) -> tuple[float, ...] | None:
        """Return the threshold at ``alpha``: the largest score value that a label in the set can have.

        Parameters
        ----------
        alpha : the tolerated miss rate, strictly between 0 and 1.
        group, label : the group or the label whose threshold you want. Needed if the condition has several thresholds.

        Returns
        -------
        tuple of numbers. A score value is a tuple: Thr has one number, Rank has two (rank, minus probability). None if
            there are too few calibration rows. Then every set contains all labels.

        Raises
        ------
        LevelError : if ``alpha`` is not strictly between 0 and 1.
        RuleError : if a group or label is needed but not passed, is unknown, or is not used by the condition.

        Examples
        --------
        >>> import rankset as rs
        >>> rs.calibrate([[0.8, 0.2], [0.3, 0.7], [0.6, 0.4]], [0, 1, 1], method=rs.Thr()).threshold(0.5)
        (-0.7,)
        """
        keys = self.calibration.of_group(self._group(group, label))
        k = threshold_position(len(keys[0]), exact_alpha(alpha))
        return None if k > len(keys[0]) else tuple(key[k - 1].item() for key in keys)

    def rank_profile(self, alpha: Alpha, *, group: object = None, label: object = None) -> RankProfile:
        """Return how often the true label had rank 1, 2, …, K in the calibration rows, and the largest rank in sets.

        Parameters
        ----------
        alpha : the tolerated miss rate, strictly between 0 and 1.
        group, label : the group or the label whose threshold you want. Needed if the condition has several thresholds.

        Returns
        -------
        RankProfile

        Raises
        ------
        LevelError : if ``alpha`` is not strictly between 0 and 1.
        RuleError : if the score does not order labels by rank, as Rank and TopK do. Also if a group or label is needed
            but not passed, is unknown, or is not used by the condition.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> rs.calibrate(probs, labels).rank_profile(0.1).r_star
        3
        """
        if not self.spec.traits.orders_by_rank:
            raise RuleError.no_ranks(self.spec.score)
        number = self._group(group, label)
        keys, alike = self.calibration.of_group(number), self._is_alone(number)
        n, n_columns = len(keys[0]), self.spec.n_columns
        counts = np.bincount(keys[0].astype(np.int64), minlength=n_columns + 1)[1:]
        k = threshold_position(n, exact_alpha(alpha))
        if k > n:
            return RankProfile(n_columns, None, counts, (n_columns, n_columns) if alike else None)
        r_star = int(keys[0][k - 1])
        prob = float(-keys[1][k - 1]) if self.spec.traits.breaks_ties_by_prob else None
        least = r_star if len(keys) == 1 else r_star - 1
        return RankProfile(r_star, prob, counts, (least, r_star) if alike else None)

    def _group(self, group: object, label: object) -> int:
        """Return the number of the group that a user means."""
        spec, table = self.spec, self.spec.table()
        if group is not None and not spec.condition.needs_groups:
            raise RuleError.group_unused(spec.condition, "group")
        if label is not None and table.shape[1] == 1:
            raise RuleError.group_unused(spec.condition, "label")
        row = _place("group", spec.groups, group) if spec.condition.needs_groups else 0
        column = _place("label", spec.classes, label) if table.shape[1] > 1 else 0
        if row is None or column is None:
            needed = [
                *(["group"] if spec.condition.needs_groups else []),
                *(["label"] if table.shape[1] > 1 else []),
            ]
            raise RuleError.which_group(spec.condition, spec.n_groups, needed)
        return int(np.broadcast_to(table, (max(1, len(spec.groups)), spec.n_columns))[row, column])

    def _is_alone(self, number: int) -> bool:
        """Return whether all labels of a row share one threshold, in the rows that use threshold ``number``."""
        table = self.spec.table()
        rows = (table == number).any(axis=1)
        return bool((table[rows] == number).all())


def _place(what: str, names: Names, name: object) -> int | None:
    """Return the place of ``name`` in the vocabulary; None if no name is given."""
    if name is None:
        return None
    wanted = np.empty(1, dtype=object)
    wanted[0] = name
    code = int(names.codes(names_per_row(wanted, 1, RowIndex()))[0])
    if code < 0:
        raise RuleError.no_such_name(what, name, tuple(names.values))
    return code
