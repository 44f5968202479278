"""``auto``, ``compare`` and ``choose`` on the batches of a loader."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, overload

from rankset.core.alpha import Alpha
from rankset.errors import KindError
from rankset.evaluation.auto import auto as auto_rows
from rankset.evaluation.choose import choose as choose_rows
from rankset.evaluation.compare import compare as compare_rows
from rankset.evaluation.comparison import Comparison
from rankset.evaluation.comparisons import Comparisons
from rankset.evaluation.trial import Alphas
from rankset.inputs.matrix import Kind
from rankset.inputs.vocabulary import in_order
from rankset.integrations.torch.batches import BatchReader, Forward, Where
from rankset.integrations.torch.collect import collect
from rankset.rules.rule import Rule
from rankset.scores import Score
from rankset.targets import OneLabel, checked_target
from rankset.targets.base import has_several_labels


def auto(
    model: Callable[..., Any],
    loader: Iterable[Any],
    alpha: Alpha = 0.1,
    *,
    kind: Kind = "logits",
    classes: Iterable[object] | None = None,
    forward: Forward | None = None,
    labels: Where | None = None,
    groups: Where | None = None,
    show_progress: bool = True,
    **options: Any,
) -> Rule:
    """Return a rule whose sets are small at ``alpha``, as ``rankset.auto`` does for all outputs of a model.

    Some rows are used to fit and choose a score, the others to calibrate it. The outputs of all batches are in memory
    at the same time.

    Parameters
    ----------
    model, loader, kind, classes, forward, labels, groups, show_progress
        As in ``rankset.torch.calibrate``.
    alpha : float, str or Fraction, default 0.1
        The alpha for which sets should be small.
    **options
        Other arguments of ``rankset.auto``, such as ``condition``, ``share``, ``seed`` and ``target``.

    Returns
    -------
    Rule
        The calibrated rule. Print it to see which score was chosen and why.

    Raises
    ------
    InputError
        If there are no rows.
    KindError
        If the model, the loader or a batch cannot be used. A note in the error names the batch.

    Examples
    --------
    >>> import rankset as rs
    >>> import torch
    >>> logits, labels = map(torch.tensor, rs.datasets.load("carer"))
    >>> rows = torch.utils.data.TensorDataset(logits[:1000], labels[:1000])
    >>> rs.torch.auto(torch.nn.Identity(), torch.utils.data.DataLoader(rows, batch_size=64), alpha=0.1).n
    799
    """
    reader = BatchReader(model, kind, forward, labels, groups, None)
    return _ask(auto_rows, "fitting", reader, loader, classes, show_progress, alpha=alpha, **options)


@overload
def compare(
    model: Callable[..., Any],
    loader: Iterable[Any],
    alpha: Alpha = 0.1,
    *,
    kind: Kind = "logits",
    classes: Iterable[object] | None = None,
    forward: Forward | None = None,
    labels: Where | None = None,
    groups: Where | None = None,
    ids: Where | None = None,
    show_progress: bool = True,
    **options: Any,
) -> Comparison: ...
@overload
def compare(
    model: Callable[..., Any],
    loader: Iterable[Any],
    alpha: Alphas,
    *,
    kind: Kind = "logits",
    classes: Iterable[object] | None = None,
    forward: Forward | None = None,
    labels: Where | None = None,
    groups: Where | None = None,
    ids: Where | None = None,
    show_progress: bool = True,
    **options: Any,
) -> Comparisons: ...
def compare(
    model: Callable[..., Any],
    loader: Iterable[Any],
    alpha: Alpha | Alphas = 0.1,
    *,
    kind: Kind = "logits",
    classes: Iterable[object] | None = None,
    forward: Forward | None = None,
    labels: Where | None = None,
    groups: Where | None = None,
    ids: Where | None = None,
    show_progress: bool = True,
    **options: Any,
) -> Comparison | Comparisons:
    """Compare several scores on the same random splits of the rows, as ``rankset.compare`` does.

    The outputs of all batches are in memory at the same time.

    Parameters
    ----------
    model, loader, kind, classes, forward, labels, groups, ids, show_progress
        As in ``rankset.torch.calibrate``.
    alpha : float, str or Fraction, or a list of several, default 0.1
        Largest allowed probability that a set does not contain the true label.
    **options
        Other arguments of ``rankset.compare``, such as ``scores``, ``repeats`` and ``seed``.

    Returns
    -------
    Comparison
        All metrics for every score.
    Comparisons
        If ``alpha`` is a list: one ``Comparison`` per alpha, on the same splits.

    Raises
    ------
    InputError
        If there are fewer than two rows.
    KindError
        If the model, the loader or a batch cannot be used. A note in the error names the batch.

    Examples
    --------
    >>> import rankset as rs
    >>> import torch
    >>> logits, labels = map(torch.tensor, rs.datasets.load("carer"))
    >>> rows = torch.utils.data.TensorDataset(logits[:1000], labels[:1000])
    >>> loader = torch.utils.data.DataLoader(rows, batch_size=64)
    >>> rs.torch.compare(torch.nn.Identity(), loader, alpha=0.05, scores=["aps", "thr"]).smallest
    Thr()
    """
    reader = BatchReader(model, kind, forward, labels, groups, ids)
    answer: Comparison | Comparisons = _ask(
        compare_rows, "comparing", reader, loader, classes, show_progress, alpha=alpha, **options
    )
    return answer


def choose(
    candidates: Iterable[Score | str],
    model: Callable[..., Any],
    loader: Iterable[Any],
    alpha: Alpha | Alphas = 0.1,
    *,
    kind: Kind = "logits",
    classes: Iterable[object] | None = None,
    forward: Forward | None = None,
    labels: Where | None = None,
    groups: Where | None = None,
    ids: Where | None = None,
    show_progress: bool = True,
    **options: Any,
) -> Score:
    """Return the best of several scores, as ``rankset.choose`` does. Calibrate it on other rows.

    The outputs of all batches are in memory at the same time.

    Parameters
    ----------
    candidates : iterable of Score or str
        Scores to choose from, or their names.
    model, loader, kind, classes, forward, labels, groups, ids, show_progress
        As in ``rankset.torch.calibrate``.
    alpha : float, str or Fraction, or a list of several, default 0.1
        Largest allowed probability that a set does not contain the true label. With a list, the mean of the objective
        over all of them is minimised.
    **options
        Other arguments of ``rankset.choose``, such as ``objective``, ``repeats`` and ``seed``.

    Returns
    -------
    Score
        One of the candidates.

    Raises
    ------
    InputError
        If there are fewer than two rows.
    KindError
        If the model, the loader or a batch cannot be used. A note in the error names the batch.

    Examples
    --------
    >>> import rankset as rs
    >>> import torch
    >>> logits, labels = map(torch.tensor, rs.datasets.load("carer"))
    >>> rows = torch.utils.data.TensorDataset(logits[:1000], labels[:1000])
    >>> loader = torch.utils.data.DataLoader(rows, batch_size=64)
    >>> rs.torch.choose(["aps", "thr"], torch.nn.Identity(), loader, alpha=0.05)
    Thr()
    """
    reader = BatchReader(model, kind, forward, labels, groups, ids)
    return _ask(
        choose_rows, "choosing", reader, loader, classes, show_progress, candidates=candidates, alpha=alpha, **options
    )


def _ask(
    function: Callable[..., Any],
    what: str,
    reader: BatchReader,
    loader: Iterable[Any],
    classes: Iterable[object] | None,
    show_progress: bool,  # noqa: FBT001
    **arguments: Any,
) -> Any:
    """Call a function of rankset with all outputs of a model, their labels, and groups and ids if it takes them."""
    known = inspect.signature(function).parameters
    for name, where in (("groups", reader.groups), ("ids", reader.ids)):
        if where is not None and name not in known:
            raise KindError.argument(name, f"None, because rankset.{function.__name__} does not use {name}", where)
    names = None if classes is None else in_order(classes)
    several = has_several_labels(checked_target(arguments.get("target", OneLabel())))
    rows = collect(reader, loader, names, what, several=several, show_progress=show_progress)
    return function(**rows, kind=reader.kind, **arguments)
