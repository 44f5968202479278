"""The report's numbers are the library's; its page is one file that trusts no text. `run.py browser` opens it."""

import json
import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import rankset as rs
from rankset.cli.commands import rankset
from rankset.errors import InputError, KindError, RuleError
from rankset.evaluation.metrics import METRICS
from refusals import refused

pytest.importorskip("plotly")

LOGITS, LABELS = rs.datasets.load("carer")
CAL, NEW = slice(0, 700), slice(700, 1300)
HOSTILE = ["</script><script>alert(1)</script>", '"quoted" & <b>', "\u202eturned", "\ud800", "ok", "naïve 猫"]
RULES = [
    rs.calibrate(LOGITS[CAL], LABELS[CAL], kind="logits", score=score) for score in (rs.Rank(), rs.Thr(), rs.Aps())
]
STUDY = rs.reports.study_rules(RULES, LOGITS[NEW], LABELS[NEW])
PLOTLY = '<script type="text/plain" id="plotly">'
DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', flags=re.DOTALL)


def test_every_number_is_the_librarys():
    told = STUDY.data
    assert told["rows"] == 600
    assert told["calibration"] == 700
    for rule, score in zip(RULES, told["scores"], strict=True):
        for place in (0, 4, 9, 19, 49):
            alpha = f"{told['alphas'][place]:g}"
            sets = rule.predict(LOGITS[NEW], alpha)
            seen = rs.evaluate(sets, LABELS[NEW])
            for name in METRICS:
                assert score["metrics"][name][place] == (None if np.isnan(seen[name]) else seen[name])
            assert score["interval"][place] == list(seen.interval)
            assert score["histogram"][place] == seen.size_counts.tolist()
            for name, ends in seen.ranges.items():
                assert name == "coverage" or score["ranges"][name][place] == list(ends)
            assert score["class_hits"][place] == [round(share.coverage * share.n) for share in seen.classes]
            assert score["class_size"][place] == [round(share.mean_size, 3) for share in seen.classes]
            low, high = score["band"][place]
            assert (low, 1.0 if score["tied"][place] else high) == seen.expected
    assert told["scores"][0]["r_star"][9] == RULES[0].rank_profile(0.1).r_star


@pytest.mark.parametrize("place", range(len(RULES)))
def test_ambiguous_rows_have_their_sets(place):
    rule, told = RULES[place], STUDY.data["scores"][place]["ambiguous"]
    sets = {alpha: rule.predict(LOGITS[NEW], alpha) for alpha in ("0.05", "0.1", "0.2")}
    assert len(told) == 100
    for row in told:
        assert row["label"] == LABELS[NEW][row["row"]]
        for alpha, some in sets.items():
            kept = [column for column, p in row["labels"] if p > float(alpha)]
            assert set(kept) == set(some[row["row"]].tolist())
            assert row["sizes"][STUDY.data["alphas"].index(float(alpha))] == len(kept)
    assert told[0]["sizes"][9] == sets["0.1"].sizes.max()


def test_blocks_change_nothing(monkeypatch):
    monkeypatch.setenv("RANKSET_BLOCK_BYTES", "800")
    assert rs.reports.study_rules(RULES, LOGITS[NEW], LABELS[NEW]) == STUDY


def test_rules_with_groups_and_frames():
    site = np.array(["north", "south"] * 300)
    groups = np.array(["north", "south"] * 350)
    rule = rs.calibrate(LOGITS[CAL], LABELS[CAL], kind="logits", condition=rs.PerGroup(), groups=groups)
    study = rs.reports.study_rules([rule], LOGITS[NEW], LABELS[NEW], groups=site)
    (told,) = study.data["scores"]
    seen = rs.evaluate(rule.predict(LOGITS[NEW], 0.1, groups=site), LABELS[NEW])
    assert told["metrics"]["coverage"][9] == pytest.approx(seen.coverage, abs=1e-5)
    assert "band" not in told
    assert study.data["smallest"] == 350
    assert study.data["groups"] == 2


def test_ties_only_raise_coverage():
    rule = rs.calibrate(LOGITS[CAL], LABELS[CAL], kind="logits", score=rs.TopK())
    (told,) = rs.reports.study_rules([rule], LOGITS[NEW], LABELS[NEW]).data["scores"]
    assert told["tied"][9]


def test_the_page_is_one_file_and_takes_no_text_for_markup():
    labels = np.array(HOSTILE, dtype=object)
    study = rs.reports.study_scores(
        LOGITS[CAL], labels[LABELS[CAL]], LOGITS[NEW], labels[LABELS[NEW]], kind="logits", classes=HOSTILE
    )
    page = rs.reports.page(study, '<img src=x onerror="alert(1)"> {{data}}')
    page.encode()  # half a character would not survive
    assert page.count("<script") == page.count("</script>")
    ours = page.split(PLOTLY, 1)[0]
    assert "<img" not in ours
    assert "onerror=&quot;" in ours
    (found,) = DATA.findall(page)
    assert "<" not in found
    assert json.loads(found)["classes"][0] == HOSTILE[0]
    without_plotly = ours + page.rsplit("<script>", 1)[1]
    assert not re.search(r"https?://", without_plotly)
    assert "default-src 'none'" in page
    assert "{{title}}" not in page


def test_a_large_report_stays_small():
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.full(100, 0.1), 6000)
    labels = np.array([rng.choice(100, p=row) for row in probs])
    study = rs.reports.study_scores(probs[:1000], labels[:1000], probs[1000:], labels[1000:])
    assert len(rs.reports.page(study)) < 8_000_000


def test_rules_of_other_classes_and_no_rows_are_told():
    other = rs.calibrate(LOGITS[CAL][:, :3], LABELS[CAL] % 3, kind="logits")
    with refused(
        RuleError,
        what="rules that are used together",
        expected="have the same classes",
        remedy="Calibrate all rules with the same classes.",
    ):
        rs.reports.study_rules([RULES[0], other], LOGITS[NEW], LABELS[NEW])
    with refused(InputError.no_rows_to_evaluate()):
        rs.reports.study_rules(RULES, LOGITS[:0], LABELS[:0])


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, part in (("val", CAL), ("test", NEW)):
        np.save(f"{name}_logits.npy", LOGITS[part])
        np.save(f"{name}_labels.npy", LABELS[part])
    files = ["val_logits.npy", "val_labels.npy", "test_logits.npy", "test_labels.npy"]
    done = CliRunner().invoke(
        rankset, ["report", *files, "--kind", "logits", "-o", "report.html", "--title", "Emotions"]
    )
    assert done.exit_code == 0, done.output
    assert "<h1>Emotions</h1>" in (tmp_path / "report.html").read_text(encoding="utf-8")
    done = CliRunner().invoke(rankset, ["report", *files, "--kind", "logits", "-o", "report.html"])
    assert "exists already" in done.stderr


def short_repr(path):
    (found,) = DATA.findall(path.read_text(encoding="utf-8"))
    return json.loads(found)


def test_the_command_on_rules_and_on_tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ["a", "b", "c", "d", "e", "f"]
    for name, part in (("val", CAL), ("test", NEW)):
        frame = pd.DataFrame(LOGITS[part].astype(float), columns=names).assign(y=np.array(names)[LABELS[part]])
        frame.to_csv(f"{name}.csv", index=False)
    RULES[1].save("thr.rankset")
    rs.calibrate(LOGITS[CAL], np.array(names)[LABELS[CAL]], kind="logits", classes=names).save("named.rankset")
    np.save("x.npy", LOGITS[NEW])
    np.save("y.npy", LABELS[NEW])
    run = partial(CliRunner().invoke, rankset)
    assert run(["report", "thr.rankset", "x.npy", "y.npy", "-o", "one.html"]).exit_code == 0
    assert short_repr(tmp_path / "one.html")["scores"] == [STUDY.data["scores"][1]]
    done = run(["report", "named.rankset", "x.npy", "y.npy", "-o", "numbers.html"])  # labels as column numbers
    assert done.exit_code == 0, done.output
    done = run(["report", "val.csv", "test.csv", "--label", "y", "--kind", "logits", "-o", "tables.html"])
    assert done.exit_code == 0, done.output
    assert short_repr(tmp_path / "tables.html")["scores"][0]["metrics"] == STUDY.data["scores"][0]["metrics"]
    assert short_repr(tmp_path / "numbers.html")["scores"] == short_repr(tmp_path / "tables.html")["scores"][:1]
    for wrong in (["thr.rankset", "x.npy"], ["x.npy", "y.npy"], ["x.npy", "thr.rankset", "y.npy"]):
        done = run(["report", *wrong, "-o", "no.html"])
        assert done.exit_code == 2
        assert "Expected" in done.stderr
    assert run(["report", "thr.rankset", "x.npy", "y.npy", "--kind", "logits", "-o", "no.html"]).exit_code == 2
    assert not (tmp_path / "no.html").exists()


def test_rules_of_one_report_expect_the_same_numbers():
    probs, labels = rs.datasets.load("marketing")
    with np.errstate(divide="ignore"):
        rules = [rs.calibrate(probs, labels), rs.calibrate(np.log(probs), labels, kind="logits")]
    with refused(RuleError.different("kind", "probs", "logits")):
        rs.reports.study_rules(rules, probs, labels)
    with refused(KindError, what="rules", expected="be a list of at least one Rule", received="[]"):
        rs.reports.study_rules([], probs, labels)


def test_rules_of_one_level_and_of_folds_are_refused():
    for other in (RULES[0].at(0.1), rs.CrossRule((RULES[0],) * 2), "rule"):
        for rules in ([other], [RULES[0], other]):
            with refused(KindError.no_whole_rule("a report", other)):
                rs.reports.study_rules(rules, LOGITS[NEW], LABELS[NEW])


def test_a_number_and_its_text_are_two_groups_and_two_classes():
    rng = np.random.default_rng(0)
    probs, labels = rng.dirichlet(np.ones(3), 90), rng.integers(3, size=90)
    names = [1, "1", "a  b"]
    groups = np.array([1, "1", "a  b", "a b", 10, 9], dtype=object)[np.arange(90) % 6]
    named = [names[label] for label in labels]
    rule = rs.calibrate(probs, named, classes=names, condition=rs.PerGroup(), groups=groups)
    told = rs.reports.study_rules([rule], probs, named, groups=groups, alpha=0.2).data
    assert told["classes"] == ["1", "'1'", "a b"]
    assert told["group_names"] == ["1", "9", "10", "'1'", "'a b' (no. 5)", "'a b' (no. 6)"]
    assert told["group_counts"] == [15] * 6
    covered = rule.predict(probs, 0.2, groups=groups).covers(named)
    of_text = np.array([group == "1" for group in groups])
    place = told["alphas"].index(0.2)
    assert told["scores"][0]["group_coverage"][place][3] == pytest.approx(covered[of_text].mean(), abs=1e-4)


def test_rules_with_and_without_groups_are_shown_by_group():
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(4), 400)
    labels = np.array([rng.choice(4, p=row) for row in probs])
    groups = np.array(["north", "south"])[labels % 2]
    known, new = slice(0, 200), slice(200, 400)
    plain = rs.calibrate(probs[known], labels[known])
    grouped = rs.calibrate(probs[known], labels[known], condition=rs.PerGroup(), groups=groups[known])
    study = rs.reports.study_rules([plain, grouped], probs[new], labels[new], groups=groups[new]).data
    place = study["alphas"].index(0.1)
    for rule, shown, options in ((plain, 0, {}), (grouped, 1, {"groups": groups[new]})):
        covered = rule.predict(probs[new], 0.1, **options).covers(labels[new])
        expected = [round(float(covered[groups[new] == name].mean()), 4) for name in ("north", "south")]
        assert study["scores"][shown]["group_coverage"][place] == expected


def test_every_rule_has_its_own_guarantee_and_name():
    groups = np.array(["north", "south", "east"])[np.arange(1300) % 3]
    plain = rs.calibrate(LOGITS[CAL], LABELS[CAL], kind="logits")
    grouped = rs.calibrate(LOGITS[CAL], LABELS[CAL], kind="logits", condition=rs.PerGroup(), groups=groups[CAL])
    chosen = rs.auto(LOGITS[CAL], LABELS[CAL], kind="logits")
    rules = [plain, grouped, plain, chosen]
    first, second, third, fourth = rs.reports.study_rules(rules, LOGITS[NEW], LABELS[NEW], groups=groups[NEW]).data[
        "scores"
    ]
    assert first["guarantee"]["groups"] == 1
    assert (first["guarantee"]["smallest"], first["guarantee"]["rows"]) == (700, 700)
    assert (second["guarantee"]["groups"], second["guarantee"]["smallest"]) == (3, 233)
    assert second["guarantee"]["condition"] == "per group"
    assert [first["label"], second["label"], third["label"]] == ["RANK", "RANK, per group", "RANK #2"]
    assert len(fourth["label"]) < 30
    assert fourth["text"] == repr(chosen.score)
    named = rs.report(
        rules, LOGITS[NEW], LABELS[NEW], groups=groups[NEW], names=["a.rankset", "b.rankset", "c.rankset", "d.rankset"]
    )
    assert len(repr(named)) < 120
    labels = [score["label"] for score in named.study.data["scores"]]
    assert labels[:3] == ["RANK (a.rankset)", "RANK, per group", "RANK (c.rankset)"]
    with pytest.raises(rs.errors.KindError, match="4 names, one per rule"):
        rs.reports.study_rules(rules, LOGITS[NEW], LABELS[NEW], groups=groups[NEW], names=["a"])


def test_absent_labels_limit_only_the_rules_that_have_them():
    absent = [rs.ABSENT if row % 5 == 0 else label for row, label in enumerate(LABELS[CAL].tolist())]
    rules = [
        rs.calibrate(LOGITS[CAL], LABELS[CAL], kind="logits"),
        rs.calibrate(LOGITS[CAL], absent, kind="logits"),
    ]
    told = rs.reports.study_rules(rules, LOGITS[NEW], LABELS[NEW]).data["scores"]
    assert [score["guarantee"]["absent"] for score in told] == [0, 140]


def test_the_command_line_names_rules_by_their_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, rows in (("early.rankset", slice(0, 300)), ("late.rankset", slice(300, 700))):
        rs.calibrate(LOGITS[rows], LABELS[rows], kind="logits").save(name)
    np.save("x.npy", LOGITS[NEW])
    np.save("y.npy", LABELS[NEW])
    asked = ["report", "early.rankset", "late.rankset", "x.npy", "y.npy", "-o", "page.html"]
    done = CliRunner().invoke(rankset, asked)
    assert done.exit_code == 0, done.output
    assert "RANK (early.rankset), RANK (late.rankset)" in done.stderr
    assert '"label":"RANK (late.rankset)"' in (tmp_path / "page.html").read_text(encoding="utf-8")
