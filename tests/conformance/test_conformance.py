"""Peers' own numbers: rankset gives them, or its own ones for a stated reason that leads to theirs."""

import re

import pytest

from conformance.cases import Case, Reason, Source, same
from conformance.page import CASES, PAGE, refreshed

FEWEST_NUMBERS = 100
FEWEST_STATED = 60


def named(case):
    return f"{case.source.peer}-{case.test}-{case.what}"


def check(found, expected, tolerance):
    assert len(found) == len(expected), (found, expected)
    wrong = [pair for pair in zip(found, expected, strict=True) if not same(*pair, tolerance)]
    assert wrong == [], "found, expected"


@pytest.mark.filterwarnings("ignore:.*Did you mean:rankset.RanksetWarning")  # peers test alphas above 0.5
@pytest.mark.parametrize("case", CASES, ids=named)
def test_rankset_gives_the_number(case):
    check(case.ask(**case.inputs), case.expected, case.tolerance)


@pytest.mark.parametrize("case", [case for case in CASES if case.reason], ids=named)
def test_the_reason_leads_to_the_number_of_the_peer(case):
    check(case.follow(**case.inputs), case.theirs, case.tolerance)
    assert case.agreeing < len(case.theirs), "no number differs, so there is nothing to explain"


def test_there_are_enough_numbers_and_most_are_stated_by_the_peers_themselves():
    assert sum(len(case.theirs) for case in CASES) >= FEWEST_NUMBERS
    assert sum(len(case.theirs) for case in CASES if case.run is None) >= FEWEST_STATED


def test_every_number_has_a_source():
    told = [(case.source.repository, case.source.path, case.source.commit, case.test, case.what) for case in CASES]
    pattern = re.compile(r"[^/]+/[^/]+\n.+\.py\n[0-9a-f]{40}\n.+\n.+")
    assert [one for one in told if not pattern.fullmatch("\n".join(one))] == []


def test_the_page_is_that_of_the_cases():
    page = PAGE.read_text(encoding="utf-8")
    assert refreshed(page) == page, "run PYTHONPATH=src:tests python tests/conformance/page.py"


def test_a_difference_needs_a_reason_our_number_and_a_way_to_theirs():
    source, ask = Source("peer", "owner/peer", "test.py", "0" * 40), lambda: (1,)
    with pytest.raises(ValueError, match="belong together"):
        Case(source, "test", "what", (1,), ask, reason=Reason("name", "told"))
    with pytest.raises(ValueError, match="belong together"):
        Case(source, "test", "what", (1,), ask, ours=(1, 2), reason=Reason("name", "told"), follow=ask)
