"""``rs.report``, ``rs.report_scores``, ``ConformalClassifier.report``: pages written from Python, with ids of rows."""

import json
import os
import re
import sys
from html import unescape
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import rankset as rs
from rankset.cli.commands import rankset
from rankset.errors import FileError, InputError, KindError, LabelError, PackageError, RuleError
from refusals import like, refused

pytest.importorskip("plotly")

LOGITS, LABELS = rs.datasets.load("carer")
CAL, NEW = slice(0, 700), slice(700, 1300)
RULE = rs.calibrate(LOGITS[CAL], LABELS[CAL], kind="logits")
DRAWS = rs.calibrate(LOGITS[CAL], LABELS[CAL], kind="logits", score=rs.Aps())
WITH_IDS = rs.calibrate(LOGITS[CAL], LABELS[CAL], kind="logits", score=rs.Aps(), ids=range(700))
DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', flags=re.DOTALL)
CASES = [f"case-{number}" for number in range(600)]


def told(html):
    return json.loads(DATA.search(html)[1])


def listed(report, place=0):
    return report.study.data["scores"][place]["ambiguous"]


class TestReport:
    def test_the_file_holds_the_numbers_of_the_study(self, tmp_path):
        made = rs.report(RULE, LOGITS[NEW], LABELS[NEW], tmp_path / "page.html", alpha=0.05, title="Emotions")
        assert made.path == tmp_path / "page.html"
        html = made.path.read_text(encoding="utf-8")
        assert html == made.html
        assert "<h1>Emotions</h1>" in html
        assert told(html) == made.study.data
        assert made.study == rs.reports.study_rules([RULE], LOGITS[NEW], LABELS[NEW], alpha=0.05)
        assert repr(made) == f"Report('Emotions', 600 rows, Rank(), path={os.fspath(made.path)!r})"

    def test_a_file_is_replaced_whole_or_not_at_all(self, tmp_path):
        path = tmp_path / "page.html"
        path.write_text("old")
        with refused(LabelError):
            rs.report(RULE, LOGITS[NEW], LABELS[NEW] + 1, path)
        assert path.read_text() == "old"
        rs.report(RULE, LOGITS[NEW], LABELS[NEW], str(path))
        assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
        assert [one.name for one in tmp_path.iterdir()] == ["page.html"]

    def test_several_rules_in_one_page(self):
        made = rs.report([RULE, DRAWS], LOGITS[NEW], LABELS[NEW])
        assert [score["name"] for score in made.study.data["scores"]] == ["Rank()", "Aps(randomized=True)"]
        assert (made.path, made.title) == (None, "Prediction sets")

    def test_notebooks_show_the_page_or_a_link(self, tmp_path):
        made = rs.report(RULE, LOGITS[NEW], LABELS[NEW], title='a "title" <b>')
        frame = made._repr_html_()
        assert frame.startswith('<iframe srcdoc="')
        assert unescape(frame.split('"')[1]) == made.html
        assert "<b>" not in frame
        link = made.save(tmp_path / "a & b.html")._repr_html_()
        assert "a%20%26%20b.html" in link
        assert "a &amp; b.html" in link
        assert len(link) < 5000

    def test_what_is_refused_before_any_work(self, tmp_path):
        nothing = (None, None, None)
        for name in ("page.htm", "rule.rankset", "page"):
            with refused(FileError.report_suffix(name)):
                rs.report(*nothing, name)
            with refused(FileError.report_suffix(name)):
                rs.report_scores(*nothing, None, name)
        with refused(FileError.report_suffix("x.csv")):
            rs.report(RULE, LOGITS[NEW], LABELS[NEW]).save("x.csv")
        with mock.patch.dict(sys.modules, {"plotly.offline": None}), pytest.raises(PackageError):
            rs.report(*nothing, "page.html")
        with refused(like(FileError)):
            rs.report(RULE, LOGITS[NEW], LABELS[NEW], tmp_path / "no" / "page.html")
        for wrong in (RULE.at(0.1), rs.CrossRule((RULE, RULE)), None):
            with refused(KindError.no_whole_rule("a report", wrong)):
                rs.report(wrong, LOGITS[NEW], LABELS[NEW])
        with refused(KindError.argument("rules", "a list of at least one Rule", [])):
            rs.report([], LOGITS[NEW], LABELS[NEW])
        with refused(InputError.no_rows_to_evaluate()):
            rs.report(RULE, LOGITS[:0], LABELS[:0])

    def test_groups(self):
        sites = np.array(["north", "south"] * 650)
        rule = rs.calibrate(
            LOGITS[CAL], LABELS[CAL], kind="logits", condition=rs.PerGroup(), groups=sites[CAL], score=rs.Thr()
        )
        made = rs.report(rule, LOGITS[NEW], LABELS[NEW], groups=sites[NEW])
        assert made.study.data["group_names"] == ["north", "south"]
        with refused(LabelError.groups_missing(rs.PerGroup())):
            rs.report(rule, LOGITS[NEW], LABELS[NEW])

    def test_the_command_shows_groups_as_python_does(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        sites = (np.arange(1300) % 3).astype(float)  # in csv 0.0, 1.0 and 2.0: texts
        grouped = rs.calibrate(LOGITS[CAL], LABELS[CAL], kind="logits", condition=rs.PerGroup(), groups=sites[CAL])
        RULE.save("plain.rankset")
        grouped.save("grouped.rankset")
        pd.DataFrame(LOGITS[NEW].astype(float)).assign(y=LABELS[NEW], site=sites[NEW]).to_csv("t.csv", index=False)
        for rules, groups in (([RULE], sites.astype(str)), ([RULE, grouped], sites)):
            files = ["plain.rankset", "grouped.rankset"][: len(rules)]
            asked = ["report", *files, "t.csv", "--label", "y", "--group", "site", "-o", "cli.html", "--force"]
            done = CliRunner().invoke(rankset, asked)
            assert done.exit_code == 0, done.output
            made = rs.report(rules, LOGITS[NEW], LABELS[NEW], groups=groups[NEW], names=files)
            found = told((tmp_path / "cli.html").read_text(encoding="utf-8"))
            assert len(found["group_names"]) == 3
            assert found == made.study.data


class TestIds:
    def test_ids_are_those_of_the_rows(self):
        made = rs.report(RULE, LOGITS[NEW], LABELS[NEW], ids=CASES)
        assert len(listed(made)) == 100
        assert all(row["id"] == f"case-{row['row']}" for row in listed(made))
        assert all("id" not in row for row in listed(rs.report(RULE, LOGITS[NEW], LABELS[NEW])))

    def test_the_index_of_a_frame_is_shown_unless_it_counts_from_0(self):
        index = [f"x{number}" for number in range(600)]
        frame = pd.DataFrame(LOGITS[NEW], index=index)
        made = rs.report(RULE, frame, LABELS[NEW])
        assert all(row["id"] == f"x{row['row']}" for row in listed(made))
        made = rs.report(RULE, frame, LABELS[NEW], ids=CASES)
        assert all(row["id"] == f"case-{row['row']}" for row in listed(made))
        assert all("id" not in row for row in listed(rs.report(RULE, frame.reset_index(drop=True), LABELS[NEW])))
        turned = frame.set_index(pd.MultiIndex.from_product([range(20), range(30)]))
        assert all(
            row["id"] == str((row["row"] // 30, row["row"] % 30))
            for row in listed(rs.report(RULE, turned, LABELS[NEW]))
        )

    def test_ids_change_draws_only_if_they_calibrated(self):
        plain = rs.report(DRAWS, LOGITS[NEW], LABELS[NEW])
        named = rs.report(DRAWS, LOGITS[NEW], LABELS[NEW], ids=CASES)
        assert named.study.data["scores"][0]["metrics"] == plain.study.data["scores"][0]["metrics"]
        both = rs.report([WITH_IDS, DRAWS], LOGITS[NEW], LABELS[NEW], ids=range(2000, 2600))
        sets = WITH_IDS.predict(LOGITS[NEW], 0.1, ids=range(2000, 2600))
        first, second = both.study.data["scores"]
        assert first["metrics"]["size"][9] == pytest.approx(sets.sizes.mean(), abs=1e-5)
        assert second["metrics"] == plain.study.data["scores"][0]["metrics"]
        assert first["metrics"]["size"] != second["metrics"]["size"]
        with refused(RuleError.ids("with", "without")):
            rs.report(WITH_IDS, LOGITS[NEW], LABELS[NEW])

    def test_hostile_and_long_ids_are_one_line_of_text(self):
        hostile = ["</script><script>alert(1)</script>", "a\nb\0c", "\ud800", "y" * 10_000] * 150
        made = rs.report(RULE, LOGITS[NEW], LABELS[NEW], ids=hostile)
        seen = {row["id"] for row in listed(made)}
        assert hostile[0] in seen
        assert "a b�c" in seen
        assert max(map(len, seen)) == 200
        assert made.html.count("</script>") == rs.report(RULE, LOGITS[NEW], LABELS[NEW]).html.count("</script>")

    def test_ids_that_do_not_fit_are_refused(self):
        with refused(InputError.length("ids", 600, 599)):
            rs.report(RULE, LOGITS[NEW], LABELS[NEW], ids=CASES[1:])
        with refused(LabelError.missing("ids", 0)):
            rs.report(RULE, LOGITS[NEW], LABELS[NEW], ids=[None, *CASES[1:]])
        frame = pd.DataFrame(LOGITS[NEW], index=CASES)
        with refused(InputError.other_order("ids", "the rows")):
            rs.report(RULE, frame, LABELS[NEW], ids=pd.Series(CASES, index=CASES[::-1]))

    def test_on_the_command_line(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        names = list("abcdef")
        for name, rows in (("val", CAL), ("test", NEW)):
            frame = pd.DataFrame(LOGITS[rows], columns=names)
            frame.assign(y=np.array(names)[LABELS[rows]], case=[f"{name} {n}" for n in range(len(frame))]).to_csv(
                f"{name}.csv", index=False
            )
        named = rs.calibrate(
            pd.DataFrame(LOGITS[CAL], columns=names), np.array(names)[LABELS[CAL]], kind="logits", score=rs.Aps()
        )
        named.save("rule.rankset")
        for files in (["rule.rankset", "test.csv"], ["val.csv", "test.csv", "--kind", "logits"]):
            done = CliRunner().invoke(
                rankset, ["report", *files, "--label", "y", "--id", "case", "-o", "page.html", "--force"]
            )
            assert done.exit_code == 0, done.output
            for score in told((tmp_path / "page.html").read_text(encoding="utf-8"))["scores"]:
                assert all(row["id"] == f"test {row['row']}" for row in score["ambiguous"])


class TestScores:
    def test_the_page_is_that_of_the_command_line(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        for name, rows in (("val", CAL), ("test", NEW)):
            np.save(f"{name}_x.npy", LOGITS[rows])
            np.save(f"{name}_y.npy", LABELS[rows])
        files = [f"{name}_{part}.npy" for name in ("val", "test") for part in "xy"]
        done = CliRunner().invoke(rankset, ["report", *files, "--kind", "logits", "-o", "cli.html"])
        assert done.exit_code == 0, done.output
        made = rs.report_scores(LOGITS[CAL], LABELS[CAL], LOGITS[NEW], LABELS[NEW], "py.html", kind="logits")
        assert told((tmp_path / "cli.html").read_text(encoding="utf-8")) == made.study.data
        assert made.path.name == "py.html"

    def test_own_scores_ids_and_decisions(self):
        made = rs.report_scores(
            *(LOGITS[CAL], LABELS[CAL], LOGITS[NEW], LABELS[NEW]),
            scores=iter([rs.Tempered(rs.Aps(), 2.0), WITH_IDS.score]),
            kind="logits",
            ids=range(700),
            new_ids=CASES,
            alpha="0.2",
        )
        assert [score["name"] for score in made.study.data["scores"]] == [
            "Tempered(score=Aps(randomized=True), temperature=2.0)",
            "Aps(randomized=True)",
        ]
        sets = WITH_IDS.predict(LOGITS[NEW], 0.2, ids=CASES)
        assert made.study.data["scores"][1]["metrics"]["size"][19] == pytest.approx(sets.sizes.mean(), abs=1e-5)
        made = rs.report_scores(LOGITS[CAL], LABELS[CAL], LOGITS[NEW], LABELS[NEW], kind="decision", new_ids=CASES)
        assert [score["name"] for score in made.study.data["scores"]] == ["Rank()", "Thr()", "Margin()"]


X, Y = load_digits(return_X_y=True, as_frame=True)
X = X.set_index(X.index.map("digit {}".format)) / 16
Y.index = X.index
TRAIN, TEST = slice(0, 900), slice(900, 1400)


def fitted(**options):
    return rs.ConformalClassifier(LogisticRegression(max_iter=200), random_state=0, **options)


@pytest.mark.filterwarnings("ignore::rankset.RanksetWarning")
class TestClassifier:
    @pytest.mark.parametrize("split", [None, rs.CrossConformal(3), rs.Holdout(0.5, stratify=True)], ids=repr)
    @pytest.mark.parametrize("condition", [rs.Marginal(), rs.PerLabel()], ids=repr)
    def test_every_number_is_that_of_the_models_sets(self, split, condition, tmp_path):
        model = fitted(split=split, condition=condition).fit(X[TRAIN], Y[TRAIN])
        made = model.report(X[TEST], Y[TEST], tmp_path / "model.html", alpha="0.015")
        assert told(made.path.read_text(encoding="utf-8")) == made.study.data
        (score,) = made.study.data["scores"]
        for alpha in ("0.015", "0.05", "0.1"):
            seen = rs.evaluate(model.predict_set(X[TEST], alpha), Y[TEST])
            place = made.study.data["alphas"].index(float(alpha))
            assert score["metrics"]["coverage"][place] == pytest.approx(seen.coverage, abs=1e-5)
            assert score["metrics"]["size"][place] == pytest.approx(seen.mean_size, abs=1e-5)
            assert ("band" in score) == (split is None and condition == rs.Marginal())
            proven = score["proven"][place]
            if isinstance(split, rs.CrossConformal):
                assert proven == model.rule_.guarantee(alpha)
            else:
                assert proven == (None if model.guaranteed_ else 0.0)
        assert all(row["id"] == f"digit {900 + row['row']}" for row in score["ambiguous"])
        assert made.study.data["calibration"] == model.rule_.n

    def test_groups_ids_names_and_lists(self):
        names = np.array([f"number {label}" for label in Y])
        sites = np.array(["a", "b"] * 700)
        model = fitted(condition=rs.PerGroup(), method=rs.Aps()).fit(X[TRAIN], names[TRAIN], groups=sites[TRAIN])
        made = model.report(X[TEST], list(names[TEST]), groups=sites[TEST], ids=CASES[:500], title="t")
        assert made.study.data["classes"] == [f"number {label}" for label in range(10)]
        assert made.study.data["group_names"] == ["a", "b"]
        assert all(row["id"] == f"case-{row['row']}" for row in listed(made))
        assert made.title == "t"

    @pytest.mark.parametrize("split", [None, rs.CrossConformal(3)], ids=repr)
    def test_groups_are_shown_also_for_a_rule_without_groups(self, split):
        model, sites = fitted(split=split).fit(X[TRAIN], Y[TRAIN]), np.array(["a", "b"] * 250)
        made = model.report(X[TEST], Y[TEST], groups=sites)
        covered = model.predict_set(X[TEST], 0.1).covers(Y[TEST])
        expected = [covered[sites == site].mean() for site in "ab"]
        assert made.study.data["scores"][0]["group_coverage"][9] == pytest.approx(expected, abs=1e-4)

    def test_what_is_refused(self):
        model = fitted().fit(X[TRAIN], Y[TRAIN])
        with refused(FileError.report_suffix("x.pdf")):
            model.report(X[TEST], Y[TEST], "x.pdf")
        with refused(InputError.other_order("y", "the rows")):
            model.report(X[TEST], Y[TEST][::-1])
        with refused(LabelError.groups_missing(rs.PerGroup())):
            grouped = fitted(condition=rs.PerGroup()).fit(X[TRAIN], Y[TRAIN], groups=["a", "b"] * 450)
            grouped.report(X[TEST], Y[TEST])
        with refused(like(LabelError, what="y")):
            model.report(X[TEST], Y[TEST] + 5)
        with refused(InputError.no_rows_to_evaluate()):
            rs.report(model.rule_, np.empty((0, 10)), [])
