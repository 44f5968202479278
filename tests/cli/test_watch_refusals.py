"""What ``rankset watch`` refuses: options that do not fit together, files of other kinds, hostile lines."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import rankset as rs
from commands import LABELS, LOGITS, fine, run
from rankset.errors import FileError, InputError, KindError, RuleError, StorageError
from refusals import check_refusal, failure
from watching import ROWS, RULE, fine_watch, line, watch

ROW = line(id="a", scores=ROWS[0].tolist())


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    RULE.save("rule.rankset")
    rs.Stream(RULE, 0.1).save("s.rankset")


def wrong_use(*arguments, stdin=""):
    done = watch(*arguments, stdin=stdin)
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Error: Pass RULE, the rule that a new stream starts from."),
        (("--state", "new.rankset"), "a new stream starts from: new.rankset does not exist."),
        (("--state", "s.rankset", "--restart"), "Error: Pass RULE, the rule that a new stream starts from."),
        (
            ("rule.rankset", "--state", "s.rankset"),
            "Leave out rule.rankset to go on with the stream, or pass --restart",
        ),
        (("--state", "s.rankset", "--alpha", "0.1"), "has its own settings. Leave out --alpha. To start a new stream,"),
        (("--state", "s.rankset", "--seed", "1", "--window", "9"), "Leave out --window, --seed."),
        (("--state", "s.rankset", "--start-outputs", "x.npy"), "Leave out --start-outputs."),
        (("rule.rankset", "--level", "fixed", "--step", "0.1"), "--step is for --level adaptive and decaying"),
        (("rule.rankset", "--window", "0"), "'0' is neither a whole number of at least 1 nor all."),
        (("rule.rankset", "--window", "many"), "'many' is neither a whole number of at least 1 nor all."),
        (("rule.rankset", "--step", "0"), "Invalid value for '--step'"),
        (("rule.rankset", "--delta", "1"), "Invalid value for '--delta'"),
        (("rule.rankset", "--save-every", "0"), "Invalid value for '--save-every'"),
        (("rule.rankset", "--alpha", "1.5"), "alpha must"),
        (("rule.rankset", "--late", "2"), "--late is for tables, and - has lines of JSON. Leave it out."),
        (("rule.rankset", "--sep", ";"), "--sep is for tables, and - has lines of JSON. Leave it out."),
        (("rule.rankset", "--confidence", "0.9"), "No such option: --confidence. Did you mean --alpha 0.1?"),
        (("rule.rankset", "--level", "0.9"), "Invalid value for '--level'"),
    ],
)
def test_options_that_do_not_fit(arguments, words):
    before = Path("s.rankset").read_bytes()
    assert words in wrong_use(*arguments, stdin=ROW)
    assert Path("s.rankset").read_bytes() == before


def test_files_of_other_kinds():
    check_refusal(failure("watch", "none.rankset"), FileError.missing("none.rankset"))
    assert failure("watch", "s.rankset").remedy
    assert "Pass this file to rankset watch --state." in watch("s.rankset").stderr
    check_refusal(failure("watch", "--state", "rule.rankset"), StorageError, file="rule.rankset", received="a Rule")
    Path("damaged.rankset").write_bytes(Path("s.rankset").read_bytes()[:-9])
    check_refusal(failure("watch", "--state", "damaged.rankset"), StorageError, file="damaged.rankset")
    check_refusal(failure("watch", "rule.rankset", "--state", "s.txt"), FileError.suffix("s.txt", ".rankset"))
    check_refusal(
        failure("watch", "rule.rankset", "--state", "rule.rankset", "--restart"), FileError.own_input("rule.rankset")
    )
    check_refusal(failure("watch", "rule.rankset", "none.csv"), FileError.missing("none.csv"))
    check_refusal(failure("watch", "rule.rankset", "--start-outputs", "none.npy"), FileError.missing("none.npy"))
    weighted = rs.calibrate(LOGITS[:50], LABELS[:50], kind="logits", weights=np.arange(1, 51))
    weighted.save("weighted.rankset")
    check_refusal(failure("watch", "weighted.rankset", stdin=ROW), RuleError)


def test_a_state_that_cannot_be_written_is_refused_before_the_first_answer():
    done = watch("rule.rankset", "--state", "no/folder.rankset", stdin=ROW)
    assert (done.exit_code, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    Path("s.rankset").unlink()
    os.mkfifo("s.rankset")
    check_refusal(failure("watch", "rule.rankset", "--state", "s.rankset", "--restart"), FileError, file="s.rankset")


def test_a_class_cannot_be_a_field():
    names = ["id", "label", "c"]
    probs = np.random.default_rng(0).dirichlet(np.ones(3), 60)
    rs.calibrate(probs, np.array(names)[np.arange(60) % 3], classes=names).save("named.rankset")
    row = dict(zip(names, probs[0].tolist(), strict=True))
    done = fine_watch("named.rankset", "--id", "case", "--label", "answer", stdin=line(**row, case="x", answer="id"))
    assert json.loads(done.stdout)["id"] == "x"
    assert json.loads(fine_watch("named.rankset", stdin=line(**row)).stdout)["id"] == 0
    check_refusal(
        failure("watch", "named.rankset", "--id", "label", stdin=line(**row)), FileError.class_apart("", "label")
    )


DEEP = b"[" * 200_000
HOSTILE = {
    "no JSON": b"nonsense",
    "cut": b'{"id": 1',
    "a list": b"[1, 2]",
    "a number": b"7",
    "null": b"null",
    "no fields": b"{}",
    "deep list": DEEP,
    "deep object": b'{"a":' * 100_000,
    "deep id": b'{"label": "joy", "id": ' + DEEP[:900] + b"]" * 900 + b"}",
    "two lines in one": b"{} {}",
    "a field twice": b'{"id": 1, "id": 2, "label": "joy"}',
    "a field twice inside": b'{"id": 1, "scores": {"joy": 1, "joy": 2}}',
    "no UTF-8": b'{"id": "\xff", "label": "joy"}',
    "UTF-16": '{"id": 1}'.encode("utf-16"),
    "zeros": b"\0" * 100,
    "a huge integer": b'{"id": ' + b"9" * 5000 + b', "label": "joy"}',
    "a long integer": b'{"id": ' + b"9" * 300 + b', "label": "joy"}',
    "a long id": b'{"id": "' + b"x" * 257 + b'", "label": "joy"}',
    "an id that is a list": b'{"id": [1], "label": "joy"}',
    "an id that is true": b'{"id": true, "label": "joy"}',
    "an id that is NaN": b'{"id": NaN, "label": "joy"}',
    "an id that is infinite": b'{"id": 1e999, "label": "joy"}',
    "no id": b'{"label": "joy"}',
    "no label": b'{"id": 1}',
    "a label that is a list": b'{"id": 1, "label": ["joy"]}',
    "a label that is NaN": b'{"id": 1, "label": NaN}',
    "a label that is no class": b'{"id": 1, "label": "x"}',
    "a label that is too large": b'{"id": 1, "label": ' + b"9" * 30 + b"}",
    "NaN": b'{"scores": [1, 2, 3, 4, 5, NaN]}',
    "too large": b'{"scores": [1, 2, 3, 4, 5, 1e999]}',
    "an integer that is rounded": b'{"scores": [1, 2, 3, 4, 5, 99999999999999999999]}',
    "an integer beyond floats": b'{"scores": [1, 2, 3, 4, 5, ' + b"9" * 400 + b"]}",
    "a text": b'{"scores": [1, 2, 3, 4, 5, "6"]}',
    "a list inside": b'{"scores": [1, 2, 3, 4, 5, [6]]}',
    "null inside": b'{"scores": [1, 2, 3, 4, 5, null]}',
    "too few": b'{"scores": [1, 2]}',
    "none": b'{"scores": []}',
    "an empty object": b'{"scores": {}}',
    "other names": b'{"scores": {"joy": 1, "x": 2}}',
    "some classes": b'{"joy": 1, "fear": 2}',
    "a field with a text": b'{"sadness": 1, "joy": "x", "love": 1, "anger": 1, "fear": 1, "surprise": 1}',
    "two lists": b'{"a": [1, 2, 3, 4, 5, 6], "b": [1, 2, 3, 4, 5, 6]}',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_lines_give_one_line_of_error_and_can_be_skipped(name):
    stdin = ROW.encode() + HOSTILE[name] + b"\n" + line(id="a", label="joy").encode()
    for skip, code in (((), 1), (("--skip-invalid", "--quiet"), 0)):
        done = run("watch", "rule.rankset", "--state", "s.rankset", "--restart", *skip, stdin=stdin)
        assert done.exit_code == code, done.output
        assert len(done.stderr.splitlines()) == 1
        assert "line 2: " in done.stderr
        assert "unexpected" not in done.stderr
        assert len(done.stderr) < 600
        assert len(done.stdout.splitlines()) == 1
        stream = rs.Stream.load("s.rankset")
        assert (stream.n_rows, stream.n_labels) == (1, 1 - code)


def test_long_lines_take_no_memory(monkeypatch):
    monkeypatch.setenv("RANKSET_MAX_MEMORY", "1MB")
    long = b'{"id": "' + b"x" * 5_000_000 + b'"}\n'
    error = failure("watch", "rule.rankset", stdin=long)
    check_refusal(error, FileError, part="line 1", reason="it is longer than 1,000,000 bytes")
    done = run("watch", "rule.rankset", "--skip-invalid", "--quiet", stdin=long * 2 + ROW.encode())
    assert json.loads(done.stdout)["id"] == "a"
    assert "2 invalid events were skipped" in done.stderr
    many = b'{"scores": [' + b"1," * 100_000 + b"1]}"
    check_refusal(
        failure("watch", "rule.rankset", stdin=many),
        FileError.too_large("-", 10**6, 20000394),
        part="line 1",
        received=error_of(many),
    )


def error_of(text):
    """The bytes that parsing a line may take."""
    return f"at least {2 * len(text) + 96 * (2 + text.count(b',') + 1 + 2):,} bytes"


def test_names_of_fields_cannot_give_orders_to_a_terminal():
    done = watch("rule.rankset", stdin='{"\\u001b]0;owned\\u0007": 1}\n')
    assert "\x1b" not in done.stderr
    assert "\\x1b" in done.stderr


def test_inspect_refuses_alpha_for_a_stream():
    assert fine("inspect", "s.rankset").stdout
    done = run("inspect", "s.rankset", "--alpha", "0.1")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "s.rankset is a stream, which has its own alpha." in done.stderr


@pytest.mark.parametrize("error", [FileError.no_event("x"), InputError, KindError])
def test_errors_of_lines_name_the_line(error):
    lines = {FileError: "nonsense", InputError: '{"scores": [1, 2, 3, 4, 5, NaN]}', KindError: '{"id": 1, "label": []}'}
    kind = type(error) if isinstance(error, FileError) else error
    check_refusal(failure("watch", "rule.rankset", stdin=lines[kind]), kind, file="-", part="line 1", row=None)
