"""The tables of the study as text: Table 1 with the published values, definitions of RANK, temperatures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rankset.paper.definitions import DEFINITIONS
from rankset.paper.experiment import METHODS
from rankset.paper.numbers import Numbers
from rankset.paper.outputs import AS_PUBLISHED
from rankset.paper.published import PUBLISHED_ALPHA, published_table
from rankset.paper.table_files import as_latex

NOTES = """
coverage  mean over the halves; z is its distance in standard errors from k / (n + 1), the exact mean of random
          halves without ties (ties push it up)
size      mean number of labels in a set; paper and diff: Table 1 as published, and ours minus that
SSCV      largest gap between coverage and 1 - alpha among sets of similar size, sizes pooled as in the paper
SSCV*     the same with empty sets as a stratum of their own; empty: their share
²         probabilities put through softmax once more, as in the published run"""
PUBLISHED_ONLY = ("; paper and diff: Table 1 as published, and ours minus that", NOTES[NOTES.index("\n²") :])
"""Notes on what the paper published."""


def notes(numbers: Numbers) -> str:
    """Return the notes below Table 1."""
    told = NOTES
    for part in PUBLISHED_ONLY if numbers.all_own else ():
        told = told.replace(part, "")
    return told


def heading(numbers: Numbers, alpha: str) -> str:
    """Return the heading of Table 1."""
    return (
        f"Table 1 at alpha = {alpha}: means over {_halves_text(numbers.repeats)}, one calibrates, the other tests.\n"
        f"THR stands beside the paper's four methods; its Table 1 leaves it out.\n"
    )


def table_1(numbers: Numbers, alpha: str | None = None, *, latex: bool = False) -> str:
    """Return Table 1 as text or for LaTeX, one block per data set: our values, the published ones and the differences.

    Parameters
    ----------
    numbers : Numbers
        The result of ``study``.
    alpha : str, optional
        One of ``numbers.alphas``. By default ``numbers.alpha``.
    latex : bool, default False
        Whether to return a ``tabular`` of the LaTeX package booktabs instead of text.

    Returns
    -------
    str
        The table. If all rows are your own outputs, it has no columns for published values.

    Examples
    --------
    >>> import rankset as rs
    >>> mine = rs.paper.Outputs.of("mine", *rs.datasets.load("marketing"))
    >>> numbers = rs.paper.study([mine], alphas=[0.1], repeats=2, show_progress=False)
    >>> rs.paper.table_1(numbers).split("\\n")[0].split()
    ['coverage', 'z', 'size', 'SSCV', 'SSCV*', 'empty']
    >>> rs.paper.table_1(numbers, latex=True).split("\\n")[3]
    'data & method & coverage & z & size & SSCV & SSCV* & empty \\\\\\\\'
    """
    level = numbers.alpha if alpha is None else alpha
    return as_latex(numbers, level) if latex else "\n".join(_lines(numbers, level))


def _lines(numbers: Numbers, alpha: str) -> Iterator[str]:
    compared = () if numbers.all_own else ("paper", "diff")
    columns = ("coverage", "z", "size", *compared, "SSCV", *compared, "SSCV*", "empty")
    titles = {row: f"{row} ({facts['questions']:,} × {facts['classes']})" for row, facts in numbers.rows.items()}
    margin = max(24, *(len(title) + 1 for title in titles.values()))
    yield f"{'':<{margin}}{'':<6}" + "".join(f"{name:>9}" for name in columns)
    published = published_table() if alpha == PUBLISHED_ALPHA else {}
    for row, title in titles.items():
        # the published run took the softmax of the rows in AS_PUBLISHED again
        is_compared = row not in AS_PUBLISHED and not numbers.is_own(row)
        for place, method in enumerate(METHODS):
            theirs = published.get((row.removesuffix("²"), method)) if is_compared else None
            cells = _cells(numbers, row, method, alpha, theirs, width=9 * len(compared))
            yield f"{'' if place else title:<{margin}}{method:<6}{cells}"
        yield ""


def _cells(
    numbers: Numbers, row: str, method: str, alpha: str, theirs: Mapping[str, float] | None, *, width: int
) -> str:
    """Return the numbers of one line; ``width`` is that of the published value and the difference."""
    z = numbers.z(row, method, alpha)
    cells = [f"{numbers.mean(row, method, alpha, 'coverage'):>9.4f}", f"{'–':>9}" if math.isnan(z) else f"{z:>+9.1f}"]
    for measure in ("size", "SSCV"):
        ours = numbers.mean(row, method, alpha, measure)
        cells.append(f"{ours:>9.3f}")
        cells.append(f"{theirs[measure]:>9.3f}{ours - theirs[measure]:>+9.3f}" if theirs else " " * width)
    cells.append(f"{numbers.mean(row, method, alpha, 'SSCV*'):>9.3f}{numbers.mean(row, method, alpha, 'empty'):>9.3f}")
    return "".join(cells)


def definitions_heading(numbers: Numbers) -> str:
    """Return the heading of the table of definitions."""
    halves = _halves_text(numbers.data["few repeats"])
    return (
        f"The paper's three definitions of RANK at alpha = {numbers.alpha}, {halves}; only the score has a guarantee.\n"
    )


def temperatures(numbers: Numbers) -> str:
    """Return a table of mean sizes, with the outputs as they are and with a random temperature for every row."""
    rows = {
        row: [(sizes[method]["plain"], sizes[method]["scrambled"]) for method in METHODS]
        for row, sizes in numbers.data["temperatures"].items()
    }
    return _pairs(METHODS, ("as it is", "scrambled"), rows, (10, 10), (3, 3), 12)


def temperatures_heading(numbers: Numbers) -> str:
    """Return the heading of the table of temperatures."""
    return (
        f"Mean size at alpha = {numbers.alpha}, as the scores are and with a random temperature for every row, "
        f"{_halves_text(numbers.data['few repeats'])}.\n"
    )


def _halves_text(repeats: int) -> str:
    return f"{repeats} random {'half' if repeats == 1 else 'halves'}"


def definitions(numbers: Numbers) -> str:
    """Return a table of coverage and size of the three definitions of RANK."""
    rows = {
        row: [(measured[name]["coverage"], measured[name]["size"]) for name in DEFINITIONS]
        for row, measured in numbers.data["definitions"].items()
    }
    return _pairs(DEFINITIONS, ("coverage", "size"), rows, (13, 9), (4, 3), 20)


def _pairs(
    names: Iterable[str],
    both: tuple[str, str],
    rows: Mapping[str, Sequence[tuple[float, float]]],
    widths: tuple[int, int],
    digits: tuple[int, int],
    margin: int,
) -> str:
    """A table with two numbers under each name."""
    margin = max(margin, *(len(row) + 1 for row in rows), 0)
    under = "".join(f"{name:>{width}}" for name, width in zip(both, widths, strict=True))
    lines = [" " * margin + "".join(f"{name:>{sum(widths)}}" for name in names)]
    lines.append(" " * margin + under * len(next(iter(rows.values()), ())))
    for row, pairs in rows.items():
        cells = (f"{value:>{w}.{d}f}" for pair in pairs for value, w, d in zip(pair, widths, digits, strict=True))
        lines.append(f"{row:<{margin}}{''.join(cells)}")
    return "\n".join(lines)
