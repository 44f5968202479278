"""The options ``--pooled``, ``--training-counts``, ``--balanced`` and ``--adjusted``: few rows or rare classes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

import rankset as rs
from rankset.io.class_counts import counts_in_order, read_class_counts
from rankset.io.layout import Layout

COUNTS = click.Path(dir_okay=False, path_type=Path)

TRAINING_OPTIONS = {
    "pooled": click.option(
        "--pooled",
        is_flag=True,
        help="A threshold for every class (or group, with --group) from its own rows and from rows borrowed from all. "
        "Use it if classes have few rows. Coverage over all rows is guaranteed; that of each class holds only "
        "approximately.",
    ),
    "training_counts": click.option(
        "--training-counts",
        type=COUNTS,
        metavar="FILE",
        help='Number of training rows of each class: csv with two columns, class and count, or .json such as {"cat": '
        '120, "dog": 80}. Used by --balanced and --adjusted.',
    ),
    "balanced": click.option(
        "--balanced",
        is_flag=True,
        help="Count all classes alike, however frequent they are: coverage is guaranteed on average over classes, if "
        "calibration rows have the mix of classes of --training-counts. Nothing is guaranteed for a single class.",
    ),
    "adjusted": click.option(
        "--adjusted",
        is_flag=True,
        help="Divide probabilities by the shares of classes in --training-counts, so that rare labels are kept more "
        "often. For --method rank and thr.",
    ),
}


@dataclass(frozen=True)
class Training:
    """What the options about training rows describe: the counts of a file, and what they are used for."""

    path: str = ""
    counts: Mapping[str, float] = field(default_factory=dict)
    balanced: bool = False
    adjusted: bool = False
    pooled: bool = False

    def applied(self, shared: Mapping[str, Any], columns: Iterable[object]) -> dict[str, Any]:
        """Return the arguments of ``calibrate`` with the counts in the order of the columns."""
        made = dict(shared)
        if not self.path:
            return made
        counts = counts_in_order(self.counts, columns, self.path)
        if self.balanced:
            condition: rs.Condition = rs.Balanced(counts)
            made["condition"] = rs.Pooled(condition) if self.pooled else condition
        if self.adjusted:
            made["method"] = _with_shares(made["method"], counts)
        return made

    def check_names(self, names: Sequence[str] | None, n_files: int) -> None:
        """Refuse several files of scores without class names: counts are put into the order of the columns before."""
        if self.path and n_files > 1 and names is None:
            raise click.UsageError(
                "--training-counts with several files of scores needs the class names in column order. Pass --classes "
                "FILE."
            )


def training_of(
    path: Path | None, layout: Layout, score: rs.Score | str, *, balanced: bool, adjusted: bool, **others: bool
) -> Training:
    """Return what the options describe; ``others`` are ``pooled`` and ``per_label``."""
    if path is None:
        if balanced or adjusted:
            option = "--balanced" if balanced else "--adjusted"
            raise click.UsageError(f"{option} needs the number of training rows of each class: --training-counts FILE.")
        return Training()
    if not balanced and not adjusted:
        raise click.UsageError("--training-counts works only with --balanced or --adjusted. Pass one of them, or both.")
    if layout.options is not None:
        raise click.UsageError("--training-counts needs the same classes in every row. Remove it, or remove --options.")
    if balanced and (others["per_label"] or layout.group is not None):
        raise click.UsageError("--balanced is about all rows and classes together. Remove --per-label and --group.")
    if adjusted:
        _check_adjustable(score)
    counts = read_class_counts(str(path), layout.dialect)
    return Training(str(path), counts, balanced=balanced, adjusted=adjusted, pooled=others["pooled"])


def _check_adjustable(score: rs.Score | str) -> None:
    """Refuse scores that take no shares, or have some already."""
    inner: Any = score
    while hasattr(inner, "score"):
        inner = inner.score
    if not isinstance(inner, rs.Rank | rs.Thr):
        told = "--method auto" if isinstance(score, str) else repr(inner)
        raise click.UsageError(f"--adjusted works only with --method rank or thr, got {told}. Choose one of them.")
    if inner.shares is not None:
        raise click.UsageError("--adjusted takes the shares from --training-counts. Remove --set shares.")


def _with_shares(score: Any, counts: tuple[float, ...]) -> Any:
    """Return a score with shares, also inside of others such as ``Tempered``."""
    if hasattr(score, "score"):
        return dataclasses.replace(score, score=_with_shares(score.score, counts))
    return dataclasses.replace(score, shares=counts)
