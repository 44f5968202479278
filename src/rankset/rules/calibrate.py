"""calibrate makes a rule from labelled rows; load reads one from a file."""

from __future__ import annotations

import os
from collections.abc import Iterable

from numpy.typing import ArrayLike

from rankset.conditions import Condition, Marginal
from rankset.inputs.matrix import Kind
from rankset.inputs.prepare import prepare
from rankset.io import container
from rankset.rules import rule_file
from rankset.rules.rule import Rule, calibrate_prepared
from rankset.rules.spec import RuleSpec
from rankset.scores import Rank, Score


def calibrate(
    probs: ArrayLike,
    labels: ArrayLike,
    *,
    score: Score = Rank(),  # noqa: B008
    condition: Condition = Marginal(),  # noqa: B008
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    groups: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> Rule:
    """Make a rule that turns a classifier's outputs into prediction sets.

    The rows must be new to the model and exchangeable with future rows. Then every set contains its row's label with
    probability at least 1 - alpha, whatever the model.

    Parameters
    ----------
    probs : outputs of the classifier, one row per sample and one column per class: an array, a tensor, a data frame,
        ``Ragged`` rows, or an output of Hugging Face.
    labels : the true label of each row, a class name or a column number.
    score : how unusual a label looks in its row.
    condition : for which groups coverage holds separately.
    kind : what the numbers are. "probs"; "logits" (softmax is applied, in float64); "decision" (numbers that can be
        compared between rows, such as margins or similarities; for Rank, TopK, Thr and Margin); "binary" (1-D, the
        probability of the second class). Rows to predict must be of the same kind.
    classes : names of the columns, in order, or a mapping of column numbers to names. The default is 0 … K-1, or the
        column names of a data frame. Data frames are matched to classes by column name.
    groups : one name per row, for conditions that use groups.
    ids : one per row. They give equal rows different draws if the score is randomised; ``predict`` then needs ids too.
    seed : chooses the draws of randomised scores.

    Returns
    -------
    Rule

    Raises
    ------
    RanksetError : if an argument is invalid. A pandas index of labels, groups or ids must be that of the rows, in the
        same order, or the default index.

    Examples
    --------
    >>> import rankset as rs
    >>> probs = [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.5, 0.3, 0.2], [0.2, 0.2, 0.6]]
    >>> rule = rs.calibrate(probs, ["cat", "dog", "dog", "fox"], classes=["cat", "dog", "fox"])
    >>> [labels.tolist() for labels in rule.predict([[0.6, 0.3, 0.1]], alpha=0.5)]
    [['cat']]
    """
    data = prepare(probs, labels, kind=kind, classes=classes, groups=groups, ids=ids)
    return calibrate_prepared(RuleSpec.of(score, condition, data.kind, seed, data.classes), data)


def load(path: str | os.PathLike[str]) -> Rule:
    """Read a rule that ``Rule.save`` wrote. Nothing in the file is executed.

    Parameters
    ----------
    path : the file.

    Returns
    -------
    Rule

    Raises
    ------
    StorageError : if the file is damaged, not a rule, or written by a later version.

    Examples
    --------
    >>> import tempfile, rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> with tempfile.NamedTemporaryFile(suffix=".rankset") as file:
    ...     rs.calibrate(probs, labels).save(file.name)
    ...     rs.load(file.name)
    Rule(Rank(), Marginal(), kind='probs', 4 classes, calibrated on 260 rows)
    """
    header, arrays = container.read(path)
    with container.damage_as_error(path):
        return Rule(*rule_file.unpack(header, arrays))
