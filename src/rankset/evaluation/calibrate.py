"""``calibrate``: make a rule from labelled rows, with a score, the name of one, or ``"auto"``."""

from __future__ import annotations

from collections.abc import Iterable

from numpy.typing import ArrayLike

from rankset.conditions import Condition, Marginal
from rankset.core.alpha import Alpha
from rankset.core.alpha_argument import takes_alpha
from rankset.errors import KindError, LevelError, Option, warn
from rankset.evaluation.default_scores import default_score
from rankset.inputs.matrix import Kind
from rankset.inputs.prepare import Prepared, prepare
from rankset.inputs.row_weights import check_mean
from rankset.rules.rule import Rule, calibrate_prepared
from rankset.rules.small_groups import warn_of_no_promise
from rankset.rules.spec import RuleSpec
from rankset.rules.target_entries import check_entries
from rankset.scores import Score, method_of
from rankset.targets import OneLabel, Target, checked_target
from rankset.targets.base import has_several_labels

DEFAULT_ALPHA = 0.1
"""The alpha of ``method="auto"``, if none is passed."""


@takes_alpha
def calibrate(
    probs: ArrayLike,
    labels: ArrayLike,
    *,
    method: Score | str | None = None,
    condition: Condition = Marginal(),  # noqa: B008
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    groups: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    seed: int = 0,
    alpha: Alpha | None = None,
    score: Score | str | None = None,
    target: Target | str = OneLabel(),  # noqa: B008
    weights: ArrayLike | None = None,
) -> Rule:
    """Make a rule that turns a classifier's outputs into prediction sets.

    The model must not have been trained on these rows. The rows must be exchangeable with future rows, for example
    drawn at random from the same source. Then the set of a new row contains the true label with probability at least
    1 - alpha. This holds for every model.

    Parameters
    ----------
    probs
        Outputs of the classifier, one row per sample and one column per class. An array, a tensor, a data frame,
        ``Ragged`` rows, a model output of Hugging Face Transformers, or a list of dictionaries (see Notes).
    labels
        The true label of each row, as a class name or a column number. If the true label is not among the
        candidates of the row, pass ``rankset.ABSENT``. If rows can have several labels (see ``target``), pass a 0/1
        matrix with one column per class, or one list of labels per row; a row can also have none.
    method
        The nonconformity score, which measures how unusual a label is for a row. One of

        * a score, such as ``Raps(penalty=0.1)``. The default is ``Rank()``; with marginals it is ``Share()`` for the
          target ``Recall()`` and ``Thr()`` for other targets.
        * the name of a score: "rank", "thr" (or "lac"), "share", "aps", "raps", "saps", "topk", "margin" or "average".
          "raps" and "saps" have the parameters of the RANK paper: ``Raps(penalty=0.2, free_ranks=2)`` and
          ``Saps(weight=0.2)``.
        * "auto": the score is fitted and chosen on some of the rows, and calibrated on the other rows, as by
          ``rankset.auto``. Sets are often smaller. ``rankset.auto`` has further options.
    condition
        The groups for which coverage must hold separately. By default coverage holds on average over all rows.
    kind
        The type of values in ``probs``. Rows passed to ``predict`` must have the same type. One of

        * "probs": probabilities.
        * "logits": softmax is applied, in float64.
        * "decision": values that can be compared between rows, such as margins or similarities. Only for the scores
          Rank, TopK, Thr and Margin.
        * "binary": a one-dimensional array with the probability of the second class.
        * "marginals": a probability of its own for every label, between 0 and 1. Rows need not sum to 1. The output of
          scikit-learn's models with several outputs, a list of K arrays (n, 2), can be passed as it is.
        * "marginal_logits": a logit for every label. The sigmoid function is applied, in float64.
    classes
        Class names in column order, or a mapping from column numbers to names, such as ``id2label``. The default
        is 0, 1, …, K-1, or the column names of a data frame. The columns of a data frame and the names in dictionaries
        are matched to classes by name.
    groups
        The group of each row. Needed if the condition uses groups.
    ids
        A unique id for each row. Only randomised scores use ids. Without ids, rows with identical values get the same
        random number. If you pass ids here, you must also pass ids to ``predict``.
    seed
        Seed of the random numbers of randomised scores, and of the split of the rows by "auto".
    alpha
        Only for ``method="auto"``: the alpha for which sets should be small, by default 0.1. A rule does not store
        alpha. Pass alpha to ``predict``.
    score
        Another name of ``method``. Pass only one of the two.
    target
        What is promised about the true labels of a row. Its name can be passed, too. One of

        * ``OneLabel()`` or "one", the default: every row has one true label, and it is in the set with probability at
          least 1 - alpha.
        * ``Recall()`` or "recall": the expected share of a row's true labels that the set misses is at most alpha.
        * ``AllLabels()`` or "all": the set contains all true labels with probability at least 1 - alpha.
        * ``AnyLabel()`` or "any": it contains at least one of them with probability at least 1 - alpha.
        * ``CertainLabels()`` or "certain": every label of the set is true with probability at least 1 - alpha.
        * ``AtMostMissed(m)``: it misses at most m of them with probability at least 1 - alpha.
        * ``Cost({label: cost})``: every row has one true label, and the expected cost of missing it is at most alpha
          times the largest cost.
    weights
        The weight of each row, for new rows that are distributed otherwise than these (covariate shift), or because old
        rows should count less. A number from 0 on, such as the ratio of both densities at the row; only the ratio of
        weights matters. With one number, all rows have this weight. If you pass weights here, you must also pass them
        to ``predict``. Weights are rounded to multiples of 2**-30, so their mean should be about 1.

    Returns
    -------
    Rule

    Raises
    ------
    RanksetError
        If an argument is invalid, or if labels, groups or ids have a pandas index that differs from the
        index of the rows. The default index (0, 1, 2, …) is always accepted.

    Notes
    -----
    A row can be a dictionary of labels and numbers, such as ``{"A": -0.1, "B": -3.0}``, or a list of tokens and
    log-probabilities as APIs of language models return it. The classes are the names of all rows, in natural order
    ("q2" before "q10"), or ``classes``. A label that a row lacks has probability 0, or the logit -inf. So
    log-probabilities
    of the top tokens only, with ``kind="logits"``, are divided by their sum: the probabilities of a row sum to 1 over
    the labels it has. A ``collections.Counter`` holds counts of sampled answers: with ``kind="probs"`` they become
    relative frequencies. Names are compared exactly; see ``normalise_answers``. If every row has candidates of its own,
    use ``Ragged.of``.

    A row with the label ``rankset.ABSENT`` counts as missed, because no set can contain its true label. What holds:
    among n calibration rows and a new row let M labels be absent. Then the probability that the set misses the true
    label is at most the mean of max(floor((n + 1) * alpha), M) / (n + 1). This is at most alpha if never more than
    (n + 1) * alpha labels are absent. If more labels are absent, sets miss as many, and no set could miss fewer. For an
    alpha below ``Rule.smallest_alpha()`` sets contain every candidate, and ``predict`` warns. That number depends on
    the calibration rows; an alpha above it does not prove a coverage of 1 - alpha.

    Examples
    --------
    >>> import rankset as rs
    >>> probs = [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.5, 0.3, 0.2], [0.2, 0.2, 0.6]]
    >>> rule = rs.calibrate(probs, ["cat", "dog", "dog", "fox"], classes=["cat", "dog", "fox"])
    >>> [labels.tolist() for labels in rule.predict([[0.6, 0.3, 0.1]], alpha=0.5)]
    [['cat']]
    >>> rs.calibrate(probs, [0, 1, 1, 2], method="aps")
    Rule(Aps(randomized=True), Marginal(), kind='probs', 3 classes, calibrated on 4 rows)
    """
    wanted = checked_target(target)
    chosen = method_of(method, score, default_score(kind, wanted))
    if chosen is None:
        from rankset.evaluation.auto import auto

        if ids is not None:
            raise KindError.ids_with_auto()
        level = DEFAULT_ALPHA if alpha is None else alpha
        return auto(
            probs,
            labels,
            level,
            kind=kind,
            classes=classes,
            condition=condition,
            groups=groups,
            seed=seed,
            target=wanted,
            weights=weights,
        )
    if alpha is not None:
        raise LevelError.not_at_calibration(alpha)
    rule = calibrate_part(
        *(probs, labels, chosen, condition, wanted),
        kind=kind,
        classes=classes,
        groups=groups,
        ids=ids,
        seed=seed,
        weights=weights,
    )
    return with_labels(rule)


def calibrate_part(
    probs: ArrayLike,
    labels: ArrayLike,
    score: Score,
    condition: Condition,
    target: Target,
    *,
    kind: Kind,
    classes: Iterable[object] | None,
    groups: ArrayLike | None,
    ids: ArrayLike | None,
    seed: int,
    weights: ArrayLike | None = None,
) -> Rule:
    """Return the rule of all rows or of some of them, which may all be without labels if they can have several."""
    several = has_several_labels(target)
    per_row = {"groups": groups, "ids": ids, "weights": weights}
    data = prepare(probs, labels, kind=kind, classes=classes, several=several, **per_row)
    warn_of_softmax(data)
    return calibrate_prepared(RuleSpec.of(score, condition, data.kind, seed, data.classes, target), data)


def warn_of_softmax(data: Prepared) -> None:
    """Warn if rows have several labels and logits: softmax makes the labels of a row compete."""
    if data.kind == "logits" and data.truths is not None and (data.truths.sizes > 1).any():
        warn(
            "softmax makes the labels of a row compete, but rows have several labels. For logits of single labels, "
            "whose sigmoid is the probability of the label, pass ",
            Option("kind", "marginal_logits"),
            ".",
        )


def with_labels(rule: Rule) -> Rule:
    """Return the rule of all rows; raise an error if none of them has an entry, and warn if nothing is promised."""
    check_entries(rule.calibration, below=rule.spec.below)
    if rule.calibration.row_masses is not None:
        check_mean(int(rule.calibration.row_masses.by_group.sum()), rule.n)
    warn_of_no_promise(rule.spec)
    return rule
