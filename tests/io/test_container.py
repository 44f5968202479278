"""Rules on disk: whole, plain and safe, or refused with a sentence that says why."""

import json
import os
import pickle
import struct
import subprocess
import sys
import tracemalloc
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save_file

import rankset as rs
from golden import make
from rankset.errors import FileError, StorageError
from rankset.io import container
from rankset.rules import rule_file
from rankset.scores import traits
from refusals import fields_of, refused

SCORES = [
    rs.Rank(),
    rs.TopK(),
    rs.Thr(),
    rs.Margin(),
    rs.Aps(),
    rs.Aps(randomized=False),
    rs.Raps(penalty=0.1, free_ranks=2, randomized=False),
    rs.Saps(weight=0.3),
    rs.TieBreak(rs.Rank()),
    rs.TieBreak(rs.TieBreak(rs.Raps(penalty=1e-300))),
]
CONDITIONS = [
    rs.Marginal(),
    rs.PerLabel(),
    rs.PerLabel(("a", "b")),
    rs.PerLabel((7, 7)),
    rs.PerGroup(),
    rs.PerLabelAndGroup(rs.PerGroup(), rs.PerLabel()),
    rs.PerLabelAndGroup(rs.PerLabelAndGroup(rs.PerLabel(("x", 1)), rs.Marginal()), rs.PerGroup()),
]
HOSTILE_TEXT = ["", " ", "a\n\0b", '"}],\\', "Füchsin 🦊", "\ud800", "../../etc/passwd", "__import__('os')"]
NAMES = {
    "texts": ["cat", "dog"],
    "hostile texts": HOSTILE_TEXT,
    "integers": [5, -3],
    "large integers": [2**70, -(2**70)],
    "booleans": [True, False],
    "floats": [0.1, 1e300, -np.inf],
    "mixed": ["1", 1, 2.5],
    "integers from NumPy": np.array([3, 1]),
    "texts from NumPy": np.array(["b", "a"]),
    "one": ["only"],
}
ALPHA = 0.3


def values(kind, n_rows, n_columns=2, seed=0):
    rng = np.random.default_rng(seed)
    if kind == "binary":
        return rng.random(n_rows)
    numbers = rng.normal(size=(n_rows, n_columns))
    return rs.softmax(numbers) if kind == "probs" else numbers


def calibrated(*, n_rows=60, kind="probs", classes=None, names=("north", "south"), rows_seed=0, **options):
    n_columns = 2 if classes is None else len(classes)
    rng = np.random.default_rng(rows_seed + 1)
    labels = rng.integers(0, n_columns, n_rows)
    if classes is not None:
        labels = np.array([*classes, None], dtype=object)[labels]
    if options.get("condition", rs.Marginal()).needs_groups:
        options["groups"] = np.array([*names, None], dtype=object)[rng.integers(0, len(names), n_rows)]
    return rs.calibrate(values(kind, n_rows, n_columns, rows_seed), labels, kind=kind, classes=classes, **options)


def questions(rule):
    """New rows for ``rule``, one or more for each of its groups."""
    known = rule.spec.groups.values
    count = 5 * max(1, len(known))
    rows = values(rule.spec.kind, count, rule.spec.n_columns, seed=9)
    keywords = {"groups": np.array([*known * 5, None], dtype=object)[:-1]} if known else {}
    return rows, keywords | ({"ids": np.arange(count)} if rule.spec.with_ids else {})


def answers(rule):
    """Everything ``rule`` says about new rows, as bytes."""
    rows, keywords = questions(rule)
    sets = rule.predict(rows, ALPHA, **keywords)
    return sets.offsets.tobytes(), sets.codes.tobytes(), rule.p_values(rows, **keywords).tobytes()


def assert_survives(rule, folder):
    path = folder / "a.rankset"
    rule.save(path)
    loaded = rs.load(path)
    assert loaded == rule
    assert loaded.spec == rule.spec
    assert [type(name) for name in loaded.spec.classes.values] == [type(name) for name in rule.spec.classes.values]
    assert answers(loaded) == answers(rule)
    loaded.save(folder / "again.rankset")
    assert (folder / "again.rankset").read_bytes() == path.read_bytes()


HEADER_LIMIT = "have a header of at most 67,108,864 bytes"


def unloadable(path, reason=""):
    """Check that a file is refused because it is damaged, for a ``reason`` with these words."""
    with refused(StorageError, file=str(path), expected="be a complete rankset file") as caught:
        rs.load(path)
    assert caught.value.reason
    assert len(str(caught.value)) < 2000
    assert reason in fields_of(caught.value)["reason"]


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "rule.rankset"
    calibrated(n_rows=4).save(path)
    return path


@pytest.fixture
def forge(tmp_path):
    """Writes a file like that of ``rule``, with some of its header and its arrays changed, and a fitting digest."""

    def forged(rule=None, arrays=None, without=(), **changes):
        path = tmp_path / "forged.rankset"
        (rule or calibrated(n_rows=4)).save(path)
        header, stored = container.read(path)
        header = {name: part for name, part in {**header, **changes}.items() if name not in without}
        stored = {name: part for name, part in {**stored, **(arrays or {})}.items() if name not in without}
        container.write(path, header, stored)
        return path

    return forged


class TestRoundTrips:
    @pytest.mark.parametrize("score", SCORES, ids=repr)
    @pytest.mark.parametrize("condition", CONDITIONS, ids=repr)
    def test_every_score_under_every_condition_survives(self, tmp_path, score, condition):
        assert_survives(calibrated(score=score, condition=condition, n_rows=200), tmp_path)

    @pytest.mark.parametrize("score", SCORES, ids=repr)
    @pytest.mark.parametrize("kind", ["probs", "logits", "binary"])
    def test_every_score_of_every_kind_survives(self, tmp_path, score, kind):
        assert_survives(calibrated(score=score, kind=kind, seed=2**63), tmp_path)

    @pytest.mark.parametrize("score", [score for score in SCORES if not traits(score).needs_probs], ids=repr)
    def test_rules_of_other_numbers_than_probabilities_survive(self, tmp_path, score):
        assert_survives(calibrated(score=score, kind="decision", seed=-1), tmp_path)

    @pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
    def test_class_names_of_every_kind_survive(self, tmp_path, names):
        assert_survives(calibrated(classes=names), tmp_path)

    @pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
    def test_group_names_of_every_kind_survive(self, tmp_path, names):
        assert_survives(calibrated(condition=rs.PerGroup(), names=names, n_rows=300), tmp_path)

    @pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
    def test_cluster_names_of_every_kind_survive(self, tmp_path, names):
        classes = range(len(names))
        assert_survives(calibrated(condition=rs.PerLabel(tuple(names)), classes=classes, n_rows=300), tmp_path)

    def test_numbered_classes_are_stored_as_their_count(self, tmp_path):
        calibrated(classes=range(5)).save(tmp_path / "a.rankset")
        assert container.read(tmp_path / "a.rankset")[0]["classes"] == 5

    def test_a_merged_rule_survives(self, tmp_path):
        options = {"condition": rs.PerLabelAndGroup(rs.PerGroup(), rs.PerLabel()), "score": rs.Aps(), "n_rows": 200}
        first = calibrated(names=("north", "south"), **options)
        assert_survives(first.merge(calibrated(names=("east", 3), rows_seed=5, **options)), tmp_path)

    def test_a_loaded_rule_merges_like_the_saved_one(self, saved):
        rule, other = calibrated(n_rows=4), calibrated(rows_seed=5)
        assert rs.load(saved).merge(other) == rule.merge(other)

    def test_infinite_keys_survive(self, tmp_path):
        rule = rs.calibrate([[0.0, -np.inf], [1.0, 2.0]], [1, 0], score=rs.Thr(), kind="decision")
        rule.save(tmp_path / "a.rankset")
        assert rs.load(tmp_path / "a.rankset") == rule

    def test_saving_twice_gives_the_same_bytes(self, tmp_path):
        for name in "ab":
            calibrated(classes=["cat", "dog"]).save(tmp_path / name)
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()

    def test_another_process_gives_the_same_bytes(self, saved, tmp_path):
        code = f"import rankset; rankset.load({str(saved)!r}).save({str(tmp_path / 'other')!r})"
        subprocess.run([sys.executable, "-c", code], check=True)
        assert (tmp_path / "other").read_bytes() == saved.read_bytes()

    def test_the_header_is_sorted_json(self, saved):
        from safetensors import safe_open

        with safe_open(saved, framework="numpy") as file:
            text = file.metadata()["rankset"]
        assert text == json.dumps(json.loads(text), sort_keys=True)

    @pytest.mark.parametrize("kind", [str, Path])
    def test_paths_may_be_texts_or_paths(self, tmp_path, kind):
        rule = calibrated()
        rule.save(kind(tmp_path / "a.rankset"))
        assert rs.load(kind(tmp_path / "a.rankset")) == rule

    def test_loading_imports_nothing_heavy(self, saved):
        code = f"import rankset, sys; rankset.load({str(saved)!r}); print(*sys.modules)"
        loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
        assert not {"torch", "pandas", "scipy", "sklearn", "pickle5", "jax", "tensorflow"} & set(loaded)


class TestGoldenFiles:
    PATHS = sorted(Path(make.__file__).parent.glob("*.rankset"))

    @pytest.mark.filterwarnings("ignore:the weights make:rankset.RanksetWarning")
    @pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
    def test_a_rule_of_an_earlier_day_gives_the_answers_of_that_day(self, path):
        case = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        assert make.answers(rs.load(path), case) == {name: case[name] for name in ("sets", "p_values")}

    @pytest.mark.parametrize("name", make.CASES)
    def test_the_current_format_has_its_golden_files(self, name):
        assert f"format{make.number_of(make.CASES[name])}-{name}" in {path.stem for path in self.PATHS}

    @pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
    def test_only_rules_of_stratified_splits_are_without_guarantee(self, path):
        assert rs.load(path).guaranteed == ("stratified" not in path.stem)

    def test_together_they_name_every_score_condition_and_kind(self):
        text = str([container.read(path)[0] for path in (*self.PATHS, *make.DECISIONS.glob("*.rankset"))])
        known = [*rule_file.SCORES, *rule_file.CONDITIONS, *rule_file.KINDS, *rule_file.TARGETS]
        assert [name for name in known if f"'{name}'" not in text] == []

    def test_they_are_never_overwritten(self):
        before = {path: path.read_bytes() for path in make.HERE.iterdir() if path.is_file()}
        make.main()
        assert {path: path.read_bytes() for path in make.HERE.iterdir() if path.is_file()} == before


class TestDamage:
    def test_a_file_cut_anywhere_is_refused(self, saved):
        data = saved.read_bytes()
        for length in range(len(data)):
            saved.write_bytes(data[:length])
            unloadable(saved)

    def test_a_file_with_something_behind_it_is_refused(self, saved):
        saved.write_bytes(saved.read_bytes() + b"\0")
        unloadable(saved)

    @pytest.mark.parametrize("mask", [1, 2, 0x20, 0x80, 0xFF])
    def test_a_changed_byte_is_refused_or_changes_nothing(self, saved, mask):
        rule, data = rs.load(saved), saved.read_bytes()
        for place in range(len(data)):
            saved.write_bytes(data[:place] + bytes([data[place] ^ mask]) + data[place + 1 :])
            assert loaded_or_refused(saved) in (rule, None)

    @pytest.mark.slow
    def test_many_changed_bytes_are_refused(self, saved):
        data, rng = np.frombuffer(saved.read_bytes(), dtype=np.uint8), np.random.default_rng(0)
        for _ in range(2000):
            changed = data.copy()
            start = rng.integers(0, len(data))
            changed[start : start + rng.integers(2, 40)] = rng.integers(0, 256)
            np.roll(changed, rng.integers(0, 2)).tofile(saved)
            assert loaded_or_refused(saved) in (calibrated(n_rows=4), None)

    @given(st.binary(max_size=300))
    def test_noise_is_refused(self, tmp_path_factory, data):
        path = tmp_path_factory.getbasetemp() / "noise"
        path.write_bytes(data)
        with refused(StorageError, what="the file", file=str(path)):
            rs.load(path)


def loaded_or_refused(path):
    try:
        return rs.load(path)
    except StorageError:
        return None


class TestForeignFiles:
    def test_an_empty_file_is_refused(self, tmp_path):
        (tmp_path / "empty").touch()
        unloadable(tmp_path / "empty", "only 0 bytes")

    def test_a_missing_file_is_missing(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            rs.load(tmp_path / "none.rankset")

    def test_a_directory_is_refused(self, tmp_path):
        unloadable(tmp_path, "it is a directory")

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
    def test_a_pipe_is_refused_and_not_waited_for(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        unloadable(tmp_path / "pipe", "a device")

    def test_a_pickle_is_refused_and_not_run(self, tmp_path):
        (tmp_path / "a.pkl").write_bytes(pickle.dumps(Bomb()))
        with refused(StorageError, file=str(tmp_path / "a.pkl"), expected="be a rankset file"):
            rs.load(tmp_path / "a.pkl")

    def test_an_array_file_is_refused(self, tmp_path):
        np.save(tmp_path / "a.npy", np.arange(10))
        with refused(StorageError.not_of_rankset(tmp_path / "a.npy")):
            rs.load(tmp_path / "a.npy")

    @pytest.mark.parametrize("text", ['{"rows": [[0.7, 0.3]]}', "label,a,b\n0,0.7,0.3\n", "nonsense", "PK\3\4" * 9])
    def test_a_file_of_another_kind_is_told_how_rules_are_made(self, tmp_path, text):
        (tmp_path / "rows.json").write_text(text)
        with refused(StorageError, file=str(tmp_path / "rows.json"), expected="be a rankset file") as caught:
            rs.load(tmp_path / "rows.json")
        assert "rule.save" in caught.value.remedy
        assert "rankset calibrate" in caught.value.remedy

    @pytest.mark.parametrize("metadata", [None, {"format": "pt"}])
    def test_other_tensors_are_refused(self, tmp_path, metadata):
        save_file({"weights": np.zeros(3)}, tmp_path / "a.safetensors", metadata)
        unloadable(tmp_path / "a.safetensors", "it has no rankset header")

    @pytest.mark.parametrize(
        "text", ["", "null", "[]", "1", "{", '{"format": 1', "nonsense", "[" * 10**5, '{"a":' * 10**5]
    )
    def test_a_header_that_is_not_one_is_refused(self, tmp_path, text):
        save_file({"offsets": np.zeros(3)}, tmp_path / "a", {"rankset": text})
        unloadable(tmp_path / "a")

    @pytest.mark.parametrize("length", [2**63, 2**64 - 1, 2**40, 64 * 2**20 + 1])
    def test_a_header_larger_than_any_is_refused_unread(self, saved, length):
        saved.write_bytes(struct.pack("<Q", length) + saved.read_bytes()[8:])
        with refused(StorageError, file=str(saved), expected=HEADER_LIMIT):
            rs.load(saved)

    def test_a_header_longer_than_its_file_is_refused(self, saved):
        saved.write_bytes(struct.pack("<Q", 10**6) + saved.read_bytes()[8:])
        unloadable(saved, "it ends inside its header")

    def test_a_file_of_holes_is_refused_unread(self, tmp_path):
        """300 MB that take 4 KB on the disk."""
        path, n = tmp_path / "holes", 300 * 2**20 // 8
        arrays = {
            "offsets": {"dtype": "I64", "shape": [2], "data_offsets": [0, 16]},
            "key0": {"dtype": "F64", "shape": [n], "data_offsets": [16, 16 + 8 * n]},
        }
        header = json.dumps({"__metadata__": {"rankset": json.dumps({"format": 1, "digest": ""})}, **arrays}).encode()
        with path.open("wb") as file:
            file.write(struct.pack("<Q", len(header)) + header)
            file.truncate(8 + len(header) + 16 + 8 * n)
        if path.stat().st_blocks * 512 > 2**20:
            pytest.skip("the file system has no holes")
        tracemalloc.start()
        try:
            unloadable(path, f" of its {path.stat().st_size:,} bytes are on the disk")
            assert tracemalloc.get_traced_memory()[1] < 2**20
        finally:
            tracemalloc.stop()

    def test_a_link_to_a_rule_is_the_rule(self, saved, tmp_path):
        (tmp_path / "link").symlink_to(saved)
        assert rs.load(tmp_path / "link") == rs.load(saved)


class Bomb:
    def __reduce__(self):
        return sys.exit, ("a pickle was run",)


class TestFormatNumber:
    def test_a_later_format_asks_to_upgrade(self, forge):
        path = forge(format=6)
        with refused(StorageError.future(path, 6, 5)):
            rs.load(path)

    def test_the_field_guaranteed_belongs_to_format_3_and_is_false(self, forge):
        assert not rs.load(forge(format=3, guaranteed=False)).guaranteed
        unloadable(forge(format=3), "its header must have the fields")
        unloadable(forge(guaranteed=False), "its header must have the fields")
        for value in (True, 0, None, "no"):
            unloadable(forge(format=3, guaranteed=value), "its field guaranteed must be false")

    @pytest.mark.parametrize("number", [0, -1, True, "1", 1.0, None, [1]])
    def test_a_format_that_is_no_number_is_refused(self, forge, number):
        unloadable(forge(format=number), "its header has no format number")


class TestAbsentLabels:
    RULE = rs.calibrate([[0.6, 0.4]] * 12, [0, 1, 0, 0, 1, 0, 0, 0, 1, 0, rs.ABSENT, rs.ABSENT])

    def test_they_are_counted_in_a_format_of_their_own(self, tmp_path):
        assert_survives(self.RULE, tmp_path)
        self.RULE.save(tmp_path / "a.rankset")
        header, arrays = container.read(tmp_path / "a.rankset")
        assert header["format"] == 2
        assert arrays["absent"].tolist() == [2]
        assert len(arrays["key0"]) == 10

    @pytest.mark.parametrize(
        "absent", [[0], [-1], [1, 1], [2**53 + 1], [], [2.0]], ids=["none", "minus", "two", "many", "no", "float"]
    )
    def test_numbers_that_cannot_be_right_are_refused(self, forge, absent):
        array = np.array(absent, dtype=np.float64 if absent == [2.0] else np.int64)
        unloadable(forge(self.RULE, arrays={"absent": array}), "its numbers of absent labels cannot be right")

    def test_the_format_number_must_fit(self, forge):
        reason = "its format number and its arrays contradict each other"
        unloadable(forge(self.RULE, format=1), reason)
        unloadable(forge(self.RULE, without=["absent"]), reason)
        unloadable(forge(arrays={"absent": np.array([1])}), reason)

    def test_a_condition_on_labels_cannot_have_them(self, forge):
        rule = calibrated(n_rows=4, condition=rs.PerLabel())
        counts = np.ones(rule.spec.n_groups, dtype=np.int64)
        unloadable(forge(rule, arrays={"absent": counts}, format=2), "the group of a row depends on its true label")


class TestHostileHeaders:
    @pytest.mark.parametrize("name", ["score", "condition", "kind", "seed", "classes", "groups", "keys"])
    def test_a_missing_field_is_refused(self, forge, name):
        unloadable(forge(without=[name]), f"{name!r}")

    def test_a_field_nobody_understands_is_refused(self, forge):
        unloadable(forge(weights="yes"), "'weights'")

    @pytest.mark.parametrize("what", ["model", None, 3])
    def test_something_other_than_a_rule_is_refused(self, forge, what):
        unloadable(forge(what=what), "it does not contain a rule")

    @pytest.mark.parametrize("name", ["os.system", "Score", "Marginal", "", "__class__", "Bomb"])
    def test_a_score_by_another_name_is_refused(self, forge, name):
        unloadable(forge(score={"name": name}), f"{name!r} is not one of ")

    @pytest.mark.parametrize(
        "score",
        [
            None,
            "Rank",
            ["Rank"],
            {},
            {"name": ["Rank"]},
            {"name": {"name": "Rank"}},
            {"name": "Rank", "penalty": 1},
            {"name": "Aps"},
            {"name": "Aps", "randomized": 1},
            {"name": "Aps", "randomized": None},
            {"name": "Aps", "needs_probs": False, "randomized": True},
            {"name": "Raps", "penalty": "abc", "free_ranks": 1, "randomized": True},
            {"name": "Raps", "penalty": float("nan"), "free_ranks": 1, "randomized": True},
            {"name": "Raps", "penalty": float("inf"), "free_ranks": 1, "randomized": True},
            {"name": "Raps", "penalty": 10**400, "free_ranks": 1, "randomized": True},
            {"name": "Raps", "penalty": 0.1, "free_ranks": 1.5, "randomized": True},
            {"name": "Raps", "penalty": 0.1, "free_ranks": [1], "randomized": True},
            {"name": "Saps", "weight": -1, "randomized": True},
            {"name": "TieBreak", "score": "Rank"},
            {"name": "TieBreak", "score": {"name": "Marginal"}},
            {"name": "TieBreak", "score": None},
        ],
        ids=str,
    )
    def test_a_score_that_cannot_be_is_refused(self, forge, score):
        unloadable(forge(score=score))

    @pytest.mark.parametrize(
        "condition",
        [
            None,
            {"name": "Rank"},
            {"name": "Cross"},
            {"name": "Cross", "first": {"name": "Marginal"}, "second": "Marginal"},
            {"name": "PerLabel"},
            {"name": "PerLabel", "clusters": "ab"},
            {"name": "PerLabel", "clusters": 2},
            {"name": "PerLabel", "clusters": ["a"]},
            {"name": "PerLabel", "clusters": ["a", None]},
            {"name": "PerLabel", "clusters": ["a", {"b": 1}]},
            {"name": "PerLabel", "clusters": [["a"], ["b"]]},
            {"name": "PerLabel", "clusters": ["a", float("nan")]},
            {"name": "PerLabel", "clusters": {"name": "PerRow"}},
            {"name": "PerLabel", "clusters": [1] * 10**6},
        ],
        ids=lambda condition: str(condition)[:80],
    )
    def test_a_condition_that_cannot_be_is_refused(self, forge, condition):
        unloadable(forge(calibrated(condition=rs.PerLabel()), condition=condition))

    @pytest.mark.parametrize("depth", [100, 300])
    def test_scores_deep_within_scores_are_refused(self, forge, depth):
        score = {"name": "Rank"}
        for _ in range(depth):
            score = {"name": "TieBreak", "score": score}
        unloadable(forge(score=score))

    def test_trees_of_conditions_are_refused_before_they_are_built(self, forge):
        condition = {"name": "Marginal"}
        for _ in range(12):
            condition = {"name": "Cross", "first": condition, "second": condition}
        unloadable(forge(condition=condition), "more than 100 scores or conditions are nested")

    @pytest.mark.parametrize("depth", [1000, 10**5])
    def test_headers_without_a_bottom_are_refused(self, tmp_path, depth):
        text = (
            '{"format": 1, "digest": "", "score": ' + '{"name": "TieBreak", "score": ' * depth + "0" + "}" * (depth + 1)
        )
        save_file({"offsets": np.zeros(2)}, tmp_path / "a", {"rankset": text})
        unloadable(tmp_path / "a")  # whether the depth or the digest is noticed first depends on the version of Python

    def test_an_error_does_not_repeat_a_whole_hostile_file(self, forge):
        unloadable(forge(score={"name": "x" * 10**6}), "'xxx")
        unloadable(forge(**{"y" * 10**6: 1}), ", got [")
        unloadable(forge(kind="z" * 10**6), "kind must be one of")

    @pytest.mark.parametrize("count", [10**15, 10**30, 2**31, 2**63, 150_000_000, 2**22 + 1, 0, -1])
    def test_an_impossible_number_of_classes_is_refused(self, forge, count):
        unloadable(forge(classes=count), "a rule must have 1 to 4,194,304 classes")

    def test_a_large_number_of_classes_alone_allocates_nothing(self, forge):
        tracemalloc.start()
        try:
            assert rs.load(forge(classes=2**22)).spec.n_columns == 2**22
            assert tracemalloc.get_traced_memory()[1] < 2**20
        finally:
            tracemalloc.stop()

    @pytest.mark.parametrize("condition", [rs.PerLabel(), rs.PerLabelAndGroup(rs.PerLabel(), rs.PerLabel())], ids=repr)
    def test_a_large_number_of_groups_is_refused(self, forge, condition):
        unloadable(forge(calibrated(condition=condition), classes=2**22), "its arrays contradict each other")

    @pytest.mark.parametrize(
        "names",
        [
            None,
            True,
            2.0,
            "ab",
            {"a": 1, "b": 2},
            [{"a": 1}, "b"],
            [["a"], ["b"]],
            ["a", None],
            ["a", float("nan")],
            ["a", "a"],
            [1, True],
            ["a"] * 10**5,
        ],
        ids=lambda names: str(names)[:80],
    )
    def test_class_names_that_cannot_be_are_refused(self, forge, names):
        unloadable(forge(classes=names))

    @pytest.mark.parametrize(
        "names",
        [None, 2, "ab", {"a": 1, "b": 2}, [], ["b", "a"], ["a", 1], ["a", "a"], ["a", None], [["a"], ["b"]], [{}, "a"]],
        ids=str,
    )
    def test_group_names_that_cannot_be_are_refused(self, forge, names):
        unloadable(forge(calibrated(condition=rs.PerGroup()), groups=names))

    def test_a_truth_value_is_no_number_of_classes(self, forge):
        unloadable(forge(calibrated(classes=["only"]), classes=True), "its names must be a list, got True")

    def test_groups_nobody_looks_at_are_refused(self, forge):
        unloadable(forge(groups=["a"]), "classes, groups, kind and condition contradict each other")

    @pytest.mark.parametrize("kind", ["votes", None, 1, ["probs"], ""])
    def test_an_unknown_kind_is_refused(self, forge, kind):
        unloadable(forge(kind=kind), "kind must be one of probs, logits, scores, binary")

    def test_a_score_of_another_kind_is_refused(self, forge):
        unloadable(forge(calibrated(score=rs.Aps()), kind="scores"), "Aps(randomized=True) must get probabilities")

    @pytest.mark.parametrize("classes", [3, ["a", "b", "c"]])
    def test_a_binary_rule_has_two_classes(self, forge, classes):
        unloadable(forge(calibrated(kind="binary"), classes=classes))

    @pytest.mark.parametrize("seed", [None, "1", 1.5, True, [1]])
    def test_a_seed_that_is_no_whole_number_is_refused(self, forge, seed):
        unloadable(forge(seed=seed), "seed must be an integer")

    @pytest.mark.parametrize("count", [0, 1, 3, 10**18, -1, "2", None])
    def test_a_wrong_number_of_keys_is_refused(self, forge, count):
        unloadable(forge(keys=count), "its arrays contradict each other")

    @given(data=st.data())
    @pytest.mark.slow
    def test_whatever_a_header_says_it_is_refused_or_a_rule(self, tmp_path_factory, data):
        path = tmp_path_factory.getbasetemp() / "any.rankset"
        calibrated(score=rs.Raps(), condition=rs.PerLabelAndGroup(rs.PerGroup(), rs.PerLabel(("a", "b")))).save(path)
        header, arrays = container.read(path)
        place = header
        while isinstance(place[name := data.draw(st.sampled_from(sorted(place)))], dict):
            place = place[name]
        place[name] = data.draw(JSON)
        container.write(path, header, arrays)
        rule = loaded_or_refused(path)
        assert rule is None or answers(rule)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["Rank", "PerRow", "a", "b"]),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(["name", "score"]), inner),
    max_leaves=5,
)


BEYOND = [
    (rs.Rank(), (-2.0, 0.5)),
    (rs.Thr(), (-2.0, 0.5, -np.inf)),
    (rs.Margin(), (1.5, -1.5, np.inf)),
    (rs.Aps(), (-0.5, 2.0)),
    (rs.Aps(randomized=False), (-0.5, 2.0)),
    (rs.Raps(penalty=0.1, free_ranks=1), (-0.5, 1.5)),
    (rs.Saps(weight=0.3), (-0.5, 2.0)),
    (rs.Average(), (-0.5, 4.0)),
    (rs.TieBreak(rs.Thr()), (-0.5, 1.5)),
    (rs.Temperature(2.0), (-0.5,)),
    (rs.Tempered(rs.Thr(), 2.0), (-2.0, 0.5)),
    (rs.TieBreak(rs.Tempered(rs.Margin(), 0.5)), (-0.5, 1.5)),
    (rs.Tempered(rs.Temperature(2.0), 2.0), (-0.5,)),
    (rs.Chosen(rs.Recalibrated(), "why"), (-0.5,)),
]
"""Scores, and values their last key never has with two classes."""
OTHERS = [
    rs.Average(),
    rs.Average(rank=5.0, randomized=False),
    rs.Temperature(2.0),
    rs.Tempered(rs.Aps(), 49.0),
    rs.Tempered(rs.Tempered(rs.Rank(), 0.3), 7.0),
    rs.Chosen(rs.Recalibrated(), "why"),
]
EDGES = [
    np.eye(3),
    np.full((3, 3), 1 / 3),
    np.eye(3) * 1.0099,
    np.full((4, 4), 0.2476),
    np.ones((2, 1)),
    np.repeat([[0.0, 1.0]], 3, axis=0),
]


class TestHostileArrays:
    @pytest.mark.parametrize(
        "offsets",
        [
            [],
            [0],
            [0, 2],
            [0, 2, 5],
            [0, 2, 3],
            [1, 2, 4],
            [0, 5, 4],
            [0, -1, 4],
            [0, 2**63 - 1, 4],
            [0, -(2**63), 4],
            [0, 1, 2, 4],
        ],
        ids=str,
    )
    def test_offsets_that_do_not_fit_are_refused(self, forge, offsets):
        rule = calibrated(n_rows=4, condition=rs.PerLabel())
        unloadable(forge(rule, {"offsets": np.array(offsets, dtype=np.int64)}), "its arrays contradict each other")

    def test_offsets_whose_differences_overflow_are_refused(self, forge):
        rule = calibrated(n_rows=4, condition=rs.PerLabel(), classes=[5, 6, 7])
        offsets = np.array([0, 2**63 - 1, -5, 4])
        unloadable(forge(rule, {"offsets": offsets}), "its arrays contradict each other")

    def test_offsets_that_are_no_whole_numbers_are_refused(self, forge):
        unloadable(forge(arrays={"offsets": np.array([0.0, 4.0])}), "its arrays do not belong to the score Rank()")

    @pytest.mark.parametrize("name", ["offsets", "key0", "key1"])
    def test_a_missing_array_is_refused(self, forge, name):
        unloadable(forge(without=[name]), "its arrays do not belong to the score Rank()")

    @pytest.mark.parametrize("name", ["key2", "weights"])
    def test_an_array_too_many_is_refused(self, forge, name):
        unloadable(forge(arrays={name: np.zeros(4)}), "its arrays do not belong to the score Rank()")

    @pytest.mark.parametrize("score", SCORES[1:], ids=repr)
    def test_the_keys_of_another_score_are_refused(self, forge, score):
        changed = forge(score=container.describe(score, rule_file.SCORES))
        unloadable(changed, f"its arrays do not belong to the score {score!r}")

    @pytest.mark.parametrize("key", [[1.0] * 4, [-1.0] * 4, [np.nan] * 4])
    def test_ranks_that_are_no_whole_numbers_are_refused(self, forge, key):
        unloadable(forge(arrays={"key0": np.array(key)}), "its arrays do not belong to the score Rank")

    @pytest.mark.parametrize("rank", [0, -1, 3, 2**62])
    def test_ranks_beyond_the_classes_are_refused(self, forge, rank):
        unloadable(forge(arrays={"key0": np.full(4, rank)}), "key0 of Rank() must lie between 1 and 2, got ")

    def test_keys_with_nan_are_refused(self, forge):
        unloadable(forge(arrays={"key1": np.array([-0.9, -0.8, np.nan, np.nan])}), "its arrays contradict each other")

    @pytest.mark.parametrize(("score", "wrong"), BEYOND, ids=repr)
    def test_keys_that_no_row_has_are_refused(self, forge, score, wrong):
        rule = calibrated(score=score, n_rows=4)
        place = len(rule.calibration.keys) - 1
        for value in wrong:
            path = forge(rule, {f"key{place}": np.full(4, value)})
            unloadable(path, f", got {value:g} to ")

    @pytest.mark.parametrize("score", [*SCORES, *OTHERS], ids=repr)
    def test_keys_that_rows_have_are_loaded(self, tmp_path, score):
        """Rows at the edges of what is allowed: certain, undecided, with sums at the tolerance, with a single class."""
        kinds = ["probs", "logits"] if traits(score).needs_probs else ["probs", "logits", "decision"]
        for kind in kinds:
            for probs in EDGES:
                rows = np.log(probs + 1e-300) * 1e6 if kind != "probs" else probs
                labels = np.arange(len(rows)) % rows.shape[1]
                rule = rs.calibrate(rows, labels, score=score, kind=kind, seed=3)
                rule.save(tmp_path / "a.rankset")
                assert rs.load(tmp_path / "a.rankset") == rule

    @pytest.mark.parametrize("length", [0, 3, 5])
    def test_keys_of_another_length_are_refused(self, forge, length):
        unloadable(forge(arrays={"key1": np.zeros(length)}), "its arrays contradict each other")

    @pytest.mark.parametrize("score", [rs.Rank(), rs.Thr(), rs.TieBreak(rs.TopK())], ids=repr)
    def test_keys_out_of_order_are_refused(self, forge, score):
        rule = calibrated(n_rows=4, score=score)
        keys = {f"key{place}": key[::-1] for place, key in enumerate(rule.calibration.keys)}
        unloadable(forge(rule, keys), "its calibration scores are not sorted")

    def test_keys_need_not_be_sorted_across_groups(self, forge):
        rule = calibrated(n_rows=4, score=rs.Thr(), condition=rs.PerLabel())
        arrays = {"offsets": np.array([0, 2, 4]), "key0": np.array([-0.2, -0.1, -0.9, -0.8])}
        assert rs.load(forge(rule, arrays)).n == 4

    @pytest.mark.parametrize("dtype", ["int32", "float32", "float16", "uint8", "bool", "uint64"])
    def test_arrays_of_another_type_are_refused(self, tmp_path, dtype):
        save_file({"key0": np.zeros(2, dtype)}, tmp_path / "a", {"rankset": '{"format": 1}'})
        unloadable(tmp_path / "a", "its arrays must be one-dimensional I64 or F64, but 'key0' is")

    @pytest.mark.parametrize("shape", [(), (2, 2), (0, 3)])
    def test_arrays_of_another_shape_are_refused(self, tmp_path, shape):
        save_file({"key0": np.zeros(shape)}, tmp_path / "a", {"rankset": '{"format": 1}'})
        unloadable(tmp_path / "a", "its arrays must be one-dimensional I64 or F64, but 'key0' is")

    @given(
        offsets=st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 5), max_size=6),
        ranks=st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 3), max_size=5),
        probs=st.lists(st.floats() | st.floats(-1, 0), max_size=5),
    )
    def test_whatever_arrays_hold_they_are_refused_or_a_rule(self, tmp_path_factory, offsets, ranks, probs):
        path = tmp_path_factory.getbasetemp() / "any.rankset"
        calibrated(condition=rs.PerLabel()).save(path)
        header, _ = container.read(path)
        arrays = {"offsets": np.array(offsets, dtype=np.int64), "key0": np.array(ranks, dtype=np.int64)}
        container.write(path, header, {**arrays, "key1": np.array(probs, dtype=np.float64)})
        loaded_or_refused(path)


class TestSaving:
    @pytest.mark.parametrize("name", ["os.fsync", "pathlib.Path.replace"])
    def test_a_failed_save_leaves_the_old_file_and_nothing_else(self, saved, monkeypatch, name):
        before = saved.read_bytes()
        monkeypatch.setattr(name, failing)
        with refused(FileError.unwritable(str(saved), "the disk is full")):
            calibrated(n_rows=50).save(saved)
        assert saved.read_bytes() == before
        assert list(saved.parent.iterdir()) == [saved]

    def test_an_interrupted_save_leaves_the_old_file_and_nothing_else(self, saved, monkeypatch):
        before = saved.read_bytes()
        monkeypatch.setattr("os.fsync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            calibrated(n_rows=50).save(saved)
        assert saved.read_bytes() == before
        assert list(saved.parent.iterdir()) == [saved]

    @pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
    def test_a_closed_folder_is_an_error(self, saved):
        saved.parent.chmod(0o500)
        with refused(FileError.unwritable(str(saved), "Permission denied")):
            calibrated().save(saved)
        saved.parent.chmod(0o700)

    def test_a_folder_that_does_not_exist_is_an_error(self, tmp_path):
        path = tmp_path / "none" / "a.rankset"
        with refused(FileError.unwritable(str(path), "No such file or directory")):
            calibrated().save(path)

    def test_a_folder_in_place_of_the_file_is_an_error_and_leaves_nothing(self, tmp_path):
        (tmp_path / "a.rankset").mkdir()
        with refused(FileError.unwritable(str(tmp_path / "a.rankset"), "Is a directory")):
            calibrated().save(tmp_path / "a.rankset")
        assert [path.name for path in tmp_path.iterdir()] == ["a.rankset"]

    def test_saving_replaces_the_old_file(self, saved):
        rule = calibrated(n_rows=50)
        rule.save(saved)
        assert rs.load(saved) == rule
        assert list(saved.parent.iterdir()) == [saved]

    def test_saving_through_a_link_changes_the_file_it_points_to(self, saved, tmp_path):
        rule, link = calibrated(n_rows=50), tmp_path / "link"
        link.symlink_to(saved)
        rule.save(link)
        assert link.is_symlink()
        assert rs.load(saved) == rule

    def test_the_longest_names_of_files_work(self, tmp_path):
        rule = calibrated()
        rule.save(tmp_path / ("a" * 255))
        assert rs.load(tmp_path / ("a" * 255)) == rule

    @pytest.mark.skipif(os.name == "nt", reason="needs file modes")
    @pytest.mark.parametrize("mask", [0o022, 0o077])
    def test_a_saved_file_is_as_open_as_other_new_files(self, tmp_path, mask):
        before = os.umask(mask)
        try:
            calibrated().save(tmp_path / "a.rankset")
        finally:
            os.umask(before)
        assert (tmp_path / "a.rankset").stat().st_mode & 0o777 == 0o666 & ~mask

    def test_a_score_of_the_users_own_says_why_it_is_not_stored(self, tmp_path):
        for score in (Own(), OwnData(), OwnRank(), rs.TieBreak(Own()), rs.TieBreak(OwnData())):
            with refused(
                StorageError,
                what="scores and conditions in a file",
                expected="be classes of rankset",
                remedy="Other classes are not saved, because loading them could run unknown code. "
                "Instead, keep the calibration data and calibrate again.",
            ):
                calibrated(score=score).save(tmp_path / "a.rankset")
        assert list(tmp_path.iterdir()) == []

    def test_what_could_not_be_loaded_is_not_saved(self, tmp_path, monkeypatch):
        score = rs.Rank()
        for _ in range(100):
            score = rs.TieBreak(score)
        with refused(StorageError.nested_too_far(100)):
            calibrated(score=score).save(tmp_path / "a.rankset")
        monkeypatch.setattr(rule_file, "MOST_CLASSES", 4)
        calibrated(classes=range(4)).save(tmp_path / "b.rankset")
        with refused(StorageError.too_many_classes(5, 4)):
            calibrated(classes=range(5)).save(tmp_path / "a.rankset")
        assert [path.name for path in tmp_path.iterdir()] == ["b.rankset"]

    def test_more_names_than_a_file_may_hold_are_refused_before_writing(self, tmp_path, monkeypatch):
        monkeypatch.setattr(container, "LIMIT_HEADER", 1000)
        with refused(
            StorageError,
            what="the file",
            received="1,480 bytes",
            expected="have class and group names of at most 1,000 bytes in total",
            remedy="The rule was not saved. Use shorter names, or calibrate without classes=.",
        ):
            calibrated(classes=["a" * 500, "b" * 500]).save(tmp_path / "a.rankset")
        assert list(tmp_path.iterdir()) == []


def failing(*_, **__):
    raise OSError("the disk is full")


def interrupted(_):
    raise KeyboardInterrupt


class Own:
    def keys(self, cells):
        return (cells.prob,)


@dataclass(frozen=True)
class OwnData:
    def keys(self, cells):
        return (cells.prob,)


class OwnRank(rs.Rank):
    pass


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        (r"\"seed\": 0", r"\"seed\": 7, \"seed\": 0", "seed"),
        (r"\"name\": \"Thr\"", r"\"name\": \"Rank\", \"name\": \"Thr\"", "name"),
        (r'"rankset":', r'"rankset":"{}","rankset":', "rankset"),
        (r'"offsets":', r'"offsets":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},"offsets":', "offsets"),
    ],
)
def test_a_header_that_says_something_twice_is_refused(tmp_path, old, new, name):
    path = tmp_path / "rule.rankset"
    rs.calibrate(np.full((9, 3), 1 / 3), [0] * 9, score=rs.Thr()).save(path)
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = data[8 : 8 + length].decode()
    assert header.count(old) == 1
    changed = header.replace(old, new).encode()
    path.write_bytes(struct.pack("<Q", len(changed)) + changed + data[8 + length :])
    with refused(StorageError.unreadable(path, f"its header has {name!r} more than once")):
        rs.load(path)
