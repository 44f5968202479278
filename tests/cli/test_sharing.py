"""Few rows per class and rare classes on the command line: ``--pooled``, ``--balanced`` and ``--adjusted``."""

import json

import numpy as np
import pytest

import rankset as rs
from commands import FRAME, LABELS, LOGITS, NAMES, TEST, VAL, fine, run
from rankset.errors import FileError, RuleError
from refusals import check_refusal, failure

COUNTS = dict(zip(NAMES, (4666, 5362, 1304, 2159, 1937, 572), strict=True))
SHARES = list(COUNTS.values())
TABLE = ("calibrate", "val.csv", "--label", "answer", "--kind", "logits", "-o", "a.rankset", "--force")
PLAIN = (*TABLE, "--drop", "site")
USED = ("--training-counts", "train.csv")


@pytest.fixture(autouse=True)
def training(folder):
    lines = [f"{name};{COUNTS[name]}" for name in reversed(NAMES)]  # in another order than the columns
    (folder / "train.csv").write_text("\n".join(["class;count", *lines]))
    (folder / "train.json").write_text(json.dumps(COUNTS))
    (folder / "names.txt").write_text("\n".join(NAMES))
    return folder


def made(*arguments):
    told = fine(*arguments).stdout
    return rs.load("a.rankset"), told


def expected(rows=VAL, **options):
    labels = np.array(NAMES)[LABELS[rows]]
    return rs.calibrate(LOGITS[rows].astype(float), labels, kind="logits", classes=NAMES, **options)


@pytest.mark.parametrize(
    ("options", "condition", "words"),
    [
        (("--drop", "site"), rs.PerLabel(), "per label, pooled"),
        (("--drop", "site", "--per-label"), rs.PerLabel(), "per label, pooled"),
        (("--group", "site"), rs.PerGroup(), "per group, pooled"),
        (("--group", "site", "--per-label"), rs.PerLabelAndGroup(), "per label and group, pooled"),
    ],
)
def test_pooled_is_around_what_other_options_describe(options, condition, words):
    rule, told = made(*TABLE, "--pooled", *options)
    assert rule.condition == rs.Pooled(condition)
    assert f"condition      {words}\n" in told
    each = words.removeprefix("per ").removesuffix(", pooled")
    assert f"promise        coverage of at least 1 - alpha over all rows; of each {each} only approximately\n" in told


@pytest.mark.parametrize("file", ["train.csv", "train.json"])
def test_balanced_and_adjusted_take_counts_by_name(file):
    counts = ("--training-counts", file)
    rule, told = made(*PLAIN, "--balanced", *counts)
    assert rule == expected(condition=rs.Balanced(SHARES))
    assert "condition      balanced over classes\n" in told
    assert "1 - alpha on average over classes" in told
    rule, told = made(*PLAIN, "--balanced", "--pooled", *counts)
    assert rule == expected(condition=rs.Pooled(rs.Balanced(SHARES)))
    assert "condition      balanced over classes, pooled\n" in told
    assert made(*PLAIN, "--adjusted", *counts)[0] == expected(method=rs.Rank(SHARES))
    rule, told = made(*PLAIN, "--adjusted", "--method", "lac", "--pooled", *counts)
    assert rule == expected(method=rs.Thr(SHARES), condition=rs.Pooled())
    assert "Thr(shares of 6 classes)" in told


def test_adjusted_is_inside_of_other_options():
    rule, _ = made(*PLAIN, "--adjusted", *USED, "--method", "thr", "--temperature", "2", "--tie-break")
    assert rule.score == rs.TieBreak(rs.Tempered(rs.Thr(SHARES), 2.0))


def test_columns_without_names_are_counted_by_number(folder):
    asked = ("calibrate", "val_logits.npy", "val_labels.npy", "--kind", "logits", "-o", "a.rankset", "--force")
    (folder / "numbers.csv").write_text("".join(f"{5 - n},{SHARES[5 - n]}\n" for n in range(6)))
    rule, _ = made(*asked, "--adjusted", "--training-counts", "numbers.csv")
    assert rule.score == rs.Rank(SHARES)
    assert made(*asked, "--classes", "names.txt", "--adjusted", *USED)[0].score == rs.Rank(SHARES)
    error = failure(*asked, "--adjusted", *USED)
    check_refusal(error, FileError.counts_of_others("train.csv", NAMES[::-1], [*"012345"]))


def test_files_of_scores_with_two_columns_that_are_one(folder):
    probs = np.random.default_rng(0).uniform(size=200)
    np.save("one.npy", probs)
    np.save("y.npy", (probs > 0.5).astype(int))
    (folder / "two.csv").write_text("0,5\n1,2\n")
    asked = ("calibrate", "one.npy", "y.npy", "--kind", "binary", "-o", "a.rankset")
    assert made(*asked, "--balanced", "--training-counts", "two.csv")[0].condition == rs.Balanced([5, 2])


def test_several_files_need_class_names_for_counts(folder):
    (folder / "parts").mkdir()
    for part in range(2):
        FRAME[VAL][part::2].drop(columns="site").to_parquet(f"parts/{part}.parquet")
    asked = ("calibrate", "parts", "--label", "answer", "--kind", "logits", "-o", "a.rankset", "--force")
    assert made(*asked, "--pooled")[0] == expected(condition=rs.Pooled())
    done = run(*asked, "--balanced", *USED)
    assert done.exit_code == 2
    assert "needs the class names in column order. Pass --classes FILE." in done.output
    both = (*asked, "--balanced", "--adjusted", *USED, "--classes", "names.txt")
    assert made(*both)[0] == expected(method=rs.Rank(SHARES), condition=rs.Balanced(SHARES))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--balanced",), "--balanced needs the number of training rows of each class: --training-counts FILE."),
        (("--adjusted",), "--adjusted needs the number"),
        (USED, "--training-counts works only with --balanced or --adjusted."),
        ((*USED, "--pooled"), "--training-counts works only with"),
        ((*USED, "--balanced", "--per-label"), "Remove --per-label and --group."),
        ((*USED, "--balanced", "--group", "site"), "Remove --per-label and --group."),
        ((*USED, "--adjusted", "--method", "aps"), "--adjusted works only with --method rank or thr, got Aps("),
        ((*USED, "--adjusted", "--auto", "0.1"), "got --method auto."),
        ((*USED, "--adjusted", "--set", "shares=[1,1,1,1,1,1]"), "Remove --set shares."),
        ((*USED, "--adjusted", "--options", "site"), "--training-counts needs the same classes in every row."),
    ],
)
def test_options_that_do_not_fit_together(options, words):
    done = run(*TABLE, *options)
    assert done.exit_code == 2
    assert words in " ".join(done.output.split())


def test_files_that_do_not_fit(folder):
    (folder / "few.csv").write_text("joy,5\nlove,2\n")
    error = failure(*PLAIN, "--balanced", "--training-counts", "few.csv")
    check_refusal(
        error, FileError.classes_without_count("few.csv", [one for one in NAMES if one not in ("joy", "love")])
    )
    check_refusal(failure(*PLAIN, "--balanced", "--training-counts", "no.csv"), FileError.missing("no.csv"))
    error = failure(*PLAIN[:-4], "a.rankset", "--drop", "site", "--balanced", "--training-counts", "a.rankset")
    check_refusal(error, FileError.own_input("a.rankset"))
    error = failure(*PLAIN, "--pooled", "--target", "recall")
    check_refusal(error, RuleError.shared_rows_need_one_label(rs.Pooled(), rs.Recall()))


@pytest.mark.parametrize(
    ("options", "promise"),
    [
        (("--pooled",), "over all rows; of each label only approximately"),
        (("--balanced", *USED), "on average over classes, if the given shares of classes are right"),
    ],
)
def test_other_commands_say_what_is_promised(folder, options, promise):
    rule, _ = made(*PLAIN, *options)
    whole = f"the set contains the true label with probability at least 0.9, {promise}"
    told = fine("inspect", "a.rankset", "--alpha", "0.1").stdout
    assert f"promise: {whole}\n" in told
    assert "confidence" not in told
    assert "separately" not in told
    facts = json.loads(fine("inspect", "a.rankset", "--alpha", "0.1", "--json").stdout)
    assert facts["promise"] == f"coverage of at least 1 - alpha {promise}"
    assert facts["levels"]["0.1"]["promise"] == whole
    assert not facts["levels"]["0.1"].keys() & {"sure", "groups_too_small", "coverage"}
    error = failure("inspect", "a.rankset", "--confidence", "0.95")
    check_refusal(error, RuleError.shared_rows_and_confidence(rule.condition))
    sets = fine("predict", "a.rankset", "test.csv", "--alpha", "0.1").stdout.splitlines()[1:]
    assert [int(line.partition(",")[0]) for line in sets] == rule.predict(LOGITS[TEST], 0.1).sizes.tolist()
    rows = ("a.rankset", "test.csv", "--label", "answer")
    assert fine("evaluate", *rows).stdout.endswith(f"\nPromise: {whole}\n")
    assert json.loads(fine("evaluate", *rows, "--json").stdout)["0.1"]["promise"]["text"] == whole
    fine("report", *rows, "-o", "r.html")
    assert promise in (folder / "r.html").read_text(encoding="utf-8")


def test_rules_of_parts_are_merged():
    for name, rows in (("one", slice(0, 300)), ("two", slice(300, 600))):
        FRAME[rows].drop(columns="site").to_csv(f"{name}.csv", index=False)
        fine("calibrate", f"{name}.csv", *PLAIN[2:6], "-o", f"{name}.rankset", "--pooled")
    told = fine("merge", "one.rankset", "two.rankset", "-o", "both.rankset").stdout
    assert "promise        coverage of at least 1 - alpha over all rows; of each label" in told
    assert rs.load("both.rankset") == expected(condition=rs.Pooled())


def test_a_pooled_group_that_is_alone_has_no_range_of_coverage(folder):
    FRAME[VAL].assign(site="a").to_csv("alone.csv", index=False)
    fine("calibrate", "alone.csv", *TABLE[2:], "--group", "site", "--pooled")
    told = fine("inspect", "a.rankset", "--alpha", "0.1").stdout
    assert "over all rows; of each group only approximately" in told
    assert "of calibrations" not in told
    fine("report", "a.rankset", "test.csv", "--label", "answer", "--group", "site", "-o", "r.html")
