"""``rankset recalibrate``: make a rule from labels that came back to ``rankset serve``."""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path
from typing import Any

import click

import rankset as rs
from rankset.cli.calibrate import level_of_auto
from rankset.cli.command import Command
from rankset.cli.files import check_output, load_rule, save_rule
from rankset.cli.options import FILE, not_a_confidence, options, seconds_of
from rankset.cli.printing import print_facts, rule_facts
from rankset.errors import import_with_extra
from rankset.inputs.vocabulary import short
from rankset.scores import AUTO, NAMED_SCORES

SHOWN = 20
"""Most classes whose rows are printed."""


def _moment(_context: click.Context, _parameter: click.Parameter, text: str | None) -> float | None:
    """Return a date or time, or a duration before now, in seconds since 1970."""
    if text is None:
        return None
    ago = seconds_of(text.strip())
    if ago is not None:
        return time.time() - ago
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError, OSError):
        told = f"{text!r} is no date such as 2025-03-01 or 2025-03-01T12:00:00+01:00, and no time such as 7d or 12h."
        raise click.BadParameter(told) from None


@click.command(cls=Command)
@click.option(
    "--from",
    "store",
    metavar="STORE",
    required=True,
    help="Store of the server: its SQLite file, or the URL of its PostgreSQL database.",
)
@click.option(
    "--rule",
    "rule_file",
    type=FILE,
    help="The rule that was served.  [default: score, condition and classes of the first rule of the store]",
)
@click.option(
    "--since",
    metavar="DATE|TIME",
    callback=_moment,
    help="Only rows that were predicted at this date or time, or later, such as 2025-03-01. Without a time zone it is "
    "local time. Or only rows of the last days, hours, minutes or seconds, such as 7d, 12h, 30m or 45s.",
)
@click.option("--last", metavar="N", type=click.IntRange(1), help="Only the last N rows that have a label.")
@click.option(
    "--method",
    "--score",
    "method",
    type=click.Choice([*NAMED_SCORES, AUTO], case_sensitive=False),
    help="Another nonconformity score for the new rule. With auto, the score is fitted and chosen for --alpha on some "
    "of the rows, and the others calibrate.  [default: that of the rule]",
)
@click.option(
    "--alpha",
    callback=not_a_confidence,
    help="Only with --method auto: alpha for which sets should be small.  [default: 0.1]",
)
@click.option("-o", "--output", type=FILE, required=True, help="Output file for the rule. It must end in .rankset.")
@options("force", "json")
def recalibrate(
    store: str,
    rule_file: Path | None,
    since: float | None,
    last: int | None,
    method: str | None,
    alpha: str | None,
    output: Path,
    force: bool,
    as_json: bool,
) -> None:
    """Make a rule from rows that rankset serve has predicted and whose labels came back.

    The result is that of rankset calibrate with these rows and labels. The calibration rows of the old rule are not
    used. The server can run at the same time; it goes on with its old rule until the file that it
    serves is replaced by the new one and SIGHUP tells it to load that.

    Coverage is proven for new rows that are like the rows with labels. If labels come for some kinds of rows rather
    than for others, such as only for rows that a person decided, they are no random sample.

    \b
    rankset recalibrate --from served.db --rule rule.rankset -o new.rankset
    rankset recalibrate --from served.db --last 5000 --method raps -o new.rankset
    rankset recalibrate --from served.db --since 30d --method auto --alpha 0.05 -o new.rankset
    """
    check_output(output, ".rankset", (store, rule_file), force=force)
    level = level_of_auto(method, alpha)
    served = import_with_extra("rankset.serving.storage.recalibration", "rankset recalibrate")
    rule = None if rule_file is None else load_rule(rule_file)
    found, spec = served.read_served(store, rule, since, last)
    made = served.rule_of(found, spec, method=None if method is None else NAMED_SCORES.get(method, method), alpha=level)
    save_rule(made, output, force=force)
    print_facts({**rule_facts(made), **_facts_of_rows(found, made, as_json=as_json)}, str(output), as_json=as_json)


def _facts_of_rows(found: Any, rule: rs.Rule, *, as_json: bool) -> dict[str, Any]:
    """Return how many rows chose the score, how many have no label, and how many rows each class has."""
    counts, fitting = found.by_class(rule.spec), len(found.labels) - rule.n
    fitted: dict[str, Any] = {}
    if as_json:
        fitted |= {"rows that fitted": fitting} if fitting else {}
        return {**fitted, "rows without label": found.unlabelled, "rows by class": list(counts.values())}
    most = sorted(counts.items(), key=lambda pair: -pair[1])
    shown = [f"{short(name)}: {count:,}" for name, count in most[:SHOWN]]
    more = [f"and {len(most) - SHOWN:,} more classes"] if len(most) > SHOWN else []
    chose = f"{rule.n:,} of {len(found.labels):,} calibrate, the other {fitting:,} chose the score"
    fitted |= {"labelled rows": chose} if fitting else {}
    return {**fitted, "without label": found.unlabelled, "rows by class": ", ".join([*shown, *more])}
