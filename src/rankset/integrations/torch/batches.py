"""Batches of a loader: what the model returns for each, and its labels, groups, ids and weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankset import progress
from rankset.errors import KindError, Place, RanksetError, located, once
from rankset.inputs import huggingface, tensors
from rankset.inputs.matrix import Kind
from rankset.inputs.per_row import named_labels
from rankset.integrations.torch.modules import device_of, evaluation_mode, to_device

Forward = Callable[[Any, Any], Any]
Where = str | int | Callable[[Any], Any]
Result = TypeVar("Result")

LABELS = ("labels", "label")
"""Keys of labels in a mapping, unless ``labels=`` names another."""


@dataclass(frozen=True)
class BatchOutput:
    """Outputs of the model for one batch, and labels, groups, ids and weights of its rows (None if there are none)."""

    scores: Any
    labels: Any
    groups: Any
    ids: Any
    weights: Any = None

    @property
    def per_row(self) -> dict[str, Any]:
        """Groups, ids and weights, as arguments of ``calibrate`` and ``predict``."""
        return {"groups": self.groups, "ids": self.ids, "weights": self.weights}

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.scores) if hasattr(self.scores, "__len__") else 1

    def named_labels(self, classes: NDArray[Any] | None) -> Any:
        """Return the labels. Column numbers become class names if all class names are strings."""
        if self.labels is None:
            raise KindError.no_labels_in_batch()
        return named_labels(self.labels, classes)

    def several_labels(self, _classes: NDArray[Any] | None) -> Any:
        """Return the labels of rows that can have several: a 0/1 matrix, or lists."""
        if self.labels is None:
            raise KindError.no_labels_in_batch()
        return self.labels


@dataclass(frozen=True)
class BatchReader:
    """A model, how to call it, and where labels, groups, ids and weights are in a batch."""

    model: Callable[..., Any]
    kind: Kind
    forward: Forward | None
    labels: Where | None
    groups: Where | None
    ids: Where | None
    weights: Where | None = None

    def __post_init__(self) -> None:
        if not callable(self.model):
            raise KindError.argument("model", "a model that can be called on a batch", self.model)

    def each(
        self, loader: Iterable[Any], work: Callable[[BatchOutput], Result], what: str, *, show_progress: bool
    ) -> Iterator[Result]:
        """Yield the result of ``work`` for every batch; errors name the batch."""
        _check_loader(loader)
        with evaluation_mode(self.model), once():
            for number, batch in enumerate(progress.bar(loader, what, show=show_progress)):
                with located(Place(part=f"batch {number}")):
                    yield work(self._output(batch))

    def each_apart(
        self, loader: Iterable[Any], work: Callable[[BatchOutput], Result], what: str, *, show_progress: bool
    ) -> Iterator[Result]:
        """Return the same, where the model has its own mode again, and gradients, whenever a result is given out."""
        _check_loader(loader)

        def results() -> Iterator[Result]:
            for number, batch in enumerate(progress.bar(loader, what, show=show_progress)):
                with evaluation_mode(self.model), located(Place(part=f"batch {number}")):
                    result = work(self._output(batch))
                yield result

        return results()

    def _output(self, batch: Any) -> BatchOutput:
        labels = self._labels_of(batch)
        places = (self.groups, self.ids, self.weights)
        per_row = (None if where is None else _find(batch, where) for where in places)
        returned = self._call_model(to_device(batch, device_of(self.model)))
        return BatchOutput(self._scores(returned), labels, *per_row)

    def _call_model(self, batch: Any) -> Any:
        if self.forward is not None:
            return self.forward(self.model, batch)
        try:
            if isinstance(batch, Mapping):
                apart = {*LABELS, self.labels, self.groups, self.ids, self.weights}
                return self.model(**{name: value for name, value in batch.items() if name not in apart})
            return self.model(self._first_input(batch) if isinstance(batch, list | tuple) else batch)
        except TypeError as error:
            if not isinstance(error, RanksetError):
                error.add_note("If the model needs another call, pass forward=lambda model, batch: …")
            raise

    def _first_input(self, batch: Sequence[Any]) -> Any:
        """Return the first entry of a batch that is neither labels nor groups nor ids nor weights."""
        places = [where for where in (self.labels, self.groups, self.ids, self.weights) if isinstance(where, int)]
        inputs_at = [at for at in range(len(batch)) if at not in places and at - len(batch) not in places]
        if not inputs_at:
            raise KindError.batch("inputs", f"a {type(batch).__name__} of {len(batch)}")
        return batch[inputs_at[0]]

    def _labels_of(self, batch: Any) -> Any:
        """Return the labels of a batch; None if it has none."""
        if self.labels is not None:
            return _find(batch, self.labels)
        if isinstance(batch, Mapping):
            return next((batch[name] for name in LABELS if name in batch), None)
        return batch[1] if isinstance(batch, list | tuple) and len(batch) > 1 else None

    def _scores(self, returned: Any) -> Any:
        """Return the matrix in what the model returned; a single logit d becomes two columns (0, d)."""
        scores = huggingface.unwrap(returned)
        if self.kind != "logits" or not hasattr(scores, "detach") or scores.ndim != 2 or scores.shape[1] != 1:
            return scores
        values = np.asarray(tensors.unwrap(scores))
        return np.hstack((np.zeros_like(values), values))


def _check_loader(loader: object) -> None:
    """Raise an error if this is no iterable of batches."""
    if not isinstance(loader, Iterable) or hasattr(loader, "detach"):
        raise KindError.argument("loader", "an iterable of batches, such as a DataLoader", type(loader).__name__)


def _find(batch: Any, where: Where) -> Any:
    """Return the entry of a batch at a key or position, or what a function finds in it."""
    if callable(where):
        return where(batch)
    try:
        return batch[where]
    except (KeyError, IndexError, TypeError):
        has = f"keys {list(batch)}" if isinstance(batch, Mapping) else f"a {type(batch).__name__}"
        raise KindError.batch(where, has) from None
