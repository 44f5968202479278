"""``rankset triage``: errors that say what to do, spreadsheets, and files that stay as they are."""

import csv
from pathlib import Path

import pandas as pd
import pytest

import commands
import rankset as rs
from rankset.errors import FileError, RuleError, StorageError
from rankset.rules.rule_file import CONTENTS
from refusals import check_refusal, failure, like
from triage_files import (
    CASES,
    CODES,
    FRAME,
    LABELS,
    NAMES,
    NEW,
    OLD,
    PLAIN,
    PROBS,
    TRIAGE,
    check_lines,
    fine,
    judged,
    lines_of,
    write_files,
    wrong_use,
)


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("old.csv", "--label", "answer"), "Pass NEW, the rows to decide about."),
        (("old.csv", "new.csv", "--label", "answer"), "Pass --error, the largest share of wrong answers"),
        (("old.csv", "--label", "answer", "--stream"), "Pass --error, the largest share of wrong answers"),
        (("old.csv", "new.csv", "--alpha", "0.02"), "No such option: --alpha. Did you mean --error 0.02?"),
        (("old.csv", "new.csv", "--curve"), "--curve is about OLD"),
        (("old.csv", "--curve", "--stream"), "--curve is about OLD"),
        (("old.csv", "--curve", "-o", "x.csv"), "--output and --minutes-per-row are for the decisions about NEW."),
        (("old.csv", "--curve", "--minutes-per-row", "2"), "--minutes-per-row are for the decisions about NEW."),
        (("old.csv", "new.csv", "--error", "0.1", "--minutes-per-row", "nan"), "nan is not a number of minutes."),
        (("old.csv", "new.csv", "--error", "0.1", *PLAIN[2:], "--drop", "answer"), "OLD must have known answers."),
        (("old.npy", "old_labels.npy", "--error", "0.1"), "OLD must have known answers."),
        (("a.csv", "b.csv", "c.csv", "--error", "0.1"), "Expected OLD and NEW, got 3 files."),
        (("old.csv", "new.csv", "--error", "0.1", "--confidence", "0.9"), "--confidence works only with --stream"),
        (("old.csv", "new.csv", "--error", "0.1", "--all-groups"), "--all-groups works only with --stream."),
        (("old.csv", "new.csv", "--error", "0.1", "--json"), "Write the decisions to a file with -o."),
        (("old.csv", "new.csv", "--error", "0.1", "--label", "a", "--correct", "b"), "Leave out one of them."),
        (("old.csv", "new.csv", "--error", "0.1", "--correct", "b", "--within", "2"), "Leave them out."),
        (("old.csv", "new.csv", "--error", "0.1", "--labels", "a", "--labels", "b"), "Expected one file of labels"),
        (("old.csv", "new.csv", *PLAIN, "--error", "a=0.1", "--error", "0.2"), "'0.2' has no name."),
        (("old.csv", "new.csv", *PLAIN, "--error", "a=0.1", "--error", "a=0.2"), "'a' has two errors."),
        (("old.csv", *PLAIN, "--curve", "--error", "a=0.1"), "With --curve pass numbers alone."),
        (("old.csv", "new.csv", *PLAIN, "--error", "2"), "error must be a share of wrong answers, strictly between"),
        (("old.csv", "new.csv", *PLAIN, "--error", "x"), "error must be a share of wrong answers, strictly between"),
        (("old.csv", "new.csv", *PLAIN, "--error", "joy=0.1"), "use --per-label; for one per group, --group."),
        (
            ("old.csv", "new.csv", *PLAIN, "--per-label", "--error", "joy=0.1"),
            "error must have an error for every label, got none for 'sadness'",
        ),
        (("old.csv", "new.csv", *PLAIN, "--error", "0.1", "--stream", "--confidence", "95"), "strictly between 0 and"),
        (("old.csv", "new.csv", *PLAIN, "--error", "0.1", "--score", "best"), "'best' is not one of"),
        (("old.csv", "new.csv", *PLAIN, "--error", "0.1", "--within", "0"), "0 is not in the range"),
        (("old.csv", "new.csv", *PLAIN, "--error", "0.1", "--minutes-per-row", "-1"), "is not in the range"),
    ],
)
def test_options_that_do_not_fit_together_are_explained(arguments, told):
    assert told in wrong_use(*arguments)


def test_a_saved_triage_has_its_own_settings():
    TRIAGE.save("cases.rankset")
    told = wrong_use("cases.rankset", "new.csv", "--error", "0.1", "--kind", "probs", "--score", "margin")
    assert "cases.rankset is a saved triage, which has its own settings. Leave out --kind, --score." in told
    told = wrong_use("cases.rankset", "new.csv", "--error", "0.1", "--correct", "answer")
    assert "cases.rankset was made from true labels. Pass --label answer" in told
    error = failure("triage", "cases.rankset", "new.csv", "--error", "0.1", "--label", "truth")
    check_refusal(error, FileError, file="new.csv", what="the columns")


RULE_FILE, TRIAGE_FILE = CONTENTS["rule"], CONTENTS["triage"]


def test_files_of_another_kind_are_refused():
    rs.calibrate(PROBS[OLD], CODES[OLD]).save("rule.rankset")
    TRIAGE.save("cases.rankset")
    error = failure("triage", "rule.rankset", "new.csv", "--error", "0.1")
    check_refusal(error, StorageError.other_content("rule.rankset", "a Triage", *RULE_FILE))
    error = failure("predict", "cases.rankset", "new.csv")
    check_refusal(error, StorageError.other_content("cases.rankset", "a Rule", *TRIAGE_FILE))
    check_refusal(failure("triage", "none.rankset", "new.csv", "--error", "0.1"), FileError.missing("none.rankset"))
    Path("cut.rankset").write_bytes(Path("cases.rankset").read_bytes()[:-9])
    check_refusal(failure("triage", "cut.rankset", "new.csv", "--error", "0.1"), StorageError, file="cut.rankset")


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("old.csv", "new.csv", *PLAIN, "--error", "0.1", "-o", "old.csv"), FileError.own_input("old.csv")),
        (("old.csv", "new.csv", *PLAIN, "--error", "0.1", "-o", "new_labels.npy"), FileError.exists("new_labels.npy")),
        (("old.csv", "new.csv", *PLAIN, "--error", "0.1", "--save", "t.bin"), FileError.suffix("t.bin", ".rankset")),
        (("-", "-", "--error", "0.1"), FileError.stdin_alone()),
        (
            ("old.csv", "new.csv", *PLAIN[2:], "--correct", "answer", "--error", "0.1"),
            like(FileError, what="correct", row=0),
        ),
        (("old.csv", "new.csv", *PLAIN, "--kind", "marginals", "--error", "0.1"), like(RuleError, what="triage")),
        (
            ("old.csv", "new.csv", *PLAIN, "--keep", "accepted", "--error", "0.1"),
            like(FileError, what="the columns", file="new.csv"),
        ),
    ],
)
def test_refusals_of_files(arguments, wanted):
    check_refusal(failure("triage", *arguments), wanted)


def test_a_kept_column_must_not_have_the_name_of_an_output_column():
    FRAME[NEW].assign(accepted="yes").to_csv("new.csv", index=False)
    error = failure("triage", "old.csv", "new.csv", *PLAIN, "--keep", "accepted", "--error", "0.1", "-o", "x.csv")
    check_refusal(error, FileError.taken("accepted"))
    assert not Path("x.csv").exists()


def test_one_column_of_confidences_takes_no_options_about_labels():
    judged(OLD, "judged")
    judged(NEW, "fresh")
    flags = ("judged.csv", "fresh.csv", "--correct", "fine", "--id", "case", "--error", "0.1")
    assert "Leave them out." in wrong_use(*flags, "--per-label")
    assert "Leave them out." in wrong_use(*flags, "--kind", "logits")
    told = wrong_use(*flags, "--score", "margin")
    assert "confidence must be 'top' if there is one confidence per row" in told
    check_refusal(failure("triage", *flags, "--score", "margin"), RuleError.one_column("margin"))


def test_unseen_groups_are_warned_of_and_not_accepted():
    FRAME[NEW].assign(site="c").to_csv("new.csv", index=False)
    flags = ("--label", "answer", "--group", "site", "--drop", "case", "--error", "0.1")
    done = fine("old.csv", "new.csv", *flags)
    assert {line["decision"] for line in lines_of(done.stdout)} == {"review"}
    assert "These rows are not accepted." in done.stderr


def test_wrong_numbers_name_the_file():
    FRAME[NEW].assign(joy=2.0).to_csv("new.csv", index=False)
    error = failure("triage", "old.csv", "new.csv", *PLAIN, "--error", "0.1")
    assert error.where.file == "new.csv"
    assert error.where.row == 0


GERMAN = "\n".join(
    [";".join((*NAMES, "answer", "case", "dose"))]
    + [
        ";".join((*(f"{one:.6f}".replace(".", ",") for one in row), label, case, "0,25"))
        for row, label, case in zip(PROBS, LABELS, CASES, strict=True)
    ]
).splitlines()


def test_spreadsheets_get_what_they_can_read():
    for name, part in (("old", OLD), ("new", NEW)):
        Path(f"{name}.csv").write_text("\n".join([GERMAN[0], *GERMAN[1:][part]]) + "\n")
    flags = ("old.csv", "new.csv", "--label", "answer", "--drop", "dose", "--id", "case", "--error", "0.05")
    plain = lines_of(fine(*flags).stdout)
    assert "." in plain[0]["p_value"]
    told = fine(*flags, "--keep", "dose", "--excel", "-o", "decided.csv")
    assert "read with separator ';' and decimal ','" in told.stderr
    lines = Path("decided.csv").read_text(encoding="utf-8-sig").splitlines()
    assert lines[0] == "case;dose;decision;accepted;p_value"
    found = list(csv.DictReader(lines, delimiter=";"))
    assert [line["p_value"].replace(",", ".") for line in found] == [line["p_value"] for line in plain]
    assert {line["dose"] for line in found} == {"0,25"}
    fine(*flags, "--keep", "dose", "--excel-decimal", ".", "-o", "points.csv")
    assert {line["dose"] for line in lines_of(Path("points.csv").read_text(encoding="utf-8-sig"))} == {"0.25"}
    fine(*flags, "--keep", "dose", "-o", "decided.xlsx")
    book = pd.read_excel("decided.xlsx")
    assert book["dose"].tolist() == [0.25] * 600
    assert book["case"].tolist() == CASES[NEW].tolist()


def test_nothing_is_saved_if_the_rows_cannot_be_decided():
    commands.run("triage", "old.csv", "new.csv", *PLAIN, "--error", "7", "--save", "cases.rankset")
    assert not Path("cases.rankset").exists()


def test_existing_files_stay_without_force():
    Path("decided.csv").write_text("mine")
    Path("cases.rankset").write_text("mine")
    arguments = ("old.csv", "new.csv", *PLAIN, "--error", "0.05")
    check_refusal(failure("triage", *arguments, "-o", "decided.csv"), FileError.exists("decided.csv"))
    check_refusal(failure("triage", *arguments, "--save", "cases.rankset"), FileError.exists("cases.rankset"))
    fine(*arguments, "--save", "cases.rankset", "-o", "decided.csv", "--force")
    assert rs.Triage.load("cases.rankset") == TRIAGE
    check_lines(lines_of(Path("decided.csv").read_text()), TRIAGE.accept(PROBS[NEW], 0.05))
