"""The reader of rules in JavaScript gives the sets of rankset, in Node; tests/browser asks it in Chromium."""

import json
import re
import shutil
import subprocess

import pytest

import rankset as rs
from javascript_reader import DRIVER, READER, SOFTMAX, case, golden_cases, logits_of_widths, random_cases, same_bits

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="no node")


def in_node(driver, argument, folder):
    """What a function in JavaScript returns for the reader and an argument."""
    (folder / "argument.json").write_text(json.dumps(argument), encoding="utf-8")
    (folder / "driver.mjs").write_text(
        f'import {{ readFileSync }} from "node:fs";\nconst reader = await import({json.dumps(READER.as_uri())});\n'
        f'const argument = JSON.parse(readFileSync("argument.json"));\n'
        f"console.log(JSON.stringify(({driver})(reader, argument)));\n",
        encoding="utf-8",
    )
    done = subprocess.run([NODE, "driver.mjs"], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@needs_node
def test_golden_files_give_their_answers_or_are_refused(tmp_path):
    cases = list(golden_cases())
    found = in_node(DRIVER, [one for _, one, _ in cases], tmp_path)
    for (name, _, sets), answer in zip(cases, found, strict=True):
        if sets is None:
            assert "not known here" in answer["refused"], name
        else:
            assert answer == sets, name
    assert sum(sets is not None for _, _, sets in cases) >= 9


@needs_node
def test_bytes_of_a_file_are_read_as_node_gives_them(tmp_path):
    """``readFileSync`` returns a view of a larger buffer for small files."""
    rule = rs.calibrate([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3]] * 10, [0, 1] * 10)
    rule.save(tmp_path / "rule.rankset")
    driver = """({ readRule }, path) => [readFileSync(path), new Uint8Array(readFileSync(path)).buffer].map(
        (data) => readRule(data).predict([0.4, 0.35, 0.25], "0.1"))"""
    expected = rule.predict([[0.4, 0.35, 0.25]], "0.1").to_lists()
    assert in_node(driver, str(tmp_path / "rule.rankset"), tmp_path) == expected * 2


@needs_node
def test_sets_are_those_of_rankset(tmp_path):
    cases = list(random_cases(tmp_path))
    found = in_node(DRIVER, [one for one, _ in cases], tmp_path)
    assert found == [sets for _, sets in cases]


@needs_node
def test_softmax_has_the_bits_of_rankset(tmp_path):
    rows = logits_of_widths()
    assert same_bits(in_node(SOFTMAX, [row.tolist() for row in rows], tmp_path), rows)


@needs_node
def test_bad_rows_levels_and_files_are_refused(tmp_path):
    name, good, sets = next(one for one in golden_cases() if one[0] == "format1-rank")
    _, grouped, _ = next(one for one in golden_cases() if one[0] == "format2-thr-absent-groups")
    assert sets is not None, name
    changes = {
        "numbers": {"rows": [[0.5, 0.5]]},
        "a row must have numbers only": {"rows": [[0.5, None, 0.5]]},
        "the sum 1": {"rows": [[0.5, 0.5, 0.5]]},
        "between 0 and 1": {"rows": [[1.5, -0.5, 0.0]]},
        "alpha must lie": {"alphas": ["1"]},
        "alpha must lie between 0 and 1, got 0": {"alphas": ["0.0"]},
        "alpha must lie between 0 and 1, got x": {"alphas": ["x"]},
        "alpha must lie between 0 and 1, got ": {"alphas": [""]},
        "cut off": {"file": good["file"][:400]},
        "no file of a rule": {"file": "AAAA"},
    }
    cases = [good | change for change in changes.values()] + [grouped | {"groups": None}]
    found = [one.get("refused", "") for one in in_node(DRIVER, cases, tmp_path)]
    assert [words for words, told in zip([*changes, "needs the group"], found, strict=True) if words not in told] == []


def test_the_page_has_the_reader_word_for_word():
    page = READER.with_suffix(".html").read_text(encoding="utf-8")
    assert READER.read_text(encoding="utf-8").replace("export function", "function") in page
    assert not re.search(r"https?:|@import|<link|<img|src=", page)
    assert "default-src 'none'" in page


def test_the_reader_is_short_and_needs_nothing():
    text = READER.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    assert not re.search(r"^import |require\(", text, re.MULTILINE)
    assert case(b"", [], None, [])["alphas"] == []
