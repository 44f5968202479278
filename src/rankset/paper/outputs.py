"""``Outputs``: model outputs and labels that the experiment of the paper is run on, of the package or of a user."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankset.datasets import DATASETS, load
from rankset.errors import InputError, KindError, LabelError, RuleError, ScoreError
from rankset.inputs.matrix import Kind
from rankset.inputs.prepare import prepare
from rankset.inputs.ragged import Ragged
from rankset.paper.experiment import METHODS

AS_PUBLISHED = {"marketing": "marketing²", "medicine": "medicine²", "relations": "relations²"}
"""Data sets whose probabilities went through softmax once more in the published run, and the names of these rows."""


@dataclass(frozen=True, eq=False, repr=False)
class Outputs:
    """Model outputs and labels for ``study``: one row of its tables. Make one with ``Outputs.of``.

    Attributes
    ----------
    name
        Name of the row in tables and figures.
    values
        Array (n, K) of probabilities or logits.
    labels
        Array (n,) with the column number of the true label of each row.
    kind
        The type of values, "probs" or "logits".
    title, model
        Longer descriptions. Empty for your own outputs.
    own
        Whether these are your own outputs, not a data set of the paper.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.paper.Outputs.of("mine", probs, labels)
    Outputs('mine', 260 rows, 4 classes, kind='probs')
    """

    name: str
    values: NDArray[Any]
    labels: NDArray[np.int64]
    kind: Kind
    title: str = ""
    model: str = ""
    own: bool = True

    def __repr__(self) -> str:
        n, width = self.values.shape
        return f"Outputs({self.name!r}, {n:,} rows, {width:,} classes, kind={self.kind!r})"

    @classmethod
    def of(
        cls,
        name: str,
        probs: ArrayLike,
        labels: ArrayLike,
        *,
        kind: Kind = "probs",
        classes: Iterable[object] | None = None,
    ) -> Outputs:
        """Return your own model outputs, checked, for ``study``.

        Parameters
        ----------
        name : str
            Name of the row in tables and figures. It must not be the name of a data set of the paper.
        probs : array-like (n, K)
            Model outputs for rows that were not used to train the model.
        labels : array-like (n,)
            True labels of these rows: class names, or column numbers.
        kind : {"probs", "logits", "binary"}, default "probs"
            The type of values in ``probs``.
        classes : iterable, optional
            Class names in column order.

        Returns
        -------
        Outputs

        Raises
        ------
        KindError
            If the rows have different candidates (``Ragged``).
        ScoreError
            If ``kind`` is "decision", because the methods of the paper need probabilities.
        InputError
            If there are fewer than two rows, or if values are invalid, for example negative probabilities.
        LabelError
            If a label is not one of the classes.

        Examples
        --------
        >>> import numpy as np, rankset as rs
        >>> rs.paper.Outputs.of("mine", np.eye(3).repeat(20, axis=0), list("abc") * 20, classes=list("abc"))
        Outputs('mine', 60 rows, 3 classes, kind='probs')
        """
        if not isinstance(name, str) or not name.strip():
            raise KindError.argument("name", "a string that is not empty", name)
        if isinstance(probs, Ragged):
            raise KindError.argument(
                "probs", "a matrix with the same candidates in all rows for this experiment", probs
            )
        if kind == "decision":
            raise ScoreError.needs_probabilities(METHODS["APS"])
        data = prepare(probs, labels, kind=kind, classes=classes).with_checked_values()
        if data.labels is None:
            raise LabelError.not_one_dimensional("labels", "NoneType")
        if len(data) < 2:
            raise InputError.too_few_rows_to_compare(len(data))
        if data.kind == "logits":
            return cls(name, np.asarray(data.matrix), data.labels, "logits")
        return cls(name, data.rows(slice(0, len(data))), data.labels, "probs")

    @classmethod
    def of_dataset(cls, name: str) -> Outputs:
        """Return a data set of the paper.

        Parameters
        ----------
        name : str
            Name of the data set, a key of ``rankset.datasets.DATASETS``.

        Returns
        -------
        Outputs

        Raises
        ------
        RuleError
            If there is no data set with this name.

        Examples
        --------
        >>> import rankset as rs
        >>> rs.paper.Outputs.of_dataset("carer")
        Outputs('carer', 2,000 rows, 6 classes, kind='logits')
        """
        if name not in DATASETS:
            raise RuleError.option("row", name, tuple(DATASETS))
        about = DATASETS[name]
        return cls(name, *load(name), about.kind, about.title, about.model, own=False)


def outputs_of_rows(rows: Iterable[str | Outputs] | None) -> list[Outputs]:
    """Return the outputs of all ``rows``, each with a name of its own; None means all data sets of the paper."""
    listed = list(DATASETS if rows is None else rows)
    found = [one if isinstance(one, Outputs) else Outputs.of_dataset(one) for one in listed]
    taken = {*DATASETS, *AS_PUBLISHED.values()}
    for outputs in found:
        if outputs.own and outputs.name in taken:
            raise KindError.argument("name", "different from the names of all other rows and data sets", outputs.name)
        taken.add(outputs.name)
    return found
