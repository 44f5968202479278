"""The tables of docs/coming-from, from the figures that peers_answers.py measures."""

from typing import Any

TIMED = {"1 × 6": ("carer", 1), "2,000 × 6": ("carer", 2_000), "10,000 × 100": ("cifar100, all", 10_000)}
"""Sizes of the matrices that are timed: the data, and the number of rows."""
TITLES = {"mapie": "MAPIE", "torchcp": "TorchCP", "crepes": "crepes", "puncc": "puncc"}
SHOWN = ("carer", "cifar100", "sampled")
"""Data of which a page shows every method; of the others it shows the first."""


def tables(peer: str, figures: dict[str, Any]) -> dict[str, str]:
    """The tables of a peer's page, by name."""
    return {
        "answers": answers_table(TITLES[peer], figures["answers"]),
        "again": again_table(TITLES[peer], figures["theirs"]),
    }


def answers_table(title: str, answers: list[dict[str, Any]]) -> str:
    rows = [["rows", title, "rankset", "coverage", "mean size", "empty sets", "rows with another set"]]
    for row in answers:
        if row["data"] not in SHOWN and row["method"] != answers[0]["method"]:
            continue
        start = [row["data"], f"`{row['method']}`", row["rankset"]]
        if "error" in row:
            rows.append([*start, row["error"].partition(":")[0], "", "", ""])
            continue
        coverage = " / ".join(f"{value:.3f}" for value in row["coverage"])
        size = " / ".join(f"{value:.2f}" for value in row["size"])
        empty = " / ".join(percent(value) for value in row["empty"])
        rows.append([*start, coverage, size, empty, percent(row["different"])])
    return table(rows)


def again_table(title: str, found: dict[str, Any]) -> str:
    rows = [["", "asked twice", "alone or in a batch", "position too low / too high", "9 rows", "8 rows"]]
    for method, sizes in found["few"].items():
        position = found["position"].get(method)
        row = [percent(found[key][method]) if method in found[key] else "–" for key in ("again", "alone")]
        row.append("–" if position is None else f"{position[0]} / {position[1]}")
        rows.append(
            [
                f"{title} `{method}`",
                *row,
                *(size if isinstance(size, str) else f"{size:.2f}" for size in sizes.values()),
            ]
        )
    return table(rows)


def times_table(figures: dict[str, Any]) -> str:
    """Of all peers, the first scores of each."""
    rows = [["", *TIMED, *(f"rankset, {size}" for size in TIMED)]]
    for peer, found in figures.items():
        for method, both in found.get("seconds", {}).items():
            said = next(row["rankset"] for row in found["answers"] if row["method"] == method)
            times = [milliseconds(both[side][size]) for side in ("theirs", "ours") for size in TIMED]
            rows.append([f"{TITLES[peer]} `{method}`, rankset {said}", *times])
    return table(rows)


def percent(share: float) -> str:
    return "0" if share == 0 else f"{100 * share:.1f} %"


def milliseconds(value: float) -> str:
    return f"{1000 * value:.2g} ms" if value < 0.1 else f"{1000 * value:,.0f} ms"


def table(rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])


def filled(text: str, found: dict[str, str]) -> str:
    """A page with its tables in place."""
    for name, rows in found.items():
        start, mark, rest = text.partition(f"<!-- figures: {name} -->\n")
        if mark:
            text = f"{start}{mark}\n{rows}\n\n<!-- end -->" + rest.partition("<!-- end -->")[2]
    return text
