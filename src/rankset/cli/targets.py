"""The options ``--target``, ``--cost`` and ``--other-cost``: what is promised about the true labels of a row."""

from __future__ import annotations

from collections.abc import Sequence

import click

from rankset.errors import RuleError
from rankset.targets import Cost, OneLabel, Target, checked_target

TARGET_OPTIONS = {
    "target": click.option(
        "--target",
        metavar="TARGET",
        help="What is promised about the true labels of a row: one, recall, all, any, certain, or missed:N for at most "
        "N missed labels. With all but one, rows can have several labels.  [default: one]",
    ),
    "cost": click.option(
        "--cost",
        "costs",
        metavar="NAME=NUMBER",
        multiple=True,
        help="Cost of missing the label NAME; may be repeated. The expected cost is at most alpha times the largest.",
    ),
    "other_cost": click.option(
        "--other-cost", metavar="NUMBER", help="Cost of missing a label that has no --cost of its own."
    ),
}


def _refuse_target(context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        raise RuleError.command_of_one_label(context.command.name or "", f"--target {value}")


target_refused = click.option("--target", hidden=True, expose_value=False, callback=_refuse_target)
"""Add a hidden option ``--target`` that is refused, with the commands to use instead."""


def target_of(name: str | None, costs: Sequence[str], other: str | None) -> Target:
    """Return the target of --target, or of --cost and --other-cost."""
    if not costs:
        if other is not None:
            raise click.UsageError("--other-cost works only with --cost NAME=NUMBER.")
        return OneLabel() if name is None else checked_target(name)
    if name is not None:
        raise click.UsageError("--cost is a target of its own. Remove --target or --cost.")
    known: dict[str, str] = {}
    for text in costs:
        label, mark, cost = text.rpartition("=")
        if not mark or label in known:
            problem = f"{label!r} has two costs" if mark else f"{text!r} has no ="
            raise click.BadParameter(f"{problem}. Pass NAME=NUMBER once for every label.", param_hint="--cost")
        known[label] = cost
    return Cost(known, other)
