"""Tables in Markdown."""

from collections.abc import Callable, Iterable, Sequence

from results import Task

Cell = Callable[[Task], str]


def by_task(tasks: Iterable[Task], columns: Sequence[tuple[str, Cell]]) -> str:
    rows = [(name(task), *(cell(task) for _, cell in columns)) for task in tasks]
    used = [0, *(i for i in range(1, len(columns) + 1) if any(row[i] != "–" for row in rows))]
    head = ("", *(title for title, _ in columns))
    return grid([head[i] for i in used], [[row[i] for i in used] for row in rows])


def grid(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    rule = ["---", *("---:" for _ in head[1:])]
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, rule, *rows))


def name(task: Task) -> str:
    return f"{task.size} {task.score} {task.operation.replace('_', '-')}"
