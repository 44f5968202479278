"""Rules as ONNX models: the methods ``to_onnx`` of ``Rule`` and ``LevelRule``."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankset.core.alpha import Alpha, exact_text
from rankset.core.alpha_argument import takes_alpha
from rankset.core.calibration import Thresholds
from rankset.core.promise import Promise
from rankset.errors import RuleError
from rankset.graphs.options import INPUT_TYPES, OPSETS, InputType
from rankset.inputs.vocabulary import Names
from rankset.rules.select import EMPTY, Empty
from rankset.rules.sentences import proven_in_words, with_top
from rankset.rules.spec import RuleSpec, settings_text
from rankset.rules.weighted_rows import WeightedLevel
from rankset.targets.base import forbids_more_labels

if TYPE_CHECKING:
    from rankset.graphs.model import RuleGraph

Ints = NDArray[np.int64]
METADATA = "rankset"
"""Name of the text in ``metadata_props``."""


class LevelToOnnx:
    """The method of ``LevelRule`` that makes an ONNX model."""

    spec: RuleSpec
    level: Fraction
    thresholds: Thresholds
    counts: Ints
    absent: Ints | None
    promise: Promise | None
    weighted: WeightedLevel | None
    describe: Callable[..., str]

    def to_onnx(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        dtype: InputType = "float32",
        empty: Empty = "allow",
        opset: int = OPSETS[0],
    ) -> Any:  # noqa: ANN401
        """Return the rule as an ONNX model of standard operators, and write it to a file. See ``Rule.to_onnx``.

        Parameters
        ----------
        path, dtype, empty, opset
            As in ``Rule.to_onnx``.

        Returns
        -------
        onnx.ModelProto

        Raises
        ------
        ScoreError, RuleError, PackageError, FileError
            As in ``Rule.to_onnx``.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> model = rs.calibrate(probs, labels).at(0.1).to_onnx()
        >>> [output.name for output in model.graph.output]
        ['mask', 'sizes', 'codes']
        """
        _check_option("dtype", dtype, INPUT_TYPES)
        _check_option("empty", empty, EMPTY)
        _check_option("opset", opset, tuple(OPSETS))
        if self.weighted is not None:
            raise RuleError.weights_in_graph()
        if empty == "top" and forbids_more_labels(self.spec.target):
            raise RuleError.top_into_empty(self.spec.target)
        model = self._graph(dtype, empty, opset).model(*self._texts(dtype, empty))
        if path is not None:
            from rankset.io import atomic

            with atomic.open_output(path, force=True) as file:
                file.write(model.SerializeToString())
        return model

    def _graph(self, dtype: InputType, empty: Empty, opset: int) -> RuleGraph:
        """Return what the graph is made from."""
        from rankset.graphs.model import RuleGraph

        spec = self.spec
        table, needs_groups = spec.table(), spec.condition.needs_groups
        if needs_groups:  # the last line is for rows of unknown groups
            unknown = spec.numbers(np.arange(spec.n_columns)[np.newaxis], np.array([[-1]]))[:, : table.shape[1]]
            table = np.concatenate((table, np.broadcast_to(unknown, (1, table.shape[1]))))
        return RuleGraph(
            spec.score,
            spec.kind,
            spec.n_columns,
            self.thresholds,
            table,
            needs_groups=needs_groups,
            dtype=dtype,
            top=empty == "top",
            opset=opset,
        )

    def _texts(self, dtype: InputType, empty: Empty) -> tuple[str, str, dict[str, str]]:
        """Return the version of rankset, a sentence for people, and the metadata of the model."""
        version = str(
            sys.modules["rankset"].__version__
        )  # the package imports this module, so it cannot be imported here
        spec, sure = self.spec, None if self.promise is None else self.promise.confidence
        fields = {
            "version": version,
            "alpha": exact_text(self.level),
            "confidence": None if sure is None else exact_text(sure),
            "score": repr(spec.score),
            "condition": repr(spec.condition),
            "target": repr(spec.target),
            "kind": spec.kind,
            "classes": _listed(spec.classes),
            "groups": _listed(spec.groups),
            "rows": int(self.counts.sum()),
            "dtype": dtype,
            "empty": empty,
            "proven": proven_in_words(self),
            "sets": with_top(self.describe()) if empty == "top" else self.describe(),
        }
        about = f"Prediction sets at alpha = {fields['alpha']}: {settings_text(spec)}, kind {spec.kind}."
        return version, about, {METADATA: json.dumps(fields)}


class RuleToOnnx:
    """The method of ``Rule`` that makes an ONNX model."""

    at: Callable[..., Any]

    @takes_alpha
    def to_onnx(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        alpha: Alpha,
        dtype: InputType = "float32",
        empty: Empty = "allow",
        opset: int = OPSETS[0],
        confidence: Alpha | None = None,
        next_rows: int | None = None,
        all_groups: bool = False,
    ) -> Any:  # noqa: ANN401
        """Return the rule at one alpha as an ONNX model of standard operators, and write it to a file.

        The model has the input ``probs``, or another one named after the ``kind`` of the rule: rows (n, K) of outputs
        of a classifier, (n,) for kind "binary". If the condition uses groups, there is a second input ``groups`` (n,)
        of int64: the place of the row's group in ``rule.groups``, or -1 for an unknown group. The outputs are

        * ``mask`` (n, K), boolean: which labels are in the set;
        * ``sizes`` (n,), int64: how many they are;
        * ``codes`` (n, K), int64: their columns, most likely first, and then -1.

        Append it to the model of the classifier with ``onnx.compose.merge_models``. All runtimes that round as IEEE 754
        demands return the sets of ``predict``, bit for bit.

        Values are not checked: with NaN, or rows that do not sum to 1, outputs mean nothing.

        The metadata of the model has one text, ``rankset``, which is JSON: names of classes and groups, alpha, score,
        condition, target, kind, the version of rankset, and what is proven (``proven``).

        Parameters
        ----------
        path
            Path of the file. An existing file is replaced. None writes nothing.
        alpha
            The allowed error rate, strictly between 0 and 1.
        dtype
            "float32" or "float64": element type of the rows.
        empty
            "allow" or "top", as in ``predict``.
        opset
            Version of the operators, from 18 to 25. Models that are merged must have the same.
        confidence, next_rows, all_groups
            As in ``predict``.

        Returns
        -------
        onnx.ModelProto

        Raises
        ------
        LevelError
            If ``alpha`` is not strictly between 0 and 1.
        ScoreError
            If the score draws random numbers, as ``Aps()`` does (``Aps(randomized=False)`` does not), or is not part of
            rankset.
        RuleError
            If the calibration rows have weights, or an option is unknown.
        PackageError
            If onnx is not installed.
        FileError
            If the file cannot be written.

        Examples
        --------
        >>> import rankset as rs
        >>> probs, labels = rs.datasets.load("marketing")
        >>> rule = rs.calibrate(probs, labels)
        >>> model = rule.to_onnx(alpha=0.1)  # rule.to_onnx("rule.onnx", alpha=0.1) writes a file
        >>> [one.name for one in model.graph.input], [one.name for one in model.graph.output]
        (['probs'], ['mask', 'sizes', 'codes'])
        """
        level = self.at(alpha, confidence=confidence, next_rows=next_rows, all_groups=all_groups)
        return level.to_onnx(path, dtype=dtype, empty=empty, opset=opset)


def _check_option(name: str, value: object, known: tuple[Any, ...]) -> None:
    """Raise an error if ``value`` is no option."""
    if type(value) is not type(known[0]) or value not in known:
        raise RuleError.option(name, value, known)


def _listed(names: Names) -> list[Any]:
    return list(names.values)
