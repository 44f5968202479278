"""``report`` and ``report_scores``: a study and its page in one call, written to a file or shown in a notebook."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from numpy.typing import ArrayLike

from rankset.core.alpha import Alpha
from rankset.core.alpha_argument import takes_alpha
from rankset.errors import FileError
from rankset.evaluation.default_scores import ONE_LABEL
from rankset.inputs.matrix import Kind
from rankset.reports.page import Report, plotly_script
from rankset.reports.results import Study
from rankset.reports.study import study_rules, study_scores
from rankset.rules.rule import Rule
from rankset.scores import Score
from rankset.targets import Target as Promised

Target = str | os.PathLike[str]

TITLE = "Prediction sets"


@takes_alpha
def report(
    rule: Rule | Sequence[Rule],
    probs: ArrayLike,
    labels: ArrayLike,
    path: Target | None = None,
    *,
    groups: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    alpha: Alpha = 0.1,
    title: str = TITLE,
    show_progress: bool = False,
) -> Report:
    """Test a rule on rows with known labels, and write the results as an HTML page.

    The page has a slider for alpha. It shows coverage, set sizes, ranks, all classes and groups, the hundred most
    ambiguous rows, and with one label per row how many answers could be accepted automatically (``triage``). It is one
    file that works without a network connection.

    Parameters
    ----------
    rule : Rule or sequence of Rule
        A rule from ``calibrate`` or ``load``, or several rules to compare. All rules must have the same classes and the
        same kind.
    probs : array-like (n, K)
        Model outputs of the test rows: rows that were used neither for training nor for calibration.
    labels : array-like (n,)
        True labels of the test rows.
    path : str or path, optional
        The file to write. Its name must end in ".html". An existing file is replaced, but only after the new file is
        complete.
        Without a path, nothing is written.
    groups : array-like (n,), optional
        The group of each row. The page then shows coverage for every group. Required if the condition of a rule uses
        groups.
    ids : array-like (n,), optional
        The id of each row, shown in the list of the most ambiguous rows. By default the index of a pandas frame.
        Required if a rule has a randomised score and was calibrated with ids. For all other rules, ids change no set.
    weights : array-like (n,) or number, optional
        The weight of each row, or one number for all rows. Required if a rule was calibrated with weights.
    names : sequence of str, optional
        A name for every rule, for example its file. The page shows it for rules with the same score and the same
        condition. By default these rules are numbered.
    alpha : float, str or Fraction, default 0.1
        The alpha that the page shows when it is opened.
    title : str, default "Prediction sets"
        Title of the page.
    show_progress : bool, default False
        Whether to show a progress bar on stderr.

    Returns
    -------
    Report
        The page, with ``path``, ``html`` and all numbers (``study``). A notebook shows it, or a link to its file.

    Raises
    ------
    KindError
        If ``rule`` is not a ``Rule`` or a list of rules, if ``names`` has not one name per rule, or if plotly is not
        installed.
    FileError
        If the file cannot be written, or if its name does not end in ".html".
    RuleError
        If the rules have different classes or kinds.
    InputError
        If there are no rows, or if values are invalid, for example negative probabilities.

    Examples
    --------
    >>> import tempfile, rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rule = rs.calibrate(probs[:130], labels[:130])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rs.report(rule, probs[130:], labels[130:], f"{folder}/report.html").path.name
    'report.html'
    >>> rs.report(rule, probs[130:], labels[130:], title="Marketing")
    Report('Marketing', 130 rows, Rank())
    """
    check_report(path)
    rules = [rule] if not isinstance(rule, Sequence) else rule
    study = study_rules(
        *(rules, probs, labels),
        groups=groups,
        ids=ids,
        weights=weights,
        names=names,
        alpha=alpha,
        show_progress=show_progress,
    )
    return write_study(study, path, title)


@takes_alpha
def report_scores(
    probs: ArrayLike,
    labels: ArrayLike,
    new_probs: ArrayLike,
    new_labels: ArrayLike,
    path: Target | None = None,
    *,
    scores: Iterable[Score | str] | None = None,
    kind: Kind = "probs",
    classes: Iterable[object] | None = None,
    ids: ArrayLike | None = None,
    new_ids: ArrayLike | None = None,
    target: Promised | str = ONE_LABEL,
    alpha: Alpha = 0.1,
    seed: int = 0,
    title: str = TITLE,
    show_progress: bool = False,
) -> Report:
    """Calibrate several scores on some rows, test them on other rows, and write the results as an HTML page.

    Use this to compare scores before you choose one. The page is that of ``report``.

    Parameters
    ----------
    probs, labels : array-like (n, K) and (n,)
        Model outputs and true labels of the calibration rows.
    new_probs, new_labels : array-like (m, K) and (m,)
        Model outputs and true labels of the test rows.
    path : str or path, optional
        The file to write, as in ``report``.
    scores : iterable of Score or str, optional
        The scores to compare, their names such as "aps", or "auto" for ``rankset.auto``. By default RANK, THR,
        APS, RAPS and SAPS, as in ``compare``; with a target for several labels Share, THR and RANK.
    kind : {"probs", "logits", "decision", "binary", "marginals", "marginal_logits"}, default "probs"
        The type of values in the model outputs, as in ``calibrate``.
    classes : iterable, optional
        Class names in column order.
    ids, new_ids : array-like, optional
        The ids of the calibration rows and of the test rows. The ids of the test rows are shown in the list of the most
        ambiguous rows. With ``ids``, randomised scores use them, and ``new_ids`` is required.
    target : Target or str, default ``OneLabel()``
        What is promised if rows can have several labels, as in ``calibrate``.
    alpha : float, str or Fraction, default 0.1
        The alpha that the page shows when it is opened.
    seed : int, default 0
        Seed of randomised scores.
    title : str, default "Prediction sets"
        Title of the page.
    show_progress : bool, default False
        Whether to show a progress bar on stderr.

    Returns
    -------
    Report
        The page, with ``path``, ``html`` and all numbers (``study``). A notebook shows it, or a link to its file.

    Raises
    ------
    FileError
        If the file cannot be written, or if its name does not end in ".html".
    KindError
        If plotly is not installed.
    InputError
        If there are no test rows, or if values are invalid, for example negative probabilities.

    Examples
    --------
    >>> import rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rs.report_scores(probs[:130], labels[:130], probs[130:], labels[130:], scores=[rs.Rank(), rs.Thr()])
    Report('Prediction sets', 130 rows, Rank(), Thr())
    """
    check_report(path)
    study = study_scores(
        *(probs, labels, new_probs, new_labels),
        candidates=scores,
        kind=kind,
        classes=classes,
        ids=ids,
        new_ids=new_ids,
        target=target,
        alpha=alpha,
        seed=seed,
        show_progress=show_progress,
    )
    return write_study(study, path, title)


def check_report(path: Target | None) -> None:
    """Raise an error if plotly is missing or ``path`` is not the name of an HTML file, before any work is done."""
    if path is not None and not os.fspath(path).lower().endswith(".html"):
        raise FileError.report_suffix(os.fspath(path))
    plotly_script()


def write_study(study: Study, path: Target | None, title: str) -> Report:
    """Return the page of a study, and write it to ``path`` if there is one."""
    made = Report(study, title)
    return made if path is None else made.save(path)
