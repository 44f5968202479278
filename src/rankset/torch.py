"""For PyTorch: a model and a loader of batches in, a rule or sets out; only one batch of logits is held at a time.

    rule = rankset.torch.calibrate(model, held_out_loader)
    sets = rankset.torch.predict(rule, model, loader, alpha=0.1)

A batch is a tuple (inputs, labels), or a mapping with "labels" whose other entries go into the model by name; without
labels it may be the inputs alone. The model returns logits, or a tuple that begins with them, or an object that has
them as ``.logits``. Where that does not fit, ``forward`` is a function of model and batch that returns them, and
``labels``, ``groups`` and ``ids`` tell where in a batch those stand: a key, a place, or a function of the batch.

The model runs in evaluation mode, without gradients, on the device of its parameters, and every part of it is put back
into the mode it was in, also after an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankset import conformal, metrics, progress, tensors
from rankset.conditions import Condition, Marginal
from rankset.conformal import Rule
from rankset.errors import InputError, KindError, RanksetError
from rankset.inputs import Kind
from rankset.level import Alpha
from rankset.metrics import Evaluation
from rankset.scores import Rank, Score
from rankset.selection import Empty
from rankset.sets import PredictionSets

Forward = Callable[[Any, Any], Any]
Where = str | int | Callable[[Any], Any]

LABELS = ("labels", "label")


def calibrate(
    model: Callable[..., Any],
    loader: Iterable[Any],
    *,
    score: Score = Rank(),  # noqa: B008
    condition: Condition = Marginal(),  # noqa: B008
    kind: Kind = "logits",
    classes: Iterable[object] | None = None,
    seed: int = 0,
    forward: Forward | None = None,
    labels: Where | None = None,
    groups: Where | None = None,
    ids: Where | None = None,
    show_progress: bool = True,
) -> Rule:
    """The rule that ``rankset.calibrate`` makes of the model's logits on all batches of ``loader``, bit for bit."""
    names = None if classes is None else list(classes)
    reader = Reader(model, forward, labels, groups, ids)

    def rule_of(answer: Answer) -> Rule:
        if answer.labels is None:
            raise KindError.no_labels_in_batch()
        return conformal.calibrate(
            answer.scores,
            answer.labels,
            score=score,
            condition=condition,
            kind=kind,
            classes=names,
            groups=answer.groups,
            ids=answer.ids,
            seed=seed,
        )

    rules = list(reader.each(loader, rule_of, "calibrating", show_progress=show_progress))
    if not rules:
        raise InputError.no_rows()
    return rules[0].merge(*rules[1:])


def predict(
    rule: Rule,
    model: Callable[..., Any],
    loader: Iterable[Any],
    alpha: Alpha,
    *,
    empty: Empty = "allow",
    forward: Forward | None = None,
    labels: Where | None = None,
    groups: Where | None = None,
    ids: Where | None = None,
    show_progress: bool = True,
) -> PredictionSets:
    """The sets of all rows of ``loader``, as ``rule.predict`` gives them; labels in the batches are left alone."""
    reader = Reader(model, forward, labels, groups, ids)

    def sets_of(answer: Answer) -> PredictionSets:
        return rule.predict(answer.scores, alpha, groups=answer.groups, ids=answer.ids, empty=empty)

    parts = list(reader.each(loader, sets_of, "predicting", show_progress=show_progress))
    return PredictionSets.concat(parts or [rule.predict(np.empty((0, len(rule.classes))), alpha, empty=empty)])


def evaluate(
    rule: Rule,
    model: Callable[..., Any],
    loader: Iterable[Any],
    alpha: Alpha,
    *,
    empty: Empty = "allow",
    confidence: float = 0.9,
    forward: Forward | None = None,
    labels: Where | None = None,
    groups: Where | None = None,
    ids: Where | None = None,
    show_progress: bool = True,
) -> Evaluation:
    """How the sets of all rows of ``loader`` do against the labels in its batches, as ``rankset.evaluate`` tells."""
    reader = Reader(model, forward, labels, groups, ids)

    def scored(answer: Answer) -> tuple[PredictionSets, Any]:
        if answer.labels is None:
            raise KindError.no_labels_in_batch()
        sets = rule.predict(answer.scores, alpha, groups=answer.groups, ids=answer.ids, empty=empty)
        return sets, np.asarray(tensors.opened(answer.labels))

    parts = list(reader.each(loader, scored, "evaluating", show_progress=show_progress))
    if not parts:
        raise InputError.no_rows_to_evaluate()
    sets, truth = zip(*parts, strict=True)
    return metrics.evaluate(PredictionSets.concat(sets), np.concatenate(truth), confidence=confidence)


@dataclass(frozen=True)
class Answer:
    """What the model says of one batch, and what the batch says of its rows."""

    scores: Any
    labels: Any
    groups: Any
    ids: Any


@dataclass(frozen=True)
class Reader:
    """A model, and where in a batch things stand."""

    model: Callable[..., Any]
    forward: Forward | None
    labels: Where | None
    groups: Where | None
    ids: Where | None

    def each(
        self, loader: Iterable[Any], work: Callable[[Answer], Any], what: str, *, show_progress: bool
    ) -> Iterator[Any]:
        """``work`` on the model's answer to every batch, one after the other."""
        with _quiet(self.model):
            for number, batch in enumerate(progress.shown(loader, what, show=show_progress)):
                try:
                    yield work(self._answer(batch))
                except RanksetError as error:
                    error.add_note(f"This is of batch {number}; rows are counted within it.")
                    raise

    def _answer(self, batch: Any) -> Answer:
        labels = self._labels_of(batch)
        groups, ids = (None if where is None else _at(batch, where) for where in (self.groups, self.ids))
        return Answer(_scores(self._forward(batch)), labels, groups, ids)

    def _forward(self, batch: Any) -> Any:
        batch = _moved(batch, _device(self.model))
        if self.forward is not None:
            return self.forward(self.model, batch)
        if isinstance(batch, Mapping):
            apart = {*LABELS, self.labels, self.groups, self.ids}
            return self.model(**{name: value for name, value in batch.items() if name not in apart})
        return self.model(batch[0] if isinstance(batch, list | tuple) else batch)

    def _labels_of(self, batch: Any) -> Any:
        """The labels of a batch; None where it has none."""
        if self.labels is not None:
            return _at(batch, self.labels)
        if isinstance(batch, Mapping):
            return next((batch[name] for name in LABELS if name in batch), None)
        return batch[1] if isinstance(batch, list | tuple) and len(batch) > 1 else None


def _at(batch: Any, where: Where) -> Any:
    if callable(where):
        return where(batch)
    try:
        return batch[where]
    except (KeyError, IndexError, TypeError):
        has = f"keys {list(batch)}" if isinstance(batch, Mapping) else f"a {type(batch).__name__}"
        raise KindError.batch(where, has) from None


def _scores(output: Any) -> Any:
    output = getattr(output, "logits", output)
    return output[0] if isinstance(output, list | tuple) else output


def _device(model: Any) -> Any:
    """Where the model's parameters are; None if it has none."""
    parameters = getattr(model, "parameters", None)
    first = None if parameters is None else next(iter(parameters()), None)
    return None if first is None else first.device


def _moved(values: Any, device: Any) -> Any:
    """Tensors on the device, also those inside mappings, lists and tuples; other things as they are."""
    if device is None:
        return values
    if isinstance(values, Mapping):
        return {name: _moved(value, device) for name, value in values.items()}
    if isinstance(values, list | tuple) and not hasattr(values, "_fields"):
        return type(values)(_moved(value, device) for value in values)
    return values.to(device) if hasattr(values, "detach") else values


@contextmanager
def _quiet(model: Any) -> Iterator[None]:
    """Evaluation mode without gradients; afterwards every module is in the mode it was in."""
    import torch

    modules = list(model.modules()) if isinstance(model, torch.nn.Module) else []
    modes = [module.training for module in modules]
    try:
        if modules:
            model.eval()
        with torch.no_grad():
            yield
    finally:
        for module, mode in zip(modules, modes, strict=True):
            module.training = mode
