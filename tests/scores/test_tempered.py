"""Temperature scaling: ``Tempered`` around every score, and the temperature of ``Temperature`` and ``Recalibrated``."""

import copy
import dataclasses
import pickle
import sys
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

import rankset as rs
from rankset.cli.commands import rankset
from rankset.errors import KindError, ScoreError
from rankset.io import container
from rankset.rules import rule_file
from rankset.scores.recalibration.scale import simplest_inverse
from refusals import like, refused
from strategies import DETERMINISTIC, RANDOMIZED, alphas, problems_with_news, sized

pytestmark = pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")

LOGITS, LABELS = rs.datasets.load("carer")
LOGITS, LABELS = LOGITS[:600].astype(np.float64), LABELS[:600]
temperatures = st.sampled_from([0.05, 0.3, 0.5, 1.5, 2.0, 49.0, 1000.0])
plain_scores = st.sampled_from([*DETERMINISTIC, *RANDOMIZED, rs.TieBreak(rs.Thr()), rs.Seen(rs.Aps(), (0,), 1)])


@pytest.mark.parametrize("temperature", [0.05, 0.7, 1.5, 30.0])
def test_rows_are_those_of_softmax_with_a_temperature(temperature):
    score = rs.Tempered(rs.Thr(), temperature)
    expected = softmax(LOGITS / temperature, axis=1)
    np.testing.assert_allclose(score.transform(rs.softmax(LOGITS)), expected, rtol=1e-11, atol=1e-280)
    wide = np.random.default_rng(0).dirichlet(np.ones(3000), 20)
    powers = wide ** (1 / temperature)
    np.testing.assert_allclose(score.transform(wide), powers / powers.sum(axis=1, keepdims=True), rtol=1e-11)


def test_zeros_stay_zeros_and_order_of_columns_does_not_matter():
    rows = np.array([[0.0, 0.5, 0.25, 0.25, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0], [0.2] * 5])
    score = rs.Tempered(rs.Aps(), 3.0)
    answer = score.transform(rows)
    assert ((answer == 0) == (rows == 0)).all()
    assert (score.transform(rows[:, ::-1]) == answer[:, ::-1]).all()
    assert (score.transform(rows[:1]) == answer[:1]).all()
    np.testing.assert_allclose(answer.sum(axis=1), 1)


@given(problems_with_news(score=plain_scores), alphas)
def test_temperature_one_changes_nothing(problem_and_news, alpha):
    problem, news = problem_and_news
    plain = problem.calibrate()
    rule = problem.calibrate(score=rs.Tempered(problem.score, 1))
    assert rule.calibration == plain.calibration
    assert news.predict(rule, alpha) == news.predict(plain, alpha)
    assert (news.p_values(rule) == news.p_values(plain)).all()


@given(problems_with_news(score=st.sampled_from([rs.TopK(), rs.TieBreak(rs.TopK())])), temperatures, alphas)
def test_ranks_do_not_change(problem_and_news, temperature, alpha):
    problem, news = problem_and_news
    rule = problem.calibrate(score=rs.Tempered(problem.score, temperature))
    assert rule.calibration == problem.calibrate().calibration
    assert news.predict(rule, alpha) == news.predict(problem.calibrate(), alpha)


@given(problems_with_news(score=plain_scores), temperatures, alphas)
def test_sets_are_those_of_the_inner_score_on_tempered_rows(problem_and_news, temperature, alpha):
    """For scores that draw nothing: noise is made from the rows as they are."""
    problem, news = problem_and_news
    score = problem.score
    if "noise" in score.features:
        return
    rule = problem.calibrate(score=rs.Tempered(score, temperature))
    transform = rs.Tempered(rs.Thr(), temperature).transform
    rows, new = (transform(np.asarray(one.probs, dtype=np.float64)) for one in (problem, news))
    other = dataclasses.replace(problem, probs=rows).calibrate()
    assert rule.calibration == other.calibration
    expected = dataclasses.replace(news, probs=new).predict(other, alpha)
    assert news.predict(rule, alpha).to_lists() == expected.to_lists()


def test_logits_and_their_softmax_agree_and_nesting_multiplies():
    rule = rs.calibrate(LOGITS, LABELS, score=rs.Tempered(rs.Saps(randomized=False), 2.0), kind="logits")
    hand = rs.calibrate(LOGITS / 2, LABELS, score=rs.Saps(randomized=False), kind="logits")
    twice = rs.Tempered(rs.Tempered(rs.Saps(randomized=False), 0.5), 4.0)
    again = rs.calibrate(LOGITS, LABELS, score=twice, kind="logits")
    for one in (hand, again):
        np.testing.assert_allclose(one.calibration.keys[0], rule.calibration.keys[0], rtol=1e-9)


def test_ragged_rows_and_binary_rows():
    rows = [row[: 2 + place % 5] for place, row in enumerate(LOGITS)]
    answers = [int(row.argmax()) for row in rows]
    score = rs.Tempered(rs.Aps(randomized=False), 2.0)
    sets = rs.calibrate(rs.Ragged.of(rows), answers, kind="logits", score=score).predict(rs.Ragged.of(rows), 0.1)
    hand = [row / 2 for row in rows]
    plain = rs.calibrate(rs.Ragged.of(hand), answers, kind="logits", score=rs.Aps(randomized=False))
    assert sets.to_lists() == plain.predict(rs.Ragged.of(hand), 0.1).to_lists()
    p = rs.softmax(LOGITS[:, :2])[:, 1]
    assert rs.calibrate(p, LABELS % 2, kind="binary", score=score).n == 600


def test_the_fit_has_the_largest_likelihood():
    sharp = LOGITS * 3
    score = rs.Tempered.fit(sharp, LABELS, score=rs.Raps(), kind="logits")
    best = minimize_scalar(
        lambda t: -log_softmax(sharp / t, axis=1)[np.arange(600), LABELS].sum(), bounds=(0.1, 20), method="bounded"
    )
    assert score.score == rs.Raps()
    assert score.temperature == pytest.approx(best.x, rel=0.02)
    assert rs.Tempered.fit(sharp, LABELS, kind="logits").score == rs.Aps()
    assert score.temperature == rs.Temperature.fit(sharp, LABELS, kind="logits").temperature
    assert 1 / score.temperature == pytest.approx(rs.Recalibrated.fit(sharp, LABELS, kind="logits").scale)


def test_wrong_arguments():
    expected = "a finite number of at least 1e-06"
    for wrong in (0, -1.5, np.inf, np.nan, "1.5", True, None, 1e-7):
        with refused(ScoreError.parameter("Tempered", "temperature", expected, wrong)):
            rs.Tempered(rs.Aps(), wrong)
    with refused(KindError.class_instead_of_object("score", rs.Aps)):
        rs.Tempered(rs.Aps, 2.0)
    with refused(ScoreError.needs_probabilities(rs.Tempered(rs.Margin(), 2.0))):
        rs.calibrate(LOGITS, LABELS, kind="decision", score=rs.Tempered(rs.Margin(), 2.0))
    with refused(like(KindError, what="kind")):
        rs.Tempered.fit(LOGITS, LABELS, kind="decision")
    fitted = rs.Seen(rs.Aps(), (0, 1), 3)
    with refused(ScoreError.fitted_columns(rs.Tempered(fitted, 2.0), 3, 6)):
        rs.calibrate(rs.softmax(LOGITS), LABELS, score=rs.Tempered(fitted, 2.0))


@pytest.mark.parametrize("score", [*DETERMINISTIC, *RANDOMIZED, rs.TieBreak(rs.Rank())], ids=repr)
def test_saved_loaded_merged(score, tmp_path):
    probs = rs.softmax(LOGITS)
    rule = rs.calibrate(probs, LABELS, score=rs.Tempered(score, 1.7))
    rule.save(tmp_path / "rule.rankset")
    loaded = rs.load(tmp_path / "rule.rankset")
    assert loaded == rule
    assert loaded.score == rs.Tempered(score, 1.7)
    halves = [
        rs.calibrate(probs[part], LABELS[part], score=rs.Tempered(sized(score, 6), 1.7))
        for part in (slice(0, 250), slice(250, 600))
    ]
    assert halves[0].merge(halves[1]) == rule
    assert pickle.loads(pickle.dumps(rule)) == rule  # noqa: S301
    if isinstance(score, rs.Rank):
        assert loaded.rank_profile(0.1).r_star == rs.calibrate(probs, LABELS).rank_profile(0.1).r_star


class TestTemperatureAndScale:
    """Files store 1 / temperature, and come back with exactly that number."""

    @given(st.floats(1e-6, 1e6))
    def test_a_stored_scale_comes_back_exactly(self, scale):
        for kind, others in ((rs.Temperature, {}), (rs.Recalibrated, {"weights": [1.0] * 7, "factors": []})):
            stored = {"name": kind.__name__, "scale": scale, **others}
            score = container.rebuild(stored, rule_file.SCORES)
            assert score.scale == scale
            assert container.describe(score, rule_file.SCORES) == {
                name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()
            }
            assert score.temperature == pytest.approx(1 / scale)

    @given(st.floats(1e-6, 1e6), st.integers(1, 15))
    def test_a_typed_temperature_comes_back_as_typed(self, number, digits):
        temperature = max(float(f"{number:.{digits}g}"), 1e-6)
        for score in (rs.Temperature(temperature), rs.Recalibrated(temperature)):
            again = container.rebuild(container.describe(score, rule_file.SCORES), rule_file.SCORES)
            assert (again, hash(again)) == (score, hash(score))
            assert 1 / again.temperature == 1 / temperature
            assert len(repr(again.temperature)) <= len(repr(temperature))

    def test_the_simplest_inverse(self):
        assert [simplest_inverse(1 / one) for one in (1.5, 49.0, 3.0, 0.1)] == [1.5, 49.0, 3.0, 0.1]
        assert simplest_inverse(1e-320) == np.inf  # no such temperature: refused by its owner

    def test_repr_replace_and_copies(self):
        assert repr(rs.Temperature(1.5)) == "Temperature(temperature=1.5)"
        assert repr(rs.Recalibrated(1.5)).startswith("Recalibrated(temperature=1.5, ")
        assert repr(rs.Tempered(rs.Thr(), 2)) == "Tempered(score=Thr(), temperature=2.0)"
        score = rs.Temperature.from_stored(0.7000000000000001)
        assert copy.deepcopy(score) == pickle.loads(pickle.dumps(score)) == score  # noqa: S301
        assert dataclasses.replace(score, temperature=2.0) == rs.Temperature(2.0)
        assert rs.Temperature(2) != rs.Temperature(3)
        assert rs.Temperature(2) != rs.Recalibrated(2)
        assert rs.Temperature(np.float32(2)) == rs.Temperature(2)

    @pytest.mark.parametrize("scale", [0.0, -1.0, 1e7, float("nan"), float("inf"), "2", True, None, 1e-320])
    def test_other_scales_are_refused(self, scale):
        with pytest.raises((ScoreError, ValueError)):
            container.rebuild({"name": "Temperature", "scale": scale}, rule_file.SCORES)

    def test_temperature_is_thr_on_tempered_rows(self):
        probs = rs.softmax(LOGITS)
        for temperature in (0.5, 2.0):
            sets = [
                rs.calibrate(probs, LABELS, score=score).predict(probs, 0.1)
                for score in (rs.Temperature(temperature), rs.Tempered(rs.Thr(), temperature))
            ]
            assert sets[0] == sets[1]

    def test_largest_and_smallest(self):
        assert rs.Temperature(sys.float_info.max).scale > 0
        assert rs.Temperature(1e-6).scale == pytest.approx(1e6)
        with refused(like(ScoreError, what="temperature of Temperature")):
            rs.Temperature(Fraction(3, 2))


class TestCommandLine:
    @pytest.fixture(autouse=True)
    def files(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        np.save("x.npy", LOGITS)
        np.save("y.npy", LABELS)
        for part, rows in enumerate((slice(0, 300), slice(300, 600))):
            np.savez(f"part{part}.npz", logits=LOGITS[rows], y=LABELS[rows])

    def run(self, *options):
        return CliRunner().invoke(rankset, ["calibrate", *options, "--kind", "logits", "-o", "rule.rankset"])

    def test_a_temperature_for_any_score(self):
        done = self.run("x.npy", "y.npy", "--score", "raps", "--set", "penalty=0.1", "--temperature", "1.5")
        assert done.exit_code == 0, done.output
        rule = rs.load("rule.rankset")
        assert rule.score == rs.Tempered(rs.Raps(penalty=0.1, free_ranks=2), 1.5)
        assert rule == rs.calibrate(LOGITS, LABELS, kind="logits", score=rule.score)
        assert "Tempered" in CliRunner().invoke(rankset, ["inspect", "rule.rankset"]).output

    def test_of_several_files(self):
        done = self.run("part0.npz", "part1.npz", "--key", "logits", "--label", "y", "--temperature", "2")
        assert done.exit_code == 0, done.output
        assert rs.load("rule.rankset") == rs.calibrate(LOGITS, LABELS, kind="logits", score=rs.Tempered(rs.Rank(), 2.0))

    def test_wrong_temperatures(self):
        done = self.run("x.npy", "y.npy", "--score", "aps", "--temperature", "0")
        assert done.exit_code == 1
        assert "temperature of Tempered" in done.stderr
        assert self.run("x.npy", "y.npy", "--temperature", "warm").exit_code == 2
        done = self.run("x.npy", "y.npy", "--auto", "0.1", "--temperature", "2")
        assert done.exit_code == 2
        assert "--temperature" in done.stderr
