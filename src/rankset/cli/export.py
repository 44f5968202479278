"""``rankset export``: write a rule as an ONNX model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rankset.cli.command import Command
from rankset.cli.echo import echo
from rankset.cli.files import check_output, load_rule
from rankset.cli.options import FILE, options
from rankset.cli.promises import promise_arguments, promise_in_words
from rankset.graphs.options import INPUT_TYPES, OPSETS
from rankset.io import atomic


@click.command(cls=Command)
@click.argument("rule_file", metavar="RULE", type=FILE)
@click.option("-o", "--output", type=FILE, required=True, help="Output file for the model. It must end in .onnx.")
@click.option(
    "--dtype",
    type=click.Choice(INPUT_TYPES),
    default=INPUT_TYPES[0],
    show_default=True,
    help="Element type of the rows, as the model in front of it gives them.",
)
@click.option(
    "--empty",
    type=click.Choice(["allow", "top"]),
    default="allow",
    show_default=True,
    help="Leave empty sets empty (allow), or put the most likely label into them (top).",
)
@click.option(
    "--opset",
    type=click.IntRange(OPSETS[0], OPSETS[-1]),
    default=OPSETS[0],
    show_default=True,
    help="Version of the ONNX operators. Models that are merged must have the same.",
)
@options("alpha", "confidence", "next_rows", "all_groups", "force")
def export(
    rule_file: Path,
    output: Path,
    dtype: Any,
    empty: Any,
    opset: int,
    alpha: str,
    confidence: str | None,
    next_rows: int | None,
    all_groups: bool,
    force: bool,
) -> None:
    """Write a rule at one alpha as an ONNX model, to be appended to the model of a classifier.

    The model has standard operators only. Its outputs are mask (which labels are in the set of each row), sizes, and
    codes (the columns of the labels, most likely first, then -1): the sets of rankset predict. Rules whose score draws
    random numbers, as APS does by default, cannot be exported.

    \b
    rankset export rule.rankset -o rule.onnx --alpha 0.1
    rankset export rule.rankset -o rule.onnx --alpha 0.1 --dtype float64 --empty top
    """
    sure = promise_arguments(confidence, next_rows, all_groups=all_groups)
    check_output(output, ".onnx", (rule_file,), force=force)
    rule = load_rule(rule_file)
    model = rule.to_onnx(alpha=alpha, dtype=dtype, empty=empty, opset=opset, **sure)
    with atomic.open_output(output, force=force) as file:
        file.write(model.SerializeToString())
    inputs = ", ".join(one.name for one in model.graph.input)
    echo(f"{output}: {len(model.graph.node):,} nodes, input {inputs}, {promise_in_words(alpha, **sure)}", err=True)
