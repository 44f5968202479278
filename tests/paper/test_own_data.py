"""The experiment of the paper on a user's own model outputs: from arrays and from files."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import rankset as rs
from rankset.cli.commands import rankset
from rankset.errors import InputError, KindError, LabelError, RuleError, ScoreError
from rankset.paper import METHODS, Outputs, tables
from refusals import like, refused

LOGITS, LABELS = rs.datasets.load("carer")
LOGITS, LABELS = LOGITS[:300], LABELS[:300]
NAMES = ["sad", "joy", "love", "anger", "fear", "surprise"]
FEW = {"alphas": ["0.1", "0.2"], "repeats": 3, "show_progress": False}
FROM_LOGITS = rs.paper.study([Outputs.of("mine", LOGITS, LABELS, kind="logits")], **FEW)


def numbers_of(*options, **keywords):
    return rs.paper.study([Outputs.of("mine", *options, **keywords)], **FEW)


class TestOutputs:
    def test_numbers_are_those_of_the_experiment_on_these_rows(self):
        results = rs.paper.resample(LOGITS, LABELS, alphas=["0.1", "0.2"], repeats=3, kind="logits")
        for method in METHODS:
            for alpha in ("0.1", "0.2"):
                for measure in ("coverage", "size", "SSCV"):
                    mean = results.mean(method, alpha, measure)
                    assert FROM_LOGITS.mean("mine", method, alpha, measure) == pytest.approx(mean, abs=1e-6)
        assert list(FROM_LOGITS.rows) == list(FROM_LOGITS.data["definitions"]) == ["mine"]
        assert list(FROM_LOGITS.data["temperatures"]) == ["mine"]
        assert (FROM_LOGITS.is_own("mine"), FROM_LOGITS.all_own) == (True, True)

    def test_a_data_set_of_the_package_gives_the_same_numbers_under_another_name(self):
        both = rs.paper.study(["relations", Outputs.of("mine", *rs.datasets.load("relations"))], **FEW)
        assert list(both.rows) == ["relations", "mine", "relations²"]
        for field in ("methods", "ranks", "r_star", "accuracy", "questions", "classes"):
            assert both.rows["mine"][field] == both.rows["relations"][field]
        definitions = both.data["definitions"]
        assert definitions["mine"] == definitions["relations"]
        assert (both.is_own("relations"), both.is_own("mine"), both.all_own) == (False, True, False)

    def test_frames_names_lists_and_binary_rows(self):
        words = np.array(NAMES)[LABELS]
        frame = pd.DataFrame(LOGITS, columns=NAMES)
        assert numbers_of(frame, words, kind="logits") == FROM_LOGITS
        assert (
            numbers_of(LOGITS.tolist(), list(words), kind="logits", classes=NAMES).rows["mine"]["ranks"]
            == (FROM_LOGITS.rows["mine"]["ranks"])
        )
        p, y = rs.softmax(LOGITS[:, :2].astype(float)), LABELS % 2
        assert numbers_of(p[:, 1], y, kind="binary").rows["mine"]["accuracy"] == pytest.approx(
            (p.argmax(axis=1) == y).mean(), abs=1e-6
        )
        assert numbers_of(np.ones((20, 1)), np.zeros(20, dtype=int)).mean("mine", "THR", "0.1", "size") <= 1

    def test_what_is_refused(self):
        probs = rs.softmax(LOGITS.astype(float))
        with refused(ScoreError.needs_probabilities(rs.Aps())):
            Outputs.of("mine", LOGITS, LABELS, kind="decision")
        with refused(like(KindError, what="probs")):
            Outputs.of("mine", rs.Ragged.of([[0.5, 0.5], [1.0]]), [0, 0])
        with refused(InputError.too_few_rows_to_compare(1)):
            Outputs.of("mine", probs[:1], LABELS[:1])
        with refused(like(InputError, row=0)):
            Outputs.of("mine", LOGITS, LABELS)
        with refused(like(LabelError, what="labels")):
            Outputs.of("mine", probs, LABELS + 1)
        for name in ("", " ", None, 3):
            with refused(KindError.argument("name", "a string that is not empty", name)):
                Outputs.of(name, probs, LABELS)
        expected = "different from the names of all other rows and data sets"
        for name in ("mnist", "relations²"):
            with refused(KindError.argument("name", expected, name)):
                rs.paper.study([Outputs.of(name, probs, LABELS)])
        with refused(KindError.argument("name", expected, "a")):
            rs.paper.study([Outputs.of("a", probs, LABELS), Outputs.of("a", probs, LABELS)])
        with refused(like(RuleError, received="'nothing'")):
            rs.paper.study(["nothing"])


class TestTablesAndFigures:
    def test_the_table_has_no_column_of_the_paper(self):
        head, *lines = tables.table_1(FROM_LOGITS).split("\n")
        assert head.split() == ["coverage", "z", "size", "SSCV", "SSCV*", "empty"]
        for method, line in zip(METHODS, lines, strict=False):
            found = line.split()[-7:]
            assert found[0] == method
            for place, measure in ((1, "coverage"), (3, "size"), (4, "SSCV"), (5, "SSCV*"), (6, "empty")):
                assert float(found[place]) == pytest.approx(FROM_LOGITS.mean("mine", method, "0.1", measure), abs=6e-4)
        assert tables.table_1(FROM_LOGITS, "0.2") != tables.table_1(FROM_LOGITS)
        assert "published" not in tables.notes(FROM_LOGITS)
        assert tables.notes(rs.paper.study(["relations"], **FEW)) == tables.NOTES

    def test_own_rows_beside_those_of_the_paper_and_long_names(self):
        name = "a model with a very long name that needs room"
        both = rs.paper.study([Outputs.of(name, LOGITS, LABELS, kind="logits"), "tweet"], **FEW)
        lines = tables.table_1(both).split("\n")
        assert "paper" in lines[0]
        (own,) = [line for line in lines if line.startswith(f"{name} (300 × 6) RANK")]
        (theirs,) = [line for line in lines if line.startswith("tweet ")]
        assert len(own) == len(theirs) == len(lines[0])
        assert (
            len(re.findall(r" [+-]?\d\.\d+", theirs)) == len(re.findall(r" [+-]?\d\.\d+", own)) + 4
        )  # published values
        for table in (tables.definitions(both), tables.temperatures(both)):
            assert f"\n{name} " in table

    def test_the_figures(self, tmp_path):
        numbers = rs.paper.study([Outputs.of("cost in $ and $ again", LOGITS, LABELS, kind="logits")], **FEW)
        drawn = {path.name for path in rs.paper.draw_all(numbers, str(tmp_path))}
        assert drawn == {"figure2.pdf", "figure2.png", "own-data.pdf", "own-data.png"}
        assert all((tmp_path / name).stat().st_size > 5000 for name in drawn)


class TestCommandLine:
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        np.savez("mine.npz", logits=LOGITS, labels=LABELS)
        np.save("x.npy", LOGITS)
        np.save("y.npy", LABELS)
        frame = pd.DataFrame(LOGITS, columns=NAMES)
        frame.assign(answer=np.array(NAMES)[LABELS]).to_csv("mine.csv", index=False)
        frame.assign(answer=np.array(NAMES)[LABELS]).to_parquet("mine.parquet")

    def run(self, *options, command="table"):
        return CliRunner().invoke(rankset, ["paper", command, *options, "--repeats", "3"])

    @pytest.mark.parametrize(
        ("options", "name"),
        [
            (["--data", "mine.npz"], "mine"),
            (["--data", "mine.npz", "--key", "logits", "--label", "labels", "--kind", "logits"], "mine"),
            (["--data", "x.npy", "--labels", "y.npy", "--kind", "logits"], "x"),
            (["--data", "mine.csv", "--label", "answer", "--kind", "logits"], "mine"),
            (["--data", "mine.parquet", "--label", "answer", "--kind", "logits"], "mine"),
        ],
        ids=str,
    )
    def test_the_table_of_a_file(self, options, name):
        done = self.run(*options)
        assert done.exit_code == 0, done.output
        mine = Outputs.of(name, LOGITS, LABELS, kind="logits")
        told = tables.table_1(rs.paper.study([mine], alphas=["0.1"], repeats=3, show_progress=False))
        if not options[1].endswith("csv"):
            assert told in done.stdout
        lines = told.split("\n")[:3]  # RANK and THR; draws are made from float64, and csv has other ones than float32
        assert "\n".join(lines) in done.stdout

    @pytest.mark.parametrize("scores", ["probs", "probabilities", "scores", "whatever"])
    @pytest.mark.parametrize("labels", ["labels", "y", "targets", "answer"])
    def test_usual_names_of_arrays_are_found(self, scores, labels):
        np.savez("p.npz", **{scores: rs.softmax(LOGITS.astype(float)), labels: LABELS})
        done = self.run("--data", "p.npz")
        assert done.exit_code == 0, done.output
        assert "p (300 × 6)" in done.stdout

    def test_several_files_and_data_sets(self):
        np.savez("mnist.npz", probs=rs.softmax(LOGITS.astype(float)), y=LABELS)
        done = self.run("--data", "mnist.npz", "--data", "relations", "--data", "mine.npz", "--data", "./mine.npz")
        assert done.exit_code == 0, done.output
        heads = re.findall(r"^(\S.*) \([\d,]+ × \d+\) +RANK", done.stdout, flags=re.MULTILINE)
        assert heads == ["mnist.npz", "relations", "mine", "mine.npz", "relations²"]

    def test_figures_and_numbers(self, tmp_path):
        done = self.run("--data", "mine.npz", "--alpha", "0.05", "-o", "out", command="all")
        assert done.exit_code == 0, done.output
        written = {path.name for path in (tmp_path / "out").iterdir()}
        assert written == {"numbers.json", "figure2.pdf", "figure2.png", "own-data.pdf", "own-data.png"}
        assert json.loads((tmp_path / "out" / "numbers.json").read_text())["rows"]["mine"]["own"] is True
        done = self.run("--data", "relations", "-o", "out", command="figures")
        assert done.exit_code == 0, done.output
        assert not (tmp_path / "out" / "own-data.png").exists()  # files of an older run are removed

    @pytest.mark.parametrize(
        ("options", "code", "told"),
        [
            (["--data", "none.npz"], 2, "'none.npz' is neither a data set nor a file. Pass a file, or one of mnist"),
            (["--data", "."], 2, "'.' is a folder"),
            (["--kind", "logits"], 2, "are for your own files. Add --data FILE."),
            (["--data", "relations", "--label", "y"], 2, "are for your own files. Add --data FILE."),
            (["--data", "x.npy", "--data", "mine.npz", "--labels", "y.npy"], 2, "got 1 for 2"),
            (["--data", "x.npy"], 1, "--label"),
            (["--data", "x.npy", "--labels", "y.npy"], 1, "x.npy: probs must be probabilities"),
            (
                ["--data", "x.npy", "--labels", "short.npy", "--kind", "logits"],
                1,
                "labels must have one entry for each of the 300 rows",
            ),
            (["--data", "x.npy", "--labels", "y.npy", "--kind", "decision"], 1, "--kind"),
            (["--data", "two.npz"], 1, "two.npz"),
            (["--data", "broken.npz"], 1, "broken.npz"),
            (["--data", "mine.csv", "--label", "no", "--kind", "logits"], 1, "mine.csv"),
        ],
        ids=str,
    )
    def test_what_is_refused(self, options, code, told, tmp_path):
        np.save("short.npy", LABELS[:-1])
        np.savez("two.npz", probs=rs.softmax(LOGITS.astype(float)), logits=LOGITS, labels=LABELS)
        (tmp_path / "broken.npz").write_bytes(b"PK nothing")
        done = self.run(*options)
        assert done.exit_code == code, done.output
        assert told in done.stderr
        assert "Traceback" not in done.output


class TestTablesAsFiles:
    def test_latex_and_csv_have_the_numbers_of_the_table(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        np.savez("mine_one.npz", logits=LOGITS, labels=LABELS)
        asked = ["paper", "table", "--data", "mine_one.npz", "--repeats", "3"]
        numbers = rs.paper.study([Outputs.of("mine_one", LOGITS, LABELS, kind="logits")], **FEW)
        for name in ("table.tex", "table.csv", "table.txt"):
            result = CliRunner().invoke(rankset, [*asked, "-o", name])
            assert result.exit_code == 0, result.output
            assert name in result.stderr
        latex = (tmp_path / "table.tex").read_text(encoding="utf-8")
        assert latex == rs.paper.table_1(numbers, latex=True)
        coverage = numbers.mean("mine_one", "RANK", "0.1", "coverage")
        assert rf"mine\_one & RANK & ${coverage:.4f}$ & " in latex
        assert latex.count(r" \\") == 1 + len(METHODS)
        frame = pd.read_csv("table.csv")
        assert frame["method"].tolist() == list(METHODS)
        sizes = [numbers.mean("mine_one", method, "0.1", "size") for method in METHODS]
        np.testing.assert_allclose(frame["size"], sizes)
        assert rs.paper.table_1(numbers) in (tmp_path / "table.txt").read_text(encoding="utf-8")
        again = CliRunner().invoke(rankset, [*asked, "-o", "table.tex"])
        assert again.exit_code != 0
        assert "--force" in again.stderr
        assert CliRunner().invoke(rankset, [*asked, "-o", "table.doc"]).exit_code != 0

    def test_published_values_stand_beside_ours(self):
        numbers = rs.paper.study(["marketing"], **FEW)
        latex = rs.paper.table_1(numbers, latex=True)
        assert "size paper & size diff & SSCV & SSCV paper & SSCV diff" in latex
        assert "marketing$^2$ & RANK" in latex
        theirs = tables.published_table()["marketing", "RANK"]["size"]
        assert f"& ${theirs:.3f}$ & " in latex
        assert "paper" in rs.paper.table_1(numbers).split("\n")[0]
        assert f"& ${theirs:.3f}$ &" not in rs.paper.table_1(numbers, "0.2", latex=True)


def test_results_are_printed_in_a_few_lines():
    some = rs.paper.resample(LOGITS, LABELS, repeats=20, kind="logits")
    lines = repr(some).splitlines()
    assert lines[0] == "Results of 20 repetitions, means of coverage, size, SSCV, SSCV*, empty"
    assert len(lines) == 1 + len(METHODS)
    assert f"{some.mean('RANK', some.alphas[0], 'size'):.4f}" in lines[1]
    many = rs.paper.resample(LOGITS, LABELS, alphas=[k / 100 for k in range(1, 40)], repeats=2, kind="logits")
    assert len(repr(many).splitlines()) < 40
