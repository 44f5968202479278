"""``rankset merge``: merge several rules into one rule."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from rankset.cli.command import Command
from rankset.cli.files import check_output, load_rule, save_rule
from rankset.cli.options import FILE, options
from rankset.cli.printing import print_facts, rule_facts
from rankset.errors import FileError, RuleError, warn
from rankset.io.spelling import equal_groups


@click.command(cls=Command)
@click.argument("rule_files", metavar="RULE...", type=FILE, nargs=-1, required=True)
@click.option(
    "-o", "--output", type=FILE, required=True, help="Output file for the merged rule. It must end in .rankset."
)
@options("force", "json")
def merge(rule_files: Sequence[Path], output: Path, force: bool, as_json: bool) -> None:
    """Merge several rules into one rule.

    The result is the same as one calibration with the rows of all rules. The rules must be calibrated on different
    rows: do not merge rules that have rows in common.

    \b
    rankset merge a.rankset b.rankset -o both.rankset
    """
    check_output(output, ".rankset", rule_files, force=force)
    if len({path.resolve() for path in rule_files}) < len(rule_files):
        raise RuleError.itself()
    first, *others = rules = [load_rule(path) for path in rule_files]
    for place, rule in enumerate(rules):
        same = next((path for path, other in zip(rule_files, rules[:place], strict=False) if other == rule), None)
        if same is not None:
            warn(
                f"{same} and {rule_files[place]} contain the same calibration. Rows that are in both files count twice."
            )
    merged = first.merge(*others)
    mixed = equal_groups(merged.groups.tolist())
    if mixed:
        raise FileError.mixed_groups(mixed)
    save_rule(merged, output, force=force)
    print_facts(rule_facts(merged), str(output), as_json=as_json)
