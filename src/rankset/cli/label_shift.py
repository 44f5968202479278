"""The option ``--label-shift``: new rows have other shares of classes than the calibration rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

import rankset as rs
from rankset.io.class_counts import FACTORS, counts_in_order, read_class_factors
from rankset.io.layout import Layout

LABEL_SHIFT_OPTIONS = {
    "label_shift": click.option(
        "--label-shift",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Share of each class in new rows divided by its share in these rows: csv with two columns, class and "
        'factor, or .json such as {"cat": 0.5, "dog": 2}. Coverage is guaranteed if these factors are right.',
    ),
}


@dataclass(frozen=True)
class GivenShift:
    """The factors of a file; none if ``path`` is empty."""

    path: str = ""
    factors: Mapping[str, float] = field(default_factory=dict)
    pooled: bool = False

    def applied(self, shared: Mapping[str, Any], columns: Iterable[object]) -> dict[str, Any]:
        """Return the arguments of ``calibrate`` with the condition, whose factors are in the order of the columns."""
        if not self.path:
            return dict(shared)
        condition: rs.Condition = rs.LabelShift(counts_in_order(self.factors, columns, self.path, FACTORS))
        return {**shared, "condition": rs.Pooled(condition) if self.pooled else condition}

    def check_names(self, names: Sequence[str] | None, n_files: int) -> None:
        """Refuse several files of scores without class names: factors are put into the order of the columns before."""
        if self.path and n_files > 1 and names is None:
            raise click.UsageError(
                "--label-shift with several files of scores needs the class names in column order. Pass --classes FILE."
            )


def label_shift_of(path: Path | None, layout: Layout, **flags: bool) -> GivenShift:
    """Return what the option describes; ``flags`` are ``pooled``, ``per_label``, ``balanced`` and ``adjusted``."""
    if path is None:
        return GivenShift()
    if layout.options is not None:
        raise click.UsageError("--label-shift needs the same classes in every row. Remove it, or remove --options.")
    if flags["balanced"] or flags["per_label"] or layout.group is not None:
        raise click.UsageError(
            "--label-shift is about all rows and classes together. Remove --balanced, --per-label and --group."
        )
    return GivenShift(str(path), read_class_factors(str(path), layout.dialect), pooled=flags["pooled"])
