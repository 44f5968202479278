"""What users get from a comparison: short names, data frames, LaTeX, pictures, several alphas, own measures, auto."""

import json
import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from matplotlib.figure import Figure

import rankset as rs
from rankset.cli.commands import rankset
from rankset.errors import (
    COMMAND_LINE,
    FileError,
    KindError,
    LabelError,
    LevelError,
    PackageError,
    RuleError,
    ScoreError,
)
from rankset.evaluation.auto_trial import auto_halves
from rankset.evaluation.metrics import METRICS
from rankset.evaluation.short_names import short_names
from refusals import refused

PROBS, LABELS = rs.datasets.load("marketing")
LOGITS, TRUTH = rs.datasets.load("carer")
SITES = np.array(["north", "south"] * 130)
SOME = rs.compare(PROBS, LABELS, scores=[rs.Rank(), rs.Thr(), rs.Raps(penalty=0.2, free_ranks=2), "auto"], repeats=4)
BOTH = rs.compare(PROBS, LABELS, [0.1, "0.25"], scores=[rs.Rank(), rs.Thr()], repeats=4)


class Own:
    """A score without parameters that has no dataclass."""

    def keys(self, cells):
        return (-cells.prob,)


@pytest.mark.parametrize(
    ("score", "name"),
    [
        (rs.Rank(), "RANK"),
        (rs.Thr(), "THR"),
        (rs.TopK(), "TopK"),
        (rs.Raps(), "RAPS"),
        (rs.Raps(penalty=0.2, free_ranks=2), "RAPS(0.2, 2)"),
        (rs.Raps(penalty=0.2), "RAPS(0.2)"),
        (rs.Raps(free_ranks=2, randomized=False), "RAPS(free_ranks=2, randomized=False)"),
        (rs.TieBreak(rs.Saps(weight=0.5)), "TieBreak(SAPS(0.5))"),
        (rs.Chosen(rs.Thr(), "a reason"), "THR"),
        (rs.Recalibrated(), "Recalibrated"),
        (rs.Temperature(0.5), "Temperature(0.5)"),
        (Own(), "Own"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_scores_have_short_names(score, name):
    assert short_names([score]) == (name,)


def test_short_names_are_all_different():
    recalibrated = [rs.Recalibrated(temperature=scale) for scale in (1.0, 2.0)]
    names = short_names([rs.Rank(), rs.Rank(), Own(), Own(), *recalibrated, rs.Thr(), rs.Chosen(rs.Thr(), "why")])
    assert len(set(names)) == len(names)
    assert names[0] == "RANK"
    assert names[1] == "RANK #2"


def test_a_grid_of_wrappers_is_compared_and_named():
    scores = rs.grid(rs.TieBreak, score=[rs.Rank(), rs.Raps(penalty=0.1)])
    assert scores == (rs.TieBreak(rs.Rank()), rs.TieBreak(rs.Raps(penalty=0.1)))
    told = rs.compare(PROBS, LABELS, scores=scores, repeats=2)
    assert told.names == ("TieBreak(RANK)", "TieBreak(RAPS(0.1))")


def test_spread_is_the_standard_deviation_over_splits():
    np.testing.assert_allclose(
        SOME.spread,
        [[np.std(v[~np.isnan(v)], ddof=1) if (~np.isnan(v)).sum() > 1 else np.nan for v in one] for one in SOME.values],
    )
    size = SOME.measures.index("size")
    assert f"{SOME.means[0, size]:.4f} ±{SOME.errors[0, size]:.4f} ({SOME.spread[0, size]:.4f})" in repr(SOME)
    assert f"({SOME.spread[0, size]:.4f})" in SOME._repr_html_()
    assert np.isnan(rs.compare(PROBS, LABELS, repeats=1).spread).all()


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_of_a_comparison(backend):
    pytest.importorskip(backend)
    wide, long = (pd.DataFrame(_dictionary(SOME.to_frame(backend, long=is_long))) for is_long in (False, True))
    assert wide["score"].tolist() == ["RANK", "THR", "RAPS(0.2, 2)", "auto"]
    assert wide.columns.tolist()[1:4] == ["coverage", "coverage error", "coverage spread"]
    size = SOME.measures.index("size")
    assert wide["size"].tolist()[:3] == SOME.means[:, size].tolist()
    assert wide["size spread"].tolist()[:3] == SOME.spread[:, size].tolist()
    assert wide["size"].tolist()[3] == SOME.auto_values[size].mean()
    assert math.isnan(wide["size error"].tolist()[3])
    assert long.columns.tolist() == ["alpha", "score", "metric", "mean", "error", "spread"]
    assert len(long) == 4 * len(METRICS)
    one = long[(long["score"] == "THR") & (long["metric"] == "size")].iloc[0]
    assert (one["alpha"], one["mean"], one["error"]) == (0.1, SOME.means[1, size], SOME.errors[1, size])


def _dictionary(frame):
    return frame.to_pydict() if hasattr(frame, "to_pydict") else {name: list(frame[name]) for name in frame.columns}


def test_latex_of_a_comparison():
    told = rs.compare(PROBS, LABELS, scores=[rs.Rank(), "auto"], metrics={"50% & more_x^2": lambda *_: 1}, repeats=3)
    text = told.to_latex(digits=2)
    size = told.means[0, 1], told.errors[0, 1]
    assert (
        f"RANK & ${told.means[0, 0]:.2f} \\pm {told.errors[0, 0]:.2f}$ & ${size[0]:.2f} \\pm {size[1]:.2f}$ & $1.00$"
        in text
    )
    assert r"50\% \& more\_x\textasciicircum{}2" in text
    assert text.count("&", 0, text.index("\\\\")) == 4  # three columns, and one escaped character
    assert "auto & $" in text
    every = SOME.to_latex(list(METRICS))
    assert r"classes below 50\%" in every
    assert "& --" in every  # RANK has no sets with one label here
    assert "score & size \\\\" in SOME.to_latex("size")
    assert [line.split(" & ")[0] for line in BOTH.to_latex().splitlines() if "RANK" in line] == ["0.1", "0.25"]
    with refused(RuleError.option("metric", "SIZE", SOME.measures)):
        SOME.to_latex(["SIZE"])
    with refused(KindError.argument("metrics", f"a list of metrics ({', '.join(SOME.measures)})", 3)):
        SOME.to_latex(3)


def test_latex_shows_the_metrics_that_were_named():
    named = rs.compare(PROBS, LABELS, scores=[rs.Rank()], metrics=["class gap", {"a<b>|c": lambda *_: 1}], repeats=2)
    assert r"score & coverage & size & class gap & a\textless{}b\textgreater{}\textbar{}c \\" in named.to_latex()
    assert "class gap" not in SOME.to_latex()


@pytest.mark.parametrize("alphas", [[0.1, 0.2], [0.05, 0.1, 0.2], [0.05, 0.1, 0.15, 0.2, 0.25, 0.3]])
def test_points_of_a_score_are_closer_to_each_other_than_to_the_next_score(alphas):
    figure = rs.compare(PROBS, LABELS, alphas, scores=[rs.Rank(), rs.Thr()], repeats=2).plot()
    heights = np.array([one.lines[0].get_ydata() for one in figure.axes[0].containers[1::2]])
    assert np.ptp(heights[:, 0]) < heights[:, 1].min() - heights[:, 0].max()
    np.testing.assert_allclose(heights.mean(axis=0), [0, 1], atol=1e-12)
    assert [0.5, 0.5] in [list(line.get_ydata()) for line in figure.axes[0].lines]  # between the scores
    assert "dashed: the target" in figure.get_supxlabel()
    plt.close(figure)
    figure = SOME.plot(["size"])
    assert "dashed" not in figure.get_supxlabel()
    thin, thick = figure.axes[0].containers
    assert thin.lines[2][0].get_zorder() > thick.lines[2][0].get_zorder()
    plt.close(figure)


def test_the_printed_table_counts_and_explains_what_it_shows():
    assert repr(SOME).startswith("Comparison of 3 scores and auto on 4 random halves")
    (one,) = (rs.compare(PROBS, LABELS, scores=[rs.Rank()], repeats=1),)
    assert repr(one).startswith("Comparison of 1 score on 1 random half of")
    assert "±" not in repr(one)
    assert "In parentheses" not in repr(one)
    assert "smallest" not in repr(one)
    note = repr(SOME).splitlines()[16:]
    assert note[0].startswith("± is one")
    assert max(map(len, note)) <= 110
    with pytest.warns(rs.errors.RanksetWarning):
        few = rs.compare(PROBS[:10], LABELS[:10], 0.05, scores=[rs.Rank(), rs.Thr()], repeats=2)
    assert (few.values[:, few.measures.index("size")] == 4).all()
    assert "smallest" not in repr(few)
    assert repr(few).count("same sizes") == 2


def test_a_picture_shows_means_errors_and_spread():
    figure = SOME.plot()
    assert isinstance(figure, Figure)
    left, right = figure.axes
    assert [text.get_text() for text in left.get_yticklabels()] == ["RANK", "THR", "RAPS(0.2, 2)", "auto"]
    size = SOME.measures.index("size")
    thin, thick = left.containers
    np.testing.assert_allclose(thick.lines[0].get_xdata()[:3], SOME.means[:, size])
    for container, widths in ((thin, SOME.spread), (thick, SOME.errors)):
        ends = np.array([[one[0, 0], one[1, 0]] for one in container.lines[2][0].get_segments()])
        np.testing.assert_allclose(np.diff(ends, axis=1)[:3, 0], 2 * widths[:, size])
        assert (np.diff(ends, axis=1)[3, 0] > 0) == (container is thin)  # auto has a spread and no error
    assert any(line.get_xdata()[0] == 0.9 for line in right.lines)
    plt.close(figure)
    many = BOTH.plot(["coverage", "worst class", "size"])
    assert [ax.get_xlabel() for ax in many.axes] == ["coverage", "worst class", "size"]
    assert [text.get_text() for text in many.legends[0].get_texts()] == ["0.1", "0.25"]
    plt.close(many)


def test_pictures_on_own_axes():
    figure, ax = plt.subplots()
    assert BOTH.plot("size", ax=ax) is figure
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0.1", "0.25"]
    with refused(KindError.argument("ax", "2 Matplotlib Axes, one per metric", "1 Axes")):
        SOME.plot(ax=ax)
    with refused(RuleError.option("metric", "sizes", SOME.measures)):
        SOME.plot("sizes")
    plt.close(figure)


def test_pictures_of_a_target_show_the_mean_loss_and_alpha():
    probs, mask = rs.datasets.load("goemotions")
    found = rs.compare(probs[:200], mask[:200], 0.2, scores=["thr"], target="all", kind="marginals", repeats=2)
    figure = found.plot()
    assert [panel.get_xlabel() for panel in figure.axes] == ["size", "risk"]
    assert 0.2 in [line.get_xdata()[0] for line in figure.axes[1].lines]
    assert figure.get_supxlabel().endswith("dashed: the promise, at most alpha")


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
    with pytest.raises(PackageError) as caught:
        SOME.plot()
    assert "rankset[plots]" in str(caught.value)


def test_without_narwhals_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "narwhals", None)
    evaluation = rs.evaluate(rs.calibrate(PROBS, LABELS).predict(PROBS, 0.1), LABELS)
    for ask in (SOME.to_frame, BOTH.to_frame, evaluation.to_frame):
        with refused(PackageError.narwhals_for_results()) as caught:
            ask()
        assert "rankset[frames]" in str(caught.value)
        assert "to_numpy" not in str(caught.value)


def test_several_alphas_are_several_comparisons_on_the_same_splits():
    assert isinstance(BOTH, rs.Comparisons)
    assert (len(BOTH), list(BOTH), BOTH.alphas) == (2, [0.1, 0.25], (0.1, 0.25))
    for alpha in (0.1, 0.25):
        alone = rs.compare(PROBS, LABELS, alpha, scores=[rs.Rank(), rs.Thr()], repeats=4)
        assert BOTH[alpha].values.tobytes() == alone.values.tobytes()
        assert BOTH[alpha].errors.tobytes() == alone.errors.tobytes()
        assert repr(alone).split("\n±")[0] in repr(BOTH)
    assert BOTH["0.25"] is BOTH[0.25] is BOTH.get(0.25)
    assert 0.25 in BOTH
    assert "x" not in BOTH
    assert BOTH.get(0.3) is None
    assert repr(BOTH).count("± is one standard error") == 1
    assert BOTH._repr_html_().count("alpha=0.1") == 1
    assert BOTH.to_frame("pandas")["alpha"].tolist() == [0.1, 0.1, 0.25, 0.25]
    assert len(BOTH.to_frame("pandas", long=True)) == 4 * len(METRICS)
    assert isinstance(rs.compare(PROBS, LABELS, np.array([0.2]), repeats=2), rs.Comparisons)
    with refused(RuleError.option("alpha", 0.3, (0.1, 0.25))):
        BOTH[0.3]
    with refused(LevelError.not_a_number([])):
        rs.compare(PROBS, LABELS, [])


def test_choosing_at_several_alphas_minimises_the_mean():
    candidates = [rs.Rank(), rs.Thr(), rs.Aps(), rs.Saps(weight=0.3)]
    for condition, groups in ((rs.Marginal(), None), (rs.PerGroup(), SITES)):
        shared = {"condition": condition, "groups": groups, "repeats": 5}
        told = rs.compare(PROBS, LABELS, [0.1, 0.3], scores=candidates, **shared)
        sizes = np.mean([one.means[:, one.measures.index("worst class")] for one in told.values()], axis=0)
        chosen = rs.choose(candidates, PROBS, LABELS, [0.1, 0.3], objective="worst_class", **shared)
        assert chosen == candidates[int(sizes.argmax())]


def test_metrics_are_chosen_and_own_ones_added():
    seen = []

    def largest(covered, sizes, labels, alpha):
        seen.append((covered.dtype, len(sizes), len(labels), float(alpha)))
        return sizes.max()

    told = rs.compare(
        PROBS, LABELS, 0.2, scores=[rs.Thr(), "auto"], metrics=["worst class", {"largest": largest}], repeats=3
    )
    assert told.measures == ("coverage", "size", "worst class", "largest")
    assert set(seen) == {(np.dtype(bool), 130, 130, 0.2)}
    assert len(seen) == 6
    assert 1 <= told.means[0, 3] <= 4
    assert np.isnan(told.errors[0, 3])
    assert "Own measures" in repr(told)
    assert rs.compare(PROBS, LABELS, metrics="SSCV", repeats=2).measures == ("coverage", "SSCV", "size")
    every = rs.compare(PROBS, LABELS, metrics=[*METRICS, {"nothing": lambda *_: math.nan}], repeats=2)
    assert every.measures == (*METRICS, "nothing")
    assert ["auto", "–"] in [line.split() for line in repr(every).splitlines()]


@pytest.mark.parametrize(
    ("metrics", "refusal"),
    [
        (["SIZE"], RuleError.option("metric", "SIZE", tuple(METRICS))),
        (7, KindError.argument("metrics", "a list of names, or a dictionary of functions by name", 7)),
        ([7], KindError.argument("metrics", "a list of names, or a dictionary of functions by name", 7)),
        ({"size": max}, KindError.argument("metrics", "a dictionary whose keys are new names", "size")),
        ({"mine": 3}, KindError.argument("metrics", "a dictionary whose values are functions", 3)),
        (
            {"mine": lambda *_: "x"},
            KindError.argument("metrics['mine']", "a function that returns a finite number, or NaN", "x"),
        ),
        (
            {"mine": lambda *_: math.inf},
            KindError.argument("metrics['mine']", "a function that returns a finite number, or NaN", math.inf),
        ),
    ],
)
def test_metrics_that_cannot_be_are_refused(metrics, refusal):
    with refused(refusal):
        rs.compare(PROBS, LABELS, scores=[rs.Rank()], metrics=metrics, repeats=2)


def test_auto_is_compared_by_default_and_is_no_score():
    told = rs.compare(LOGITS, TRUTH, kind="logits", repeats=2)
    assert told.auto_values.shape == (len(METRICS), 2)
    assert [line.name for line in told.lines][-1] == "auto"
    assert "auto" not in told.scores
    assert isinstance(told.smallest, rs.Score)
    assert repr(told).count("\nauto ") == 3
    assert "chosen in each half" in repr(told)
    assert "auto is not a fixed score" in repr(told)
    without = rs.compare(LOGITS, TRUTH, kind="logits", scores=told.scores, repeats=2)
    assert without.auto_values is None
    assert without.values.tobytes() == told.values.tobytes()
    assert without.errors.tobytes() == told.errors.tobytes()
    decision = rs.compare(LOGITS, TRUTH, kind="decision", repeats=2)
    assert decision.names == ("RANK", "THR", "Margin")
    assert decision.auto_values is not None


def test_auto_alone_or_to_choose_from_is_refused():
    with refused(KindError.argument("scores", "a list with at least one score besides 'auto'", ["auto"])):
        rs.compare(PROBS, LABELS, scores=["auto"])
    with refused(KindError.argument("scores", "a list of at least one score", "auto")):
        rs.compare(PROBS, LABELS, scores="auto")
    with refused(ScoreError.auto_is_no_score("candidates")):
        rs.choose([rs.Rank(), "auto"], PROBS, LABELS)


def test_for_large_inputs_auto_is_fitted_on_fewer_halves(monkeypatch):
    assert auto_halves(50_000, 1000, 20) == 5
    assert auto_halves(50_000, 1000, 3) == 3
    assert auto_halves(2000, 6, 20) == 20
    monkeypatch.setattr("rankset.evaluation.auto_trial.MOST_CELLS", 1)
    told = rs.compare(PROBS, LABELS, scores=[rs.Rank(), "auto"], repeats=7)
    assert told.auto_values.shape[1] == 5
    assert "chosen in the first 5 halves" in repr(told)


def test_groups_and_conditions_must_fit():
    for ask in (rs.compare, lambda *rows, **options: rs.choose([rs.Rank()], *rows, **options)):
        with refused(LabelError.groups_missing(rs.PerGroup())):
            ask(PROBS, LABELS, condition=rs.PerGroup())
        with refused(LabelError.groups_unused(rs.Marginal())):
            ask(PROBS, LABELS, groups=SITES)
        with refused(KindError.class_instead_of_object("condition", rs.PerLabel)):
            ask(PROBS, LABELS, condition=rs.PerLabel)


def test_groups_with_few_rows_are_warned_of_and_have_no_standard_errors():
    groups = np.array(["few"] * 20 + ["many"] * 240)
    with pytest.warns(rs.RanksetWarning, match=r"at least 38 rows are needed in every group of PerGroup\(\) .* 1 of 2"):
        told = rs.compare(PROBS, LABELS, 0.05, scores=[rs.Rank(), rs.Thr()], condition=rs.PerGroup(), groups=groups)
    assert np.isnan(told.errors).all()
    assert "No standard errors: at least one group" in repr(told)
    assert "±0" not in repr(told)
    assert "tied" not in repr(told).replace("tied_with", "")
    assert told.tied_with_smallest == told.scores
    assert math.isnan(told.contrast([1, -1])[1])
    known = rs.compare(PROBS, LABELS, 0.2, scores=[rs.Rank(), rs.Thr()], condition=rs.PerGroup(), groups=SITES)
    finite = {name for name, error in zip(known.measures, known.errors[0], strict=True) if np.isfinite(error)}
    assert finite == {"coverage", "size"}
    assert repr(known).splitlines()[0].endswith("alpha=0.2, PerGroup()")


def test_an_evaluation_is_a_frame():
    sets = rs.calibrate(PROBS, LABELS, condition=rs.PerGroup(), groups=SITES).predict(PROBS, 0.1, groups=SITES)
    evaluation = rs.evaluate(sets, LABELS, groups=SITES)
    frame = evaluation.to_frame("pandas")
    assert frame["metric"].tolist() == list(METRICS)
    np.testing.assert_array_equal(frame["value"], list(evaluation.values.values()))
    assert (frame.loc[0, "low"], frame.loc[0, "high"]) == evaluation.interval
    assert frame["low"].isna().sum() == len(METRICS) - len(evaluation.ranges) == len(METRICS) - 4
    assert frame["section"].tolist() == [metric.section for metric in METRICS.values()]
    classes = evaluation.to_frame("pandas", of="classes")
    assert classes["n"].sum() == 260
    assert evaluation.to_frame("pandas", of="groups")["name"].tolist() == ["north", "south"]
    assert rs.evaluate(sets, LABELS).to_frame("pandas", of="groups").shape == (0, 6)
    with refused(RuleError.option("of", "rows", ("metrics", "classes", "groups"))):
        evaluation.to_frame(of="rows")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(PROBS, columns=list("ABCD"))
    frame.assign(answer=np.array(list("ABCD"))[LABELS], site=SITES, number=range(260)).to_csv("val.csv", index=False)
    return ["compare", "val.csv", "--label", "answer", "--drop", "number", "--repeats", "3"]


def run(*arguments):
    done = CliRunner().invoke(rankset, arguments)
    return done.exit_code, done.stdout, done.stderr


def test_the_command_line_takes_conditions_alphas_metrics_and_scores(files):
    options = [
        "--group",
        "site",
        "--per-label",
        "--alpha",
        "0.2",
        "--alpha",
        "0.3",
        "--score",
        "thr",
        "--score",
        "auto",
    ]
    code, out, err = run(*files, *options, "--metric", "worst class", "--json")
    assert code == 0, err
    condition = rs.PerLabelAndGroup(rs.PerGroup(), rs.PerLabel())
    expected = rs.compare(
        *(PROBS, LABELS, [0.2, 0.3]),
        scores=[rs.Thr(), "auto"],
        condition=condition,
        groups=SITES,
        metrics=["worst class"],
        repeats=3,
    )
    told = json.loads(out)
    assert list(told) == ["0.2", "0.3"]
    for alpha, lines in told.items():
        assert list(lines) == ["Thr()", "auto"]
        for line in expected[alpha].lines:
            for place, measure in enumerate(("coverage", "size", "worst class")):
                assert lines[line.text][measure]["mean"] == line.means[place]
                assert lines[line.text][measure]["spread"] == line.spread[place]
        assert (lines["Thr()"]["name"], lines["auto"]["name"]) == ("THR", "auto")
        assert lines["auto"]["size"]["error"] is None
        assert (lines["Thr()"]["smallest"], lines["auto"]["smallest"]) == (True, False)
    code, out, _ = run(*files, "--group", "site", "--alpha", "0.2", "--no-auto")
    assert "PerGroup()" in out
    assert "\nauto" not in out
    assert "\nauto" in run(*files, "--group", "site", "--alpha", "0.2")[1]
    code, _, err = run(*files, "--group", "site", "--score", "auto")
    assert code == 2
    assert "at least one score besides auto" in err


def test_ids_of_a_file_draw_the_noise(files):
    without = [*files[:-4], "--repeats", "3"]  # the column is used, not dropped
    told = json.loads(
        run(*without, "--group", "site", "--id", "number", "--score", "aps", "--alpha", "0.2", "--json")[1]
    )
    expected = rs.compare(
        *(PROBS, LABELS, 0.2),
        scores=[rs.Aps()],
        condition=rs.PerGroup(),
        groups=SITES,
        ids=np.arange(260),
        repeats=3,
    )
    other = rs.compare(PROBS, LABELS, 0.2, scores=[rs.Aps()], condition=rs.PerGroup(), groups=SITES, repeats=3)
    size = expected.measures.index("size")
    assert told["0.2"]["Aps(randomized=True)"]["size"]["mean"] == expected.means[0, size]
    assert expected.values.tobytes() != other.values.tobytes()


@pytest.mark.parametrize("name", ["table.csv", "table.tex", "picture.png", "picture.svg", "picture.pdf"])
def test_the_command_line_writes_tables_and_pictures(files, tmp_path, name):
    asked = [*files, "--drop", "site", "--score", "rank", "--score", "auto", "-o", name]
    code, out, err = run(*asked)
    assert code == 0, err
    told = rs.compare(PROBS, LABELS, ["0.1"], scores=[rs.Rank(), "auto"], repeats=3)
    assert out == f"{told!r}\n"
    content = (tmp_path / name).read_bytes()
    if name == "table.csv":
        frame = pd.read_csv(tmp_path / name)
        pd.testing.assert_frame_equal(frame, told.to_frame("pandas", long=True), check_dtype=False)
    elif name == "table.tex":
        assert content.decode() == told.to_latex()
    else:
        assert content.startswith({"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[name[-3:]])
    code, _, err = run(*asked)
    assert code != 0
    assert "--force" in err
    assert run(*asked, "--force")[0] == 0


def test_the_picture_of_the_command_line_shows_the_named_metrics(files, tmp_path):
    code, _, err = run(*files, "--drop", "site", "--score", "rank", "--metric", "SSCV", "-o", "picture.svg")
    assert code == 0, err
    assert "picture.svg: picture of the comparison" in err
    drawn = (tmp_path / "picture.svg").read_text(encoding="utf-8")
    assert all(f"<!-- {name} -->" in drawn for name in ("size", "coverage", "SSCV"))


def test_the_command_line_writes_tables_for_spreadsheets(files, tmp_path):
    asked = [*files, "--drop", "site", "--score", "rank"]
    told = rs.compare(PROBS, LABELS, ["0.1"], scores=[rs.Rank()], repeats=3).to_frame("pandas", long=True)
    assert run(*asked, "-o", "table.xlsx")[0] == 0
    found = pd.read_excel(tmp_path / "table.xlsx")
    pd.testing.assert_frame_equal(found, told, check_dtype=False)
    code, _, err = run(*asked, "-o", "table.csv", "--excel", "--decimal", ".")
    assert code == 0, err
    assert (tmp_path / "table.csv").read_bytes().startswith(b"\xef\xbb\xbfalpha,score")
    lines = (tmp_path / "val.csv").read_text(encoding="utf-8").replace(",", ";").replace(".", ",")
    (tmp_path / "commas.csv").write_text(lines, encoding="utf-8")
    commas = ["commas.csv" if one == "val.csv" else one for one in asked]
    code, _, err = run(*commas, "-o", "table.csv", "--excel", "--force")
    assert code == 0, err
    assert (tmp_path / "table.csv").read_bytes().startswith(b"\xef\xbb\xbfalpha;score")
    frame = pd.read_csv(tmp_path / "table.csv", sep=";", decimal=",", encoding="utf-8-sig")
    pd.testing.assert_frame_equal(frame, told, check_dtype=False)
    code, _, err = run(*asked, "-o", "picture.png", "--excel")
    assert code != 0
    assert "must end in .csv or .xlsx" in err


@pytest.mark.parametrize("own", [lambda covered, sizes: 1, lambda: 1, lambda *, covered: 1, lambda a, b, c, d, e: 1])
def test_measures_with_other_arguments_are_refused_with_their_name(own):
    expected = "a function of 4 arguments (covered, sizes, labels, alpha)"
    with refused(KindError.argument("metrics['mine']", expected, own)) as caught:
        rs.compare(PROBS, LABELS, metrics={"mine": own})
    assert isinstance(caught.value.__cause__, TypeError)
    with refused(KindError.argument("objective", expected, own)):
        rs.choose([rs.Rank(), rs.Thr()], PROBS, LABELS, objective=own)


def test_the_line_of_auto_can_be_computed_again():
    told = rs.compare(PROBS, LABELS, 0.2, scores=[rs.Rank(), "auto"], repeats=3, seed=4)
    rng, n = np.random.default_rng(4), len(LABELS)
    for split in range(3):
        order = rng.permutation(n)
        cal, test = order[: n // 2], order[n // 2 :]
        rule = rs.auto(PROBS[cal], LABELS[cal], 0.2, seed=4)
        seen = rs.evaluate(rule.predict(PROBS[test], 0.2), LABELS[test])
        assert told.auto_values[told.measures.index("size"), split] == seen.mean_size
        rank = rs.calibrate(PROBS[cal], LABELS[cal]).predict(PROBS[test], 0.2)
        assert told.values[0, told.measures.index("size"), split] == rank.sizes.mean()


def test_other_suffixes_are_refused_before_any_work(files):
    code, _, err = run(*files, "-o", "table.doc", "--score", "rank")
    assert code != 0
    assert FileError.suffix("table.doc", ".csv, .xlsx, .tex, .png, .svg or .pdf").render(COMMAND_LINE) in err
    assert run(*files, "-o", "val.csv", "--force", "--score", "rank")[0] != 0
