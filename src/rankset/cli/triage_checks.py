"""What is asked of ``rankset triage``, and which of its options fit together."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

import rankset as rs
from rankset.cli.files import STDOUT, check_output
from rankset.cli.triage_words import errors_asked
from rankset.errors import FileError

SAVED = ".rankset"
"""Suffix of files of triages."""
CONFIDENCE = "0.95"
"""Confidence of gates, unless --confidence says another."""


class Ask(NamedTuple):
    """What is asked of a triage: values of options."""

    errors: Sequence[str]
    stream: bool
    confidence: str | None
    all_groups: bool
    seed: int

    @property
    def sure(self) -> str:
        """The confidence of gates."""
        return self.confidence or CONFIDENCE

    def gate(self, triage: rs.Triage) -> rs.Gate:
        """Return the gate of a triage."""
        error: Any = errors_asked(self.errors, triage.spec)
        return triage.threshold(error, self.sure, all_groups=self.all_groups, seed=self.seed)


def _refuse_alpha(context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        raise click.UsageError(
            f"No such option: --alpha. Did you mean --error {value}? alpha is about sets that miss the true label, "
            "error about wrong answers among the accepted ones.",
            context,
        )


alpha_refused = click.option("--alpha", hidden=True, expose_value=False, callback=_refuse_alpha)
"""Add a hidden option ``--alpha`` that is refused, with the option to use instead."""


def old_and_new(paths: Sequence[str]) -> tuple[str, str | None]:
    """Return OLD and NEW; None if there is no NEW."""
    if len(paths) > 2:
        raise click.UsageError(
            f"Expected OLD and NEW, got {len(paths)} files. Join files of the same kind, and pass labels as --labels."
        )
    old, new = (*paths, None)[:2]
    if old == new == "-":
        raise FileError.stdin_alone()
    return str(old), new


def check_actions(
    new: str | None,
    ask: Ask,
    *,
    curve: bool,
    save: Path | None,
    output: str | None,
    minutes: float | None,
    as_json: bool,
) -> None:
    """Refuse options that do not fit together."""
    if curve and (new is not None or ask.stream):
        raise click.UsageError("--curve is about OLD, and shows batches and streams. Leave out NEW and --stream.")
    if new is None and not (curve or ask.stream or save is not None):
        raise click.UsageError("Pass NEW, the rows to decide about. Without NEW, pass --curve, --stream or --save.")
    if new is None and (output is not None or minutes is not None):
        raise click.UsageError("--output and --minutes-per-row are for the decisions about NEW. Leave them out.")
    if minutes is not None and not math.isfinite(minutes):
        raise click.BadParameter(f"{minutes} is not a number of minutes.", param_hint="--minutes-per-row")
    if not ask.errors and (new is not None or ask.stream):
        raise click.UsageError("Pass --error, the largest share of wrong answers among the accepted ones.")
    if ask.confidence is not None and not (ask.stream or curve):
        raise click.UsageError(
            "--confidence works only with --stream or --curve. The promise for a batch is about the expected share."
        )
    if ask.all_groups and not ask.stream:
        raise click.UsageError("--all-groups works only with --stream.")
    if as_json and new is not None and output in STDOUT:
        raise click.UsageError("--json prints on standard output. Write the decisions to a file with -o.")


def check_outputs(output: str | None, save: Path | None, inputs: Sequence[object], *, force: bool) -> None:
    """Check output files before anything is read."""
    if save is not None:
        check_output(save, SAVED, inputs, force=force)
    if output not in STDOUT:
        check_output(Path(str(output)), None, inputs, force=force)
    elif sys.stdout is None:
        raise FileError.unwritable("-", "standard output is closed")
