"""``--confidence`` of ``rankset predict`` and ``rankset evaluate``: sets with a promise for this calibration."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

import rankset as rs
from commands import fine, run

LOGITS, LABELS = rs.datasets.load("carer")
GROUPS = np.where(np.arange(500) % 2, "day", "night")
RULE = rs.calibrate(LOGITS[:500], LABELS[:500], kind="logits")
NEW = LOGITS[500:900]
SURE = ("--alpha", "0.1", "--confidence", "0.95")


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    RULE.save("rule.rankset")
    np.save("new.npy", NEW)
    Path("parts").mkdir()
    for part in range(2):
        np.save(f"parts/{part}.npy", NEW[200 * part : 200 * part + 200])


def sets_of(path):
    stored = np.load(path)
    ends = stored["offsets"]
    return [stored["codes"][a:b].tolist() for a, b in itertools.pairwise(ends)]


@pytest.mark.parametrize("scores", ["new.npy", "parts"])
@pytest.mark.parametrize("more", [{}, {"next_rows": 1000}])
def test_sets_are_those_of_python(scores, more):
    flags = [text for name, value in more.items() for text in (f"--{name.replace('_', '-')}", value)]
    done = fine("predict", "rule.rankset", scores, *SURE, *flags, "-o", "sets.npz")
    wanted = RULE.predict(NEW, 0.1, confidence=0.95, **more)
    assert sets_of("sets.npz") == [codes.tolist() for codes in wanted]
    assert wanted != RULE.predict(NEW, 0.1)
    rows = " for the next 1,000 rows" if more else ""
    assert f"400 sets at alpha = 0.1 with confidence 0.95{rows}\n" in done.stderr


def test_a_folder_of_sets_says_the_confidence_too():
    done = fine("predict", "rule.rankset", "parts", *SURE, "-o", "sets/")
    assert "sets/: sets of 2 files at alpha = 0.1 with confidence 0.95" in done.stderr
    from pyarrow import parquet

    found = [size for part in range(2) for size in parquet.read_table(f"sets/{part}.parquet")["size"].to_pylist()]
    assert found == RULE.predict(NEW, 0.1, confidence=0.95).sizes.tolist()


def test_all_groups_at_once():
    rule = rs.calibrate(LOGITS[:500], LABELS[:500], kind="logits", condition=rs.PerGroup(), groups=GROUPS)
    rule.save("groups.rankset")
    np.savez("new.npz", logits=NEW[:300], site=GROUPS[:300])
    for flags, together in (((), False), (("--all-groups",), True)):
        arguments = ("groups.rankset", "new.npz", "--group", "site", *SURE, *flags)
        done = fine("predict", *arguments, "-o", "sets.npz", "--force")
        wanted = rule.predict(NEW[:300], 0.1, groups=GROUPS[:300], confidence=0.95, all_groups=together)
        assert sets_of("sets.npz") == [codes.tolist() for codes in wanted]
        assert done.stderr.endswith("with confidence 0.95 in all groups\n" if together else "with confidence 0.95\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ("--confidence", "0.95"),
            (
                "predict must be called with alpha, got only the confidence '0.95'. If you mean the coverage, pass "
                "--alpha 0.05 instead. confidence is the probability that the promise holds for this calibration: "
                "pass both."
            ),
        ),
        (
            ("--alpha", "0.1", "--confidence", "95"),
            "confidence must be a number strictly between 0 and 1, such as 0.95, got '95'.",
        ),
        (
            ("--alpha", "0.1", "--next-rows", "10"),
            (
                "next_rows must be passed only together with a confidence, got no confidence. "
                "Pass --confidence 0.95 too, or leave out --next-rows."
            ),
        ),
        (
            ("--alpha", "0.1", "--all-groups"),
            (
                "all_groups must be passed only together with a confidence, got no confidence. "
                "Pass --confidence 0.95 too, or leave out --all-groups."
            ),
        ),
        (("--alpha", "0.1", "--confidence", "0.95", "--next-rows", "0"), "'--next-rows': 0 is not in the range x>=1."),
    ],
)
def test_what_does_not_fit_together_is_explained(arguments, told):
    done = run("predict", "rule.rankset", "new.npy", *arguments)
    assert done.exit_code == 2
    assert told in done.stderr


def test_a_low_confidence_is_warned_of():
    done = fine("predict", "rule.rankset", "new.npy", "--alpha", "0.1", "--confidence", "0.05", "-o", "sets.npz")
    assert done.stderr.count("Did you mean --confidence 0.95?") == 1


def test_evaluate_measures_the_same_sets_and_shows_their_promise():
    np.save("labels.npy", LABELS[500:900])
    asked = ("evaluate", "rule.rankset", "new.npy", "labels.npy", "--alpha", "0.1", "--alpha", "0.2")
    told = fine(*asked, "--confidence", "0.95").stdout
    found = json.loads(fine(*asked, "--confidence", "0.95", "--json").stdout)
    look = rs.exchangeable(RULE, NEW, LABELS[500:900], delta=0.01)
    for alpha in ("0.1", "0.2"):
        sets = RULE.predict(NEW, alpha, confidence=0.95)
        wanted = rs.evaluate(sets, LABELS[500:900], exchangeability=look)
        text = f"the set contains the true label with probability at least {1 - float(alpha):g}"
        assert f"{wanted!r}".replace("predict(..., empty='top')", "rankset predict --empty top") in told
        assert f"Promise, with confidence 0.95: {text}\n" in told
        assert found[alpha]["promise"] == {"confidence": "0.95", "text": text}
        assert found[alpha]["mean_size"] == wanted.mean_size
    plain = fine(*asked).stdout
    assert "Promise, with" not in plain
    assert json.loads(fine(*asked, "--json").stdout)["0.1"]["mean_size"] < found["0.1"]["mean_size"]


def test_evaluate_says_that_groups_are_separate_and_nothing_if_nothing_is_proven():
    by_class = rs.calibrate(LOGITS[:500], LABELS[:500], kind="logits", condition=rs.PerLabel())
    by_class.save("classes.rankset")
    np.save("labels.npy", LABELS[500:900])
    files = ("new.npy", "labels.npy", *SURE)
    told = fine("evaluate", "classes.rankset", *files).stdout.splitlines()
    assert told[-1].startswith("Promise, with confidence 0.95: ")
    assert told[-1].endswith(" at least 0.9, for every label separately")
    absent = rs.calibrate(LOGITS[:500], [rs.ABSENT, *LABELS[1:500].tolist()], kind="logits")
    absent.save("absent.rankset")
    assert "Promise, with" not in fine("evaluate", "absent.rankset", *files).stdout


def test_evaluate_needs_alpha_beside_a_confidence():
    done = run("evaluate", "rule.rankset", "new.npy", "new.npy", "--confidence", "0.95")
    assert done.exit_code == 2
    assert "evaluate must be called with alpha, got only the confidence '0.95'." in done.stderr
