"""Rules of a PyTorch model whose rows can have several labels; skipped where torch is not installed."""

import numpy as np
import pytest

import rankset as rs
from rankset.errors import LabelError, RuleError
from refusals import refused

torch = pytest.importorskip("torch")

GENERATOR = torch.Generator().manual_seed(0)
LOGITS = torch.randn(150, 5, generator=GENERATOR)
MARKS = (torch.rand(150, 5, generator=GENERATOR) < LOGITS.sigmoid() / 2).float()
MARKS[:32] = 0  # no row of the first batch has a label
CLASSES = list("abcde")
MODEL = torch.nn.Identity()
ASKED = {"kind": "marginal_logits", "show_progress": False}


def loader(marks=MARKS):
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(LOGITS, marks), batch_size=32)


def lists():
    """Batches whose labels are lists of names."""
    for inputs, marks in loader():
        yield inputs, [[CLASSES[k] for k in np.flatnonzero(row)] for row in marks.numpy()]


@pytest.mark.parametrize("target", ["recall", "all", rs.AnyLabel(), "missed:1"], ids=str)
def test_the_rule_of_all_outputs(target):
    wanted = rs.calibrate(LOGITS.numpy(), MARKS.numpy(), target=target, kind="marginal_logits", classes=CLASSES)
    for batches in (loader(), loader(MARKS.bool()), loader(MARKS.long()), lists()):
        rule = rs.torch.calibrate(MODEL, batches, target=target, classes=CLASSES, **ASKED)
        assert rule == wanted
    sets = rs.torch.predict(rule, MODEL, loader(), 0.2, confidence=0.9, show_progress=False)
    assert sets == wanted.predict(LOGITS.numpy(), 0.2, confidence=0.9)
    for batches in (loader(), lists()):
        found = rs.torch.evaluate(rule, MODEL, batches, 0.2, show_progress=False)
        assert repr(found) == repr(rs.evaluate(wanted.predict(LOGITS.numpy(), 0.2), MARKS.numpy()))


def test_without_class_names_and_with_labels_by_key():
    batches = [{"x": inputs, "labels": marks} for inputs, marks in loader()]
    rule = rs.torch.calibrate(MODEL, batches, target="all", forward=lambda model, batch: model(batch["x"]), **ASKED)
    assert rule == rs.calibrate(LOGITS.numpy(), MARKS.numpy(), target="all", kind="marginal_logits")


def test_mistakes():
    with pytest.raises(LabelError, match=r"target=rankset\.Recall") as caught:
        rs.torch.calibrate(MODEL, loader(), **ASKED)
    assert caught.value.where.part == "batch 0"
    wrong = MARKS.clone()
    wrong[40, 3] = 2
    with refused(LabelError.not_indicator("labels", 8, 3, 2.0), part="batch 1"):
        rs.torch.calibrate(MODEL, loader(wrong), target="recall", **ASKED)
    with refused(LabelError.no_labels_at_all(150)):
        rs.torch.calibrate(MODEL, loader(torch.zeros(150, 5)), target="recall", **ASKED)
    with refused(RuleError.option("target", "most", ("one", "recall", "all", "any", "certain", "missed:1"))):
        rs.torch.auto(MODEL, loader(), target="most", **ASKED)


@pytest.mark.parametrize("target", ["recall", "all"])
def test_auto_compare_and_choose_use_all_outputs(target):
    probs, labels = rs.datasets.load("goemotions")
    many = torch.utils.data.TensorDataset(torch.tensor(probs[:2000]), torch.tensor(labels[:2000]))
    batches = torch.utils.data.DataLoader(many, batch_size=100)
    same = {"target": target, "kind": "marginals"}
    wanted = rs.auto(probs[:2000], labels[:2000], 0.1, **same)
    assert rs.torch.auto(MODEL, batches, 0.1, show_progress=False, **same) == wanted
    assert wanted.n + wanted.set_aside < 2000
    rule = rs.torch.calibrate(MODEL, batches, method="auto", alpha=0.1, show_progress=False, **same)
    assert rule == wanted
    some = {"scores": ["thr", "rank"], "repeats": 2, **same}
    found = rs.torch.compare(MODEL, batches, 0.1, show_progress=False, **some)
    assert repr(found) == repr(rs.compare(probs[:2000], labels[:2000], 0.1, **some))
    best = rs.torch.choose(["rank", "thr"], MODEL, batches, 0.1, show_progress=False, **same)
    assert best == rs.choose(["rank", "thr"], probs[:2000], labels[:2000], 0.1, **same)


def test_labels_of_a_batch_are_checked():
    wrong = MARKS.clone()
    wrong[40, 3] = 2
    with refused(LabelError.not_indicator("labels", 8, 3, 2.0), part="batch 1"):
        rs.torch.auto(MODEL, loader(wrong), target="recall", **ASKED)
