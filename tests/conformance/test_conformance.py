"""Peers' own numbers: rankset gives them, or its own ones for a stated reason that leads to theirs."""

import pytest

from conformance import crepes, mapie, online_cp, probly, puncc, torchcp
from conformance.cases import same

PEERS = (torchcp, mapie, puncc, probly, online_cp, crepes)
CASES = [case for peer in PEERS for case in peer.CASES]


def named(case):
    return f"{case.source.peer}-{case.test}-{case.what}"


def check(found, expected, tolerance):
    assert len(found) == len(expected), (found, expected)
    wrong = [pair for pair in zip(found, expected, strict=True) if not same(*pair, tolerance)]
    assert wrong == [], "found, expected"


@pytest.mark.parametrize("case", CASES, ids=named)
def test_rankset_gives_the_number(case):
    check(case.ask(**case.inputs), case.expected, case.tolerance)


@pytest.mark.parametrize("case", [case for case in CASES if case.reason], ids=named)
def test_the_reason_leads_to_the_number_of_the_peer(case):
    check(case.follow(**case.inputs), case.theirs, case.tolerance)
    assert case.agreeing < len(case.theirs), "no number differs, so there is nothing to explain"
