"""For PyTorch: a model and a loader of batches in, a rule or sets out; only one batch of logits is held at a time.

    rule = rankset.torch.calibrate(model, held_out_loader)
    sets = rankset.torch.predict(rule, model, loader, alpha=0.1)

A batch is a tuple (inputs, labels), or a mapping with "labels" whose other entries go into the model by name; without
labels it may be the inputs alone. The model returns logits, or a tuple that begins with them, or an object that has
them as ``.logits``. Where that does not fit, ``forward`` is a function of model and batch that returns them, and
``labels``, ``groups`` and ``ids`` tell where in a batch those stand: a key, a place, or a function of the batch. With
``classes=`` labels may be names or column numbers. ``show_progress`` counts batches on a terminal, by tqdm if it is
installed.

The model runs in evaluation mode, without gradients, on the device of its parameters, and every part of it is put back
into the mode it was in, also after an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankset import progress
from rankset.conditions import Condition, Marginal
from rankset.core.alpha import Alpha
from rankset.errors import InputError, KindError, Place, RanksetError, located, once
from rankset.evaluation import metrics
from rankset.evaluation.metrics import Evaluation
from rankset.inputs import huggingface, tensors
from rankset.inputs.matrix import Kind, label_codes, named_labels
from rankset.inputs.row_index import RowIndex
from rankset.inputs.vocabulary import class_names, in_order
from rankset.rules import rule
from rankset.rules.rule import Rule
from rankset.rules.select import Empty
from rankset.scores import Rank, Score
from rankset.sets import PredictionSets

Forward = Callable[[Any, Any], Any]
Where = str | int | Callable[[Any], Any]

LABELS = ("labels", "label")
Result = TypeVar("Result")


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
    names = None if classes is None else in_order(classes)
    reader = _Reader(model, kind, forward, labels, groups, ids)
    rules: list[Rule] = []

    def learn(answer: _Answer) -> None:
        if answer.n_rows == 0:
            return
        told = {"groups": answer.groups, "ids": answer.ids}
        if rules:
            rules.append(rules[0]._calibrate_like(answer.scores, answer.named_labels(rules[0].classes), **told))
            return
        known = None if names is None else class_names(names, len(names)).array
        options: dict[str, Any] = {"score": score, "condition": condition, "kind": kind, "seed": seed, **told}
        rules.append(rule.calibrate(answer.scores, answer.named_labels(known), classes=names, **options))

    for _ in reader.each(loader, learn, "calibrating", show_progress=show_progress):
        pass
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
    reader = _Reader(model, _checked(rule).kind, forward, labels, groups, ids)

    def sets_of(answer: _Answer) -> PredictionSets:
        return rule.predict(answer.scores, alpha, groups=answer.groups, ids=answer.ids, empty=empty)

    nothing = PredictionSets.from_mask(np.empty((0, len(rule.classes)), dtype=bool), rule.spec.classes.values, alpha)
    parts = list(reader.each(loader, sets_of, "predicting", show_progress=show_progress))
    return PredictionSets.concat(parts or [nothing])


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
    reader = _Reader(model, _checked(rule).kind, forward, labels, groups, ids)

    def scored(answer: _Answer) -> tuple[PredictionSets, NDArray[np.int64]]:
        sets = rule.predict(answer.scores, alpha, groups=answer.groups, ids=answer.ids, empty=empty)
        return sets, label_codes(answer.named_labels(rule.classes), sets.names, len(sets), RowIndex())

    parts = list(reader.each(loader, scored, "evaluating", show_progress=show_progress))
    if not parts:
        raise InputError.no_rows_to_evaluate()
    sets, codes = zip(*parts, strict=True)
    return metrics.evaluate(PredictionSets.concat(sets), rule.classes[np.concatenate(codes)], confidence=confidence)


@dataclass(frozen=True)
class _Answer:
    """What the model says of one batch, and what the batch says of its rows."""

    scores: Any
    labels: Any
    groups: Any
    ids: Any

    @property
    def n_rows(self) -> int:
        return len(self.scores) if hasattr(self.scores, "__len__") else 1

    def named_labels(self, classes: NDArray[Any] | None) -> Any:
        """The labels; column numbers, where all classes are texts, as the names they stand for."""
        if self.labels is None:
            raise KindError.no_labels_in_batch()
        return named_labels(self.labels, classes)


@dataclass(frozen=True)
class _Reader:
    """A model, and where in a batch things stand."""

    model: Callable[..., Any]
    kind: Kind
    forward: Forward | None
    labels: Where | None
    groups: Where | None
    ids: Where | None

    def __post_init__(self) -> None:
        if not callable(self.model):
            raise KindError.argument("model", "a model that can be called on a batch", self.model)

    def each(
        self, loader: Iterable[Any], work: Callable[[_Answer], Result], what: str, *, show_progress: bool
    ) -> Iterator[Result]:
        """``work`` on the model's answer to every batch, one after the other."""
        if not isinstance(loader, Iterable) or hasattr(loader, "detach"):
            raise KindError.argument("loader", "an iterable of batches, such as a DataLoader", type(loader).__name__)
        with _quiet(self.model), once():
            for number, batch in enumerate(progress.bar(loader, what, show=show_progress)):
                with located(Place(part=f"batch {number}")):
                    yield work(self._answer(batch))

    def _answer(self, batch: Any) -> _Answer:
        labels = self._labels_of(batch)
        groups, ids = (None if where is None else _at(batch, where) for where in (self.groups, self.ids))
        return _Answer(self._scores(self._forward(_moved(batch, _device(self.model)))), labels, groups, ids)

    def _forward(self, batch: Any) -> Any:
        if self.forward is not None:
            return self.forward(self.model, batch)
        try:
            if isinstance(batch, Mapping):
                apart = {*LABELS, self.labels, self.groups, self.ids}
                return self.model(**{name: value for name, value in batch.items() if name not in apart})
            return self.model(self._first_input(batch) if isinstance(batch, list | tuple) else batch)
        except TypeError as error:
            if not isinstance(error, RanksetError):
                error.add_note("Where the model is called in another way pass forward=lambda model, batch: …")
            raise

    def _first_input(self, batch: Sequence[Any]) -> Any:
        """The first thing in a batch that is neither labels nor groups nor ids."""
        places = [where for where in (self.labels, self.groups, self.ids) if isinstance(where, int)]
        inputs_at = [at for at in range(len(batch)) if at not in places and at - len(batch) not in places]
        if not inputs_at:
            raise KindError.batch("inputs", f"a {type(batch).__name__} of {len(batch)}")
        return batch[inputs_at[0]]

    def _labels_of(self, batch: Any) -> Any:
        """The labels of a batch; None where it has none."""
        if self.labels is not None:
            return _at(batch, self.labels)
        if isinstance(batch, Mapping):
            return next((batch[name] for name in LABELS if name in batch), None)
        return batch[1] if isinstance(batch, list | tuple) and len(batch) > 1 else None

    def _scores(self, output: Any) -> Any:
        """The matrix in what the model returned; a single logit d is that of the second of two classes, (0, d)."""
        scores = huggingface.unwrap(output)
        if self.kind != "logits" or not hasattr(scores, "detach") or scores.ndim != 2 or scores.shape[1] != 1:
            return scores
        values = np.asarray(tensors.unwrap(scores))
        return np.hstack((np.zeros_like(values), values))


def _checked(rule: object) -> Rule:
    if not isinstance(rule, Rule):
        raise KindError.argument("rule", "a Rule, as rankset.torch.calibrate returns it", rule)
    return rule


def _at(batch: Any, where: Where) -> Any:
    if callable(where):
        return where(batch)
    try:
        return batch[where]
    except (KeyError, IndexError, TypeError):
        has = f"keys {list(batch)}" if isinstance(batch, Mapping) else f"a {type(batch).__name__}"
        raise KindError.batch(where, has) from None


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
    if isinstance(values, list | tuple):
        moved = [_moved(value, device) for value in values]
        return type(values)(*moved) if hasattr(values, "_fields") else type(values)(moved)
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
