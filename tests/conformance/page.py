"""Writes the tables of docs/project/conformance.md: PYTHONPATH=src:tests python tests/conformance/page.py.

A table follows a comment that names it, ``<!-- counts -->``, ``<!-- cases -->`` or ``<!-- reasons -->``, and ends at
``<!-- end -->``. Everything else on the page is prose and stays.
"""

import re
from itertools import groupby
from pathlib import Path

from conformance import crepes, mapie, online_cp, probly, puncc, torchcp
from conformance.cases import same

PAGE = Path(__file__).parents[2] / "docs" / "project" / "conformance.md"
TABLE = re.compile(r"(<!-- (counts|cases|reasons) -->\n).*?(<!-- end -->)", flags=re.DOTALL)
CASES = tuple(case for peer in (torchcp, mapie, puncc, probly, online_cp, crepes) for case in peer.CASES)
SHOWN = 3


def refreshed(page):
    """The page with its tables written anew."""
    texts = {"counts": counts, "cases": cases, "reasons": reasons}
    return TABLE.sub(lambda match: f"{match[1]}\n{texts[match[2]]()}\n\n{match[3]}", page)


def counts():
    """How many numbers each peer gives, and how many of them are ours."""
    peers = dict.fromkeys(case.source.peer for case in CASES)
    rows = [(peer, *_counted([case for case in CASES if case.source.peer == peer])) for peer in peers]
    head = ("peer", "tests", "numbers", "agree", "differ for a stated reason", "from running the peer")
    return _table(head, [*rows, ("all", *_counted(CASES))])


def _counted(some):
    numbers, agreeing = sum(len(case.theirs) for case in some), sum(case.agreeing for case in some)
    tests = {(case.source, case.test) for case in some}
    return len(tests), numbers, agreeing, numbers - agreeing, sum(len(case.theirs) for case in some if case.run)


def cases():
    """Every test, by peer and file."""
    return "\n\n".join(
        f"### {peer}\n\n" + "\n\n".join(_file(source, list(some)) for source, some in groupby(of_peer, _source))
        for peer, of_peer in groupby(sorted(CASES, key=_place), lambda case: case.source.peer)
    )


def _place(case):
    """Peers as they come, then their files."""
    peers = list(dict.fromkeys(other.source.peer for other in CASES))
    return peers.index(case.source.peer), case.source.path


def _source(case):
    return case.source


def _file(source, some):
    tests = {case.test: [other for other in some if other.test == case.test] for case in some}
    head = ("test", "what", "numbers", "agree", "why the others differ")
    return f"{source.link}\n\n" + _table(head, [_test(test, of_test) for test, of_test in tests.items()])


def _test(test, some):
    whats = list(dict.fromkeys(case.what for case in some))
    more = ["…"] if len(whats) > SHOWN else []
    runs = sorted({case.run for case in some if case.run})
    by = [f"({sum(len(case.theirs) for case in some if case.run == run)} given by {run})" for run in runs]
    why = "; ".join(dict.fromkeys(case.reason.name for case in some if case.reason))
    numbers, agreeing = sum(len(case.theirs) for case in some), sum(case.agreeing for case in some)
    return f"`{test}`", " ".join(["; ".join(whats[:SHOWN] + more), *by]), numbers, agreeing, why


def reasons():
    """Every reason, with one example."""
    known = dict.fromkeys(case.reason for case in CASES if case.reason)
    return "\n".join(f"* {_reason(reason)}" for reason in known)


def _reason(reason):
    concerned = [case for case in CASES if case.reason == reason]
    count = sum(len(case.theirs) - case.agreeing for case in concerned)
    first = concerned[0]
    pairs = zip(first.theirs, first.ours, strict=True)
    theirs, ours = [pair for pair in pairs if not same(*pair, first.tolerance)][-1]
    numbers = f"{short_repr(theirs)} there, {short_repr(ours)} here"
    example = f"Example: {first.source.peer}, `{first.test}`, {first.what}: {numbers}."
    return f"**{reason.name}** ({count}). {reason.told} {example}"


def short_repr(value):
    """A number, a set of labels, or what None says."""
    if isinstance(value, tuple):
        return "{" + ", ".join(map(str, value)) + "}"
    if isinstance(value, bool):
        return "enough rows" if value else "too few rows"
    return "none" if value is None else value if isinstance(value, str) else f"{value:.6g}"


def _table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


if __name__ == "__main__":
    PAGE.write_text(refreshed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
