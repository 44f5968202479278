"""The options ``--confidence``, ``--next-rows`` and ``--all-groups``: what is promised about this calibration."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

import rankset as rs
from rankset.core.alpha_argument import alpha_meant
from rankset.errors import KindError
from rankset.rules.sentences import promise_of_spec

CONFIDENCE_HELP = (
    "Probability that the promise holds for this calibration, such as 0.95; sets are larger. Pass --alpha, too.  "
    "[default: the promise is a mean over calibrations]"
)

PROMISE_OPTIONS = {
    "confidence": click.option("--confidence", metavar="NUMBER", help=CONFIDENCE_HELP),
    "confidence_shown": click.option(
        "--confidence",
        metavar="NUMBER",
        default="0.95",
        show_default=True,
        help="Confidence for which it is also shown what sets contain.",
    ),
    "next_rows": click.option(
        "--next-rows",
        type=click.IntRange(1),
        metavar="N",
        help="With --confidence: the promise is about the share of missed rows among the next N rows.",
    ),
    "all_groups": click.option(
        "--all-groups", is_flag=True, help="With --confidence: the promise holds for all groups at once."
    ),
}


def promise_arguments(confidence: str | None, next_rows: int | None, *, all_groups: bool) -> dict[str, Any]:
    """Return the arguments of ``Rule.predict``; refuse a confidence without ``--alpha``.

    In other libraries a confidence is 1 - alpha.
    """
    context = click.get_current_context()
    option = "alphas" if "alphas" in context.params else "alpha"
    if confidence is not None and not was_passed(option):
        meant = alpha_meant("confidence", confidence)
        raise KindError.alpha_missing_beside(context.command.name or "", confidence, meant)
    return {"confidence": confidence, "next_rows": next_rows, "all_groups": all_groups}


def was_passed(option: str) -> bool:
    """Return whether an option of the command was typed, and is not its default."""
    return click.get_current_context().get_parameter_source(option) is not ParameterSource.DEFAULT


def promise_in_words(alpha: str, *, confidence: str | None, next_rows: int | None, all_groups: bool) -> str:
    """Return what sets were asked for, such as "alpha = 0.1 with confidence 0.95"."""
    if confidence is None:
        return f"alpha = {alpha}"
    rows = "" if next_rows is None else f" for the next {next_rows:,} rows"
    return f"alpha = {alpha} with confidence {confidence}{rows}{' in all groups' if all_groups else ''}"


def proven_promise(rule: rs.Rule, alpha: str) -> str | None:
    """Return what a rule promises at some alpha, in words; None if it is not proven or labels are absent."""
    if not rule.guaranteed or rule.calibration.n_absent:
        return None
    return promise_of_spec(rule.spec, alpha)
