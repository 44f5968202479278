"""Runs ONNX models of rules in onnxruntime, and compares their outputs with the sets of ``Rule.predict``."""

import warnings

import numpy as np
import onnx
import onnxruntime as ort

import rankset as rs

ALL_OFF = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
ALL_ON = ort.SessionOptions().graph_optimization_level


def session_of(model, *, optimised=True, threads=0):
    options = ort.SessionOptions()
    options.graph_optimization_level = ALL_ON if optimised else ALL_OFF
    options.intra_op_num_threads = threads
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def numbers_of(rule, groups):
    """The input ``groups``: the place of each group in the rule, -1 for unknown ones."""
    places = {name: place for place, name in enumerate(rule.groups.tolist())}
    return np.array([places.get(group, -1) for group in groups], dtype=np.int64)


def outputs(rule, rows, alpha, groups=None, *, optimised=True, **options):
    """mask, sizes and codes of the exported rule, after the checks that every model must pass."""
    rows = np.asarray(rows)
    model = rule.to_onnx(alpha=alpha, dtype=str(rows.dtype), **options)
    onnx.checker.check_model(model, full_check=True)
    assert {node.domain for node in model.graph.node} == {""}
    feed = {rule.kind: rows} | ({} if groups is None else {"groups": numbers_of(rule, groups)})
    return session_of(model, optimised=optimised).run(["mask", "sizes", "codes"], feed)


def expected(rule, rows, alpha, groups=None, empty="allow", **options):
    """The same, from ``Rule.predict``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rs.RanksetWarning)
        sets = rule.predict(rows, alpha, empty=empty, **options, **({} if groups is None else {"groups": groups}))
    codes = np.full((len(rows), len(rule.classes)), -1, dtype=np.int64)
    codes[np.arange(len(rule.classes)) < sets.sizes[:, np.newaxis]] = sets.codes
    return [sets.mask, sets.sizes, codes]


def differences(rule, rows, alpha, groups=None, *, optimised=True, opset=18, **options):
    """How many entries of mask, sizes and codes differ."""
    found = outputs(rule, rows, alpha, groups, optimised=optimised, opset=opset, **options)
    wanted = expected(rule, rows, alpha, groups, **options)
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours.shape == theirs.shape
        assert ours.dtype == theirs.dtype
    return [int((ours != theirs).sum()) for ours, theirs in zip(found, wanted, strict=True)]


def assert_same(rule, rows, alpha, groups=None, **options):
    assert differences(rule, rows, alpha, groups, **options) == [0, 0, 0]
