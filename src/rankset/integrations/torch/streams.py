"""``follow``: a stream on the batches of a loader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rankset.errors import KindError
from rankset.integrations.torch.batches import BatchOutput, BatchReader, Forward, Where
from rankset.sets import PredictionSets
from rankset.streams.stream import Stream


def follow(
    stream: Stream,
    model: Callable[..., Any],
    loader: Iterable[Any],
    *,
    forward: Forward | None = None,
    labels: Where | None = None,
    groups: Where | None = None,
    ids: Where | None = None,
    show_progress: bool = True,
) -> Iterator[PredictionSets]:
    """Predict every batch of a loader with a stream, learn from its labels, and return its sets, batch by batch.

    Sets of a batch are predicted before its labels are looked at. If a batch has labels, the stream has learned from
    them when its sets are returned. If it has none, its rows wait: pass their labels to ``Stream.update`` later, by
    ``ids``. Nothing is done before you ask for the first sets, so use it in a loop.

    Parameters
    ----------
    stream : Stream
        The stream. It changes.
    model, loader, forward, labels, groups, ids, show_progress
        As in ``rankset.torch.calibrate``. The loader can be endless. Between two batches the model has the mode it had
        before, and gradients are recorded as before, so you can train it in the loop.

    Returns
    -------
    Iterator of PredictionSets
        The sets of each batch, in the order of the loader. Batches without rows give empty ``PredictionSets``.

    Raises
    ------
    KindError
        If the stream, the model, the loader or a batch cannot be used. A note in the error names the batch.
    LabelError
        If a label is no class. The rows of this batch then wait for their labels.
    RuleError
        If an id was used before.

    Examples
    --------
    >>> import rankset as rs
    >>> import torch
    >>> logits, labels = map(torch.tensor, rs.datasets.load("carer"))
    >>> rule = rs.calibrate(logits[:1000], labels[:1000], kind="logits")
    >>> stream = rs.Stream(rule, alpha=0.1)
    >>> rows = torch.utils.data.TensorDataset(logits[1000:], labels[1000:])
    >>> loader = torch.utils.data.DataLoader(rows, batch_size=64)
    >>> for sets in rs.torch.follow(stream, torch.nn.Identity(), loader):
    ...     assert len(sets) <= 64
    >>> stream.n_rows, stream.n_labels, round(stream.miss_rate, 2)
    (1000, 1000, 0.1)
    """
    if not isinstance(stream, Stream):
        raise KindError.argument("stream", "a Stream", stream)
    reader = BatchReader(model, stream.kind, forward, labels, groups, ids)

    def sets_of(output: BatchOutput) -> PredictionSets:
        sets = stream.predict(output.scores, groups=output.groups, ids=output.ids)
        if output.labels is not None:
            stream.update(output.named_labels(stream.classes), ids=output.ids)
        return sets

    return reader.each_apart(loader, sets_of, "following", show_progress=show_progress)
