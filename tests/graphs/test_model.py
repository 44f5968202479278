"""The model around the graph: its inputs, metadata, versions, file, and what is refused."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

pytest.importorskip("onnxruntime")

import onnx
from onnx import TensorProto, compose, helper, numpy_helper

import rankset as rs
from onnx_models import assert_same, differences, expected, session_of
from rankset.errors import FileError, RuleError, ScoreError
from refusals import like, refused

PROBS, LABELS = rs.datasets.load("marketing")
CLASSES = ["none", "mail", "call", "visit"]
RULE = rs.calibrate(PROBS[:200], LABELS[:200], classes=CLASSES)


def metadata(model):
    return json.loads({one.key: one.value for one in model.metadata_props}["rankset"])


def test_the_file_and_the_model_that_is_returned_are_the_same(tmp_path):
    model = RULE.to_onnx(tmp_path / "rule.onnx", alpha=0.1)
    assert onnx.load(tmp_path / "rule.onnx") == model
    assert (tmp_path / "rule.onnx").read_bytes() == RULE.at(0.1).to_onnx().SerializeToString()


def test_the_same_rule_gives_the_same_bytes():
    again = rs.calibrate(PROBS[:200], LABELS[:200], classes=CLASSES)
    assert again.to_onnx(alpha=0.1).SerializeToString() == RULE.to_onnx(alpha="0.1").SerializeToString()


def test_names_inside_clash_with_no_other_model():
    graph = RULE.to_onnx(alpha=0.1).graph
    outputs = {one.name for one in graph.output}
    inside = {name for node in graph.node for name in node.output} | {one.name for one in graph.initializer}
    assert {name for name in inside - outputs if not name.startswith("rankset_")} == set()


def test_the_metadata_count_the_rows_of_all_groups():
    rule = rs.calibrate(PROBS, LABELS, condition=rs.PerGroup(), groups=np.resize(["a", "b", "b"], 260))
    assert metadata(rule.to_onnx(alpha=0.1))["rows"] == 260


def test_names_level_and_what_is_proven_are_in_the_metadata():
    model = RULE.to_onnx(alpha=0.1)
    assert (model.producer_name, model.producer_version) == ("rankset", rs.__version__)
    assert metadata(model) == {
        "version": rs.__version__,
        "alpha": "0.1",
        "confidence": None,
        "score": "Rank()",
        "condition": "Marginal()",
        "target": "OneLabel()",
        "kind": "probs",
        "classes": CLASSES,
        "groups": [],
        "rows": 200,
        "dtype": "float32",
        "empty": "allow",
        "proven": "the set contains the true label with probability at least 0.9, on average over calibrations, if new "
        "rows and calibration rows are exchangeable",
        "sets": RULE.describe(0.1),
    }
    assert session_of(model).get_modelmeta().custom_metadata_map.keys() == {"rankset"}


def test_metadata_of_other_rules():
    groups = np.resize(["a", "b"], len(PROBS))
    rule = rs.calibrate(PROBS, LABELS, method=rs.Temperature(2.0), condition=rs.PerGroup(), groups=groups)
    found = metadata(rule._without_guarantee().to_onnx(alpha="1/3", confidence=0.9, dtype="float64", empty="top"))
    assert found["proven"] is None
    assert (found["alpha"], found["confidence"]) == ("1/3", "0.9")
    sure = metadata(rule.to_onnx(alpha=0.2, confidence=0.9, next_rows=100))["proven"]
    assert sure.endswith(
        ", in every group separately, with confidence 0.9 for this calibration and the next 100 rows, "
        "if new rows and calibration rows are exchangeable"
    )
    assert (found["groups"], found["dtype"], found["empty"]) == (["a", "b"], "float64", "top")
    assert found["sets"].splitlines()[-1] == "An empty set gets the most likely label instead"
    thr = metadata(rs.calibrate(PROBS, LABELS, method="thr").to_onnx(alpha=0.5, empty="top"))["sets"]
    assert thr.endswith("; a set can be empty. An empty set gets the most likely label instead")


@pytest.mark.parametrize("opset", range(18, 26))
def test_every_version_of_the_operators(opset):
    model = RULE.to_onnx(alpha=0.1, opset=opset)
    assert [(one.domain, one.version) for one in model.opset_import] == [("", opset)]
    assert model.ir_version == helper.find_min_ir_version_for(model.opset_import)
    rows = PROBS[200:].astype(np.float32)
    assert differences(RULE, rows, 0.1, opset=opset) == [0, 0, 0]
    logits = rs.calibrate(np.log(PROBS + 1e-3), LABELS, kind="logits", condition=rs.PerLabel())
    assert differences(logits, np.log(rows + 1e-3), 0.1, opset=opset) == [0, 0, 0]


def rows_and_rule(kind):
    rows = PROBS[200:].astype(np.float32)
    rows = rows if kind == "probs" else np.log(rows + np.float32(0.01))
    return rows, rs.calibrate(rows, LABELS[200:], kind=kind)


@pytest.mark.parametrize("kind", ["probs", "logits"])
def test_no_row_one_row_and_a_row_in_any_batch(kind):
    rows, rule = rows_and_rule(kind)
    session = session_of(rule.to_onnx(alpha=0.1))
    whole = session.run(None, {kind: rows})
    for row in range(len(rows)):
        alone = session.run(None, {kind: rows[row : row + 1]})
        assert all((ours[row] == theirs[0]).all() for ours, theirs in zip(whole, alone, strict=True))
    assert [output.shape for output in session.run(None, {kind: rows[:0]})] == [(0, 4), (0,), (0, 4)]


@pytest.mark.parametrize(
    "score", [rs.Seen(rs.Rank(), [0, 1], 4), rs.Recalibrated(), rs.Tempered(rs.Thr(), 2.0)], ids=repr
)
@pytest.mark.parametrize("condition", [rs.PerLabel(), rs.PerLabelAndGroup()], ids=repr)
def test_no_row_with_other_scores(score, condition):
    groups = {"groups": np.resize(["a", "b"], len(PROBS))} if condition.needs_groups else {}
    rule = rs.calibrate(PROBS, LABELS, method=score, condition=condition, **groups)
    feed = {"probs": PROBS[:0].astype(np.float32)} | {name: np.zeros(0, dtype=np.int64) for name in groups}
    found = session_of(rule.to_onnx(alpha=0.1, empty="top")).run(None, feed)
    assert [output.shape for output in found] == [(0, 4), (0,), (0, 4)]


def test_no_row_of_marginals():
    truths = np.eye(4, dtype=bool)[LABELS]
    rule = rs.calibrate(PROBS, truths, method=rs.Marginals(), kind="marginals", target="recall")
    found = session_of(rule.to_onnx(alpha=0.1)).run(None, {"marginals": PROBS[:0].astype(np.float32)})
    assert [output.shape for output in found] == [(0, 4), (0,), (0, 4)]


@pytest.mark.parametrize("kind", ["probs", "logits"])
def test_a_row_of_nan_does_not_disturb_the_others(kind):
    rows, rule = rows_and_rule(kind)
    session = session_of(rule.to_onnx(alpha=0.1))
    damaged = rows.copy()
    damaged[3] = np.nan
    damaged[5, 2] = np.inf
    others = np.setdiff1d(np.arange(len(rows)), [3, 5])
    for ours, theirs in zip(session.run(None, {kind: damaged}), expected(rule, rows, 0.1), strict=True):
        assert (ours[others] == theirs[others]).all()


def test_all_numbers_below_zero_are_unknown_groups_and_too_large_ones_fail():
    groups = np.resize(["a", "b"], len(PROBS))
    rule = rs.calibrate(PROBS, LABELS, condition=rs.PerGroup(), groups=groups)
    session = session_of(rule.to_onnx(alpha=0.1, dtype="float64"))
    for number in (-1, -2, -9):
        _, sizes, _ = session.run(None, {"probs": PROBS[:2], "groups": np.array([0, number])})
        assert sizes[1] == 4
        assert sizes[0] == rule.predict(PROBS[:1], 0.1, groups=["a"]).sizes[0]
    with pytest.raises(Exception, match="out of data bounds"):
        session.run(None, {"probs": PROBS[:1], "groups": np.array([3])})


def network(output="logits", n_inputs=5, opset=18):
    """A small network: one layer from five numbers to the logits of four classes."""
    rng = np.random.default_rng(0)
    arrays = {"weights": rng.normal(size=(n_inputs, 4)).astype(np.float32), "bias": np.zeros(4, dtype=np.float32)}
    nodes = [
        helper.make_node("MatMul", ["x", "weights"], ["product"]),
        helper.make_node("Add", ["product", "bias"], [output]),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", n_inputs])
    y = helper.make_tensor_value_info(output, TensorProto.FLOAT, ["n", 4])
    constants = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    model = helper.make_model(
        helper.make_graph(nodes, "net", [x], [y], constants), opset_imports=[helper.make_opsetid("", opset)]
    )
    model.ir_version = 8
    return model


@pytest.mark.parametrize("output", ["logits", "scores"])
def test_a_rule_behind_a_network_in_one_model(output):
    rng = np.random.default_rng(1)
    inputs = rng.normal(size=(300, 5)).astype(np.float32)
    net = network(output)
    logits = session_of(net).run([output], {"x": inputs})[0]
    labels = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    rule = rs.calibrate(logits[:150], labels[:150], kind="logits")
    both = compose.merge_models(
        net, rule.to_onnx(alpha=0.1), io_map=[(output, "logits")], outputs=[output, "mask", "sizes", "codes"]
    )
    onnx.checker.check_model(both, full_check=True)
    for optimised in (True, False):
        given, *found = session_of(both, optimised=optimised).run([output, "mask", "sizes", "codes"], {"x": inputs})
        for ours, theirs in zip(found, expected(rule, given, 0.1), strict=True):
            assert (ours == theirs).all()
    assert metadata(both)["alpha"] == "0.1"


@dataclass(frozen=True)
class Own:
    features = ("prob",)

    def keys(self, cells):
        return (-cells.prob,)


class Inherited(rs.Thr):
    pass


@pytest.mark.parametrize(
    ("score", "refusal"),
    [
        (rs.Aps(), ScoreError.draws_in_graph(rs.Aps())),
        (rs.Raps(), ScoreError.draws_in_graph(rs.Raps())),
        (rs.TieBreak(rs.Rank()), ScoreError.draws_in_graph(rs.TieBreak(rs.Rank()))),
        (rs.Chosen(rs.Saps(), "why"), ScoreError.draws_in_graph(rs.Chosen(rs.Saps(), "why"))),
        (Own(), ScoreError.no_graph(Own())),
        (rs.Chosen(Own(), "why"), ScoreError.no_graph(Own())),
        (Inherited(), ScoreError.no_graph(Inherited())),
        (rs.Entropy(), ScoreError.no_graph(rs.Entropy())),
    ],
    ids=repr,
)
def test_scores_without_a_graph_are_refused(score, refusal, tmp_path):
    rule = rs.calibrate(PROBS, LABELS, method=score)
    with refused(refusal):
        rule.to_onnx(tmp_path / "rule.onnx", alpha=0.1)
    assert list(tmp_path.iterdir()) == []


def test_other_refusals(tmp_path):
    weighted = rs.calibrate(PROBS, LABELS, weights=np.ones(len(PROBS)))
    with refused(RuleError.weights_in_graph()):
        weighted.to_onnx(alpha=0.1)
    for name, value, known in (("dtype", "float16", ("float32", "float64")), ("empty", "no", ("allow", "top"))):
        with refused(RuleError.option(name, value, known)):
            RULE.to_onnx(alpha=0.1, **{name: value})
    for opset in (17, 99, "18", True):
        with refused(RuleError.option("opset", opset, tuple(range(18, 26)))):
            RULE.to_onnx(alpha=0.1, opset=opset)
    with refused(like(FileError, expected="be writable")):
        RULE.to_onnx(tmp_path / "no" / "rule.onnx", alpha=0.1)
    truths = np.eye(4, dtype=bool)[LABELS]
    certain = rs.calibrate(PROBS, truths, target=rs.CertainLabels(), kind="marginals")
    with refused(RuleError.top_into_empty(rs.CertainLabels())):
        certain.to_onnx(alpha=0.1, empty="top")


def test_a_rule_from_a_file_is_exported_alike(tmp_path):
    RULE.save(tmp_path / "rule.rankset")
    assert rs.load(tmp_path / "rule.rankset").to_onnx(alpha=0.1) == RULE.to_onnx(alpha=0.1)


def test_rules_with_absent_labels():
    labels = [rs.ABSENT if row % 20 == 0 else label for row, label in enumerate(LABELS.tolist())]
    rule = rs.calibrate(PROBS, labels)
    assert_same(rule, PROBS, 0.1)
    assert metadata(rule.to_onnx(alpha=0.1))["proven"] is None
