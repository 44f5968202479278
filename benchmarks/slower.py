"""Where others are faster: why, as far as the same run shows it, and a table of all cases."""

from collections.abc import Sequence

from results import Results, Task
from tables import grid, name
from workers import FAST, PEERS, PLAIN, Worker

Ahead = dict[Task, dict[str, list[float | None]]]
"""Tasks in which a peer is ahead of one of our paths: fast and plain in times of ours."""


def text(results: Results) -> str:
    """The section."""
    ahead = _ahead(results)
    rows = [
        (name(task), ", ".join(f"{title} {_inverse(pair)}" for title, pair in pairs.items()))
        for task, pairs in ahead.items()
    ]
    table = grid(("", "we take, fast / plain, so many times as long as"), rows) if rows else "Nowhere.\n"
    reasons = [reason for reason in (_fixed_costs(results, ahead), _one_entry(ahead), _masks(ahead)) if reason]
    return "\n".join(["## Where we are slower\n", *(f"* {reason}\n" for reason in reasons), table])


def _ahead(results: Results) -> Ahead:
    found: Ahead = {}
    for task in results.runs:
        ratios = {peer.title: [results.ratio(task, peer.title, ours.title) for ours in (FAST, PLAIN)] for peer in PEERS}
        ahead = {title: pair for title, pair in ratios.items() if any(ratio and ratio < 1 for ratio in pair)}
        if ahead:
            found[task] = ahead
    return found


def _fixed_costs(results: Results, ahead: Ahead) -> str:
    """What a call takes however small the matrix is."""
    small = [task for task in ahead if task.part == "small"]
    if not small:
        return ""
    times = " and ".join(
        f"{_span(results, worker)} ({worker.title.removeprefix('rankset, ')})" for worker in (FAST, PLAIN)
    )
    return f"Small inputs: a call has fixed costs. In the table of small inputs one of ours takes {times} microseconds."


def _span(results: Results, worker: Worker) -> str:
    runs = (runs.get(worker.title) for task, runs in results.runs.items() if task.part == "small")
    times = [1e6 * run.median for run in runs if run and run.seconds]
    return f"{min(times):,.0f} to {max(times):,.0f}"


def _one_entry(ahead: Ahead) -> str:
    if not any(
        "TorchCP" in pairs for task, pairs in ahead.items() if (task.score, task.operation) == ("THR", "calibrate")
    ):
        return ""
    return "THR calibrate: one entry per row is enough, and TorchCP reads no other. We check every entry of the matrix."


def _masks(ahead: Ahead) -> str:
    if not any(
        "TorchCP" in pairs for task, pairs in ahead.items() if (task.score, task.operation) == ("THR", "predict")
    ):
        return ""
    return "THR predict: one comparison per entry is all that TorchCP does. We check every entry as well."


def _inverse(ratios: Sequence[float | None]) -> str:
    return " / ".join("–" if ratio is None else f"{1 / ratio:.1f}" for ratio in ratios)
