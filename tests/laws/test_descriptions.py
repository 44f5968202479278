"""What ``describe`` says is what ``predict`` does: the sentences are read as rules, and these give the same sets."""

import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import rankset as rs
from rankset.core.alpha import exact_alpha, threshold_position
from rankset.scores.wording import ORDINALS, Wording, ordinal
from strategies import SCORES, alphas, problems

pytestmark = pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")

NUMBER = r"(-?[0-9.]+(?:e[-+]?[0-9]+)?|-?inf)"
WORD = "(?:probability|value)"
TOP = r"the (?:([0-9,]+) )?(?:most likely labels?|labels? with the largest (?:probability|values?))"
NTH = {ordinal(number): number for number in range(1, 30)}
READABLE = [rs.Rank(), rs.TopK(), rs.Thr(), rs.Margin()]


def count(text):
    return 1 if text is None else int(text.replace(",", ""))


def keeps(sentence, row, rank):
    """The labels of a row, with these ranks, that a sentence keeps."""
    if sentence.startswith("keeps every label: "):
        return np.ones(len(row), dtype=bool)
    if found := re.fullmatch(f"keeps labels with a {WORD} of at least {NUMBER}(?:; a set can be empty)?", sentence):
        return row >= float(found[1])
    if found := re.fullmatch(f"keeps {TOP}", sentence):
        return rank <= count(found[1])
    if found := re.fullmatch(f"keeps {TOP} if its {WORD} is at least {NUMBER}; else no label", sentence):
        return (rank == 1) & (row >= float(found[2]))
    if found := re.fullmatch(f"keeps {TOP}, and a (\\w+) if its {WORD} is at least {NUMBER}", sentence):
        last = NTH[found[2]]
        assert last == count(found[1]) + 1
        return (rank < last) | ((rank == last) & (row >= float(found[3])))
    best = np.array([np.delete(row, place).max(initial=-np.inf) for place in range(len(row))])
    if found := re.fullmatch(
        f"keeps {TOP} if its {WORD} is at least {NUMBER} above that of every other label; else no label", sentence
    ):
        return (rank == 1) & (best - row <= -float(found[2]))
    found = re.fullmatch(f"keeps {TOP}, and every label whose {WORD} is at most {NUMBER} below the largest", sentence)
    assert found, sentence
    return (rank == 1) | (row.max() - row <= float(found[2]))


def keeps_label(sentence, row, rank):
    """The labels of a row, with these ranks, that a sentence about a label, "it", keeps."""
    if sentence.startswith("always in the set: "):
        return np.ones(len(row), dtype=bool)
    assert sentence.startswith("in the set if ")
    sentence = sentence.removeprefix("in the set if ")
    least = f"its {WORD} is at least {NUMBER}"
    if found := re.fullmatch(least, sentence):
        return row >= float(found[1])
    if found := re.fullmatch(f"it is (?:one of )?{TOP}", sentence):
        return rank <= count(found[1])
    if found := re.fullmatch(f"it is {TOP} and {least}", sentence):
        return (rank == 1) & (row >= float(found[2]))
    if found := re.fullmatch(f"it is (?:one of )?{TOP}, or it is the (\\w+) and {least}", sentence):
        last = NTH[found[2]]
        assert last == count(found[1]) + 1
        return (rank < last) | ((rank == last) & (row >= float(found[3])))
    best = np.array([np.delete(row, place).max(initial=-np.inf) for place in range(len(row))])
    if found := re.fullmatch(f"{least} above that of every other label", sentence):
        return best - row <= -float(found[1])
    found = re.fullmatch(f"its {WORD} is at most {NUMBER} below the largest", sentence)
    assert found, sentence
    return (rank == 1) | (row.max() - row <= float(found[1]))


def ranks(row):
    order = np.argsort(-row, kind="stable")
    ranks = np.empty(len(row), dtype=int)
    ranks[order] = np.arange(1, len(row) + 1)
    return ranks


def set_of(rule, alpha, row, group):
    """The set that the sentences about every label of a row describe."""
    kept = []
    for place in range(len(row)):
        options = {"group": group} if rule.condition.needs_groups else {}
        if rule.spec.table().shape[1] > 1:
            options["label"] = place
        sentence = rule.describe(alpha, **options, digits=17)
        about_label = re.fullmatch(r"(?:groups? .* × )?labels? .*?: ((?:in the set if|always in the set).*)", sentence)
        reading = (keeps, sentence) if about_label is None else (keeps_label, about_label[1])
        kept.append(reading[0](reading[1], row, ranks(row))[place])
    return np.array(kept)


@given(problems(score=st.sampled_from(READABLE)), alphas, st.sampled_from(["probs", "decision"]))
def test_sentences_are_the_rules_that_make_the_sets(problem, alpha, kind):
    probs = problem.probs.astype(float)
    values = probs if kind == "probs" else np.round(20 * probs) - 7
    rule = rs.calibrate(
        values, problem.labels, score=problem.score, condition=problem.condition, kind=kind, **problem.keywords
    )
    mask = rule.predict(values, alpha, **problem.keywords).mask
    for row, group, kept in zip(values, problem.groups, mask, strict=True):
        assert (set_of(rule, alpha, row, group) == kept).all()


@given(problems(condition=st.just(rs.Marginal()), score=st.sampled_from(SCORES)), alphas)
def test_every_score_says_something_and_tells_when_every_label_is_kept(problem, alpha):
    rule = problem.calibrate()
    sentence = rule.describe(alpha)
    assert sentence.startswith(("keeps ", "leaves out all but "))
    assert sentence.startswith("keeps every label: alpha=") == (threshold_position(rule.n, exact_alpha(alpha)) > rule.n)
    assert rule.at(alpha).describe() == sentence
    for number in re.findall(r"\d+\.\d+", sentence):  # more digits only where four would be 0 or 1
        assert len(number) <= len("0.00001234") or round(float(number), 4) in {0.0, 1.0}


@given(problems(condition=st.just(rs.Marginal()), score=st.sampled_from([rs.Aps(), rs.Aps(randomized=False)])), alphas)
def test_accumulated_probabilities_stop_where_the_sentence_says(problem, alpha):
    rule = problem.calibrate()
    found = re.search(r"add up to (at most )?([0-9.e-]+)", rule.describe(alpha, digits=17))
    if found is None:
        assert rule.describe(alpha).startswith("keeps every label")
        return
    bound, sets = float(found[2]), problem.predict(rule, alpha)
    for row, kept in zip(problem.probs.astype(float), sets, strict=True):
        sums = np.cumsum(np.sort(row)[::-1])
        sure, possible = (sums <= bound - 1e-9).sum(), (np.append(0, sums)[:-1] <= bound + 1e-9).sum()
        assert sure <= len(kept) <= (possible if problem.score.randomized else (sums <= bound + 1e-9).sum())


SUMS = [rs.Aps(), rs.Aps(randomized=False), rs.Raps(0.1, 1), rs.Raps(0.1, 0, randomized=False), rs.Saps(), rs.Thr()]
SUMS += [
    rs.Thr((1.0,)),
    rs.RankLimited(rs.Thr((1.0,)), (1,)),
    rs.RankLimited(rs.Aps(), (1,)),
    rs.ClassOffsets(rs.Margin(), (0.0,)),
    rs.ClassOffsets(rs.Aps(), (0.0,)),
    rs.FuzzyClasses(rs.Thr(), (-0.5,), (1,)),
]


@given(problems(condition=st.just(rs.Marginal()), score=st.sampled_from(SUMS)), alphas)
def test_sets_are_empty_only_where_the_sentence_says_so(problem, alpha):
    rule = problem.calibrate()
    told = "; a set can be empty" in rule.describe(alpha)
    assert told or problem.predict(rule, alpha).sizes.min() > 0


@given(problems(condition=st.just(rs.PerLabel()), score=st.sampled_from([rs.Aps(randomized=False), rs.Aps()])), alphas)
def test_sums_of_one_label_are_as_its_sentence_says(problem, alpha):
    assume(problem.probs.shape[1] > 1)  # a rule of one class has one threshold, and no label to ask for
    rule = problem.calibrate()
    mask = problem.predict(rule, alpha).mask
    for place in range(problem.probs.shape[1]):
        found = re.search(r"add up to at most ([0-9.e-]+)$", rule.describe(alpha, label=place, digits=17))
        if found is None:
            assert "always in the set" in rule.describe(alpha, label=place)
            assert mask[:, place].all()
            continue
        for row, kept in zip(problem.probs.astype(float), mask[:, place], strict=True):
            before = row[ranks(row) < ranks(row)[place]].sum()
            surely = before + row[place] <= float(found[1]) - 1e-9
            never = (before if problem.score.randomized else before + row[place]) > float(found[1]) + 1e-9
            assert kept or not surely
            assert not (kept and never)


@given(st.floats(-1e300, 1e300), st.integers(1, 17))
def test_numbers_are_rounded_but_never_to_0_or_1(value, digits):
    text = Wording(digits=digits).number(value)
    assert (float(text) in (0, 1, -1)) == (value in (0, 1, -1))
    assert float(text) == pytest.approx(value, rel=10.0 ** (1 - digits))


def test_ordinals():
    assert [ordinal(number) for number in range(1, 11)] == list(ORDINALS)
