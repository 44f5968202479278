"""The base class of all errors, the warning, and how the place of an error is added to it."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from rankset.errors.fields import NOWHERE, PYTHON, Place, Style, Text, render_text


class RanksetError(Exception):
    """Base class of all rankset errors.

    Programs can read the parts of the message as attributes. The message has the form "<what> must <expected>, got
    <received>. <remedy>" or "<what> must <expected>, but <reason>. <remedy>".

    Attributes
    ----------
    what
        What the error is about, such as "labels" or "alpha".
    expected
        What it must do or be: the words after "must".
    received
        The value that was found instead.
    reason
        Why the requirement is not met, where there is no value to show.
    remedy
        Sentences that say what to do.
    where
        File, part, row and column of the error; those that are unknown are None.

    Examples
    --------
    >>> import rankset as rs
    >>> try:
    ...     rs.calibrate([[0.5, 0.5], [0.5, float("nan")]], [0, 1])
    ... except rs.RanksetError as error:
    ...     print(error.what, error.where.row, error.where.column)
    probs 1 1
    """

    def __init__(
        self,
        what: Text = "",
        expected: Text = "",
        received: Text = "",
        remedy: Text = "",
        *,
        reason: Text = "",
        where: Place = NOWHERE,
    ) -> None:
        super().__init__(what)  # pickle and copy call the class with this, and then restore all attributes
        self.what = what
        self.expected = expected
        self.received = received
        self.remedy = remedy
        self.reason = reason
        self.where = where

    @property
    def statement(self) -> Text:
        """The message without its place in a file and without the remedy."""
        must: Text = (" must ", self.expected) if self.expected else ""
        got: Text = (", got ", self.received) if self.received else ""
        reason: Text = (", but ", self.reason) if self.reason else ""
        return (self.what, must, got, self.where.suffix, reason)

    def render(self, style: Style) -> str:
        """Return the message with options as in Python (``force=True``) or as on the command line (``--force``).

        Parameters
        ----------
        style
            ``rankset.errors.PYTHON`` or ``rankset.errors.COMMAND_LINE``. ``str(error)`` uses ``PYTHON``.

        Returns
        -------
        str

        Examples
        --------
        >>> import rankset as rs
        >>> try:
        ...     rs.calibrate([[2.0, -1.0]], [0])
        ... except rs.RanksetError as error:
        ...     print(error.render(rs.errors.COMMAND_LINE))
        probs must be probabilities, got -1 (sum of the row: 1) at row 0, column 1. For logits pass --kind logits. For
        other numbers pass --kind decision.
        """
        end = "." if self.expected else ""
        remedy: Text = (" ", self.remedy) if self.remedy else ""
        return render_text((self.where.prefix, self.statement, end, remedy), style)

    def __str__(self) -> str:
        return self.render(PYTHON)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class RanksetWarning(UserWarning):
    """Something valid that may be a mistake.

    ``warnings.simplefilter("error", rankset.RanksetWarning)`` turns these warnings into errors.

    Examples
    --------
    >>> import warnings, rankset as rs
    >>> probs, labels = rs.datasets.load("marketing")
    >>> rule = rs.calibrate(probs[:5], labels[:5])
    >>> with warnings.catch_warnings(record=True) as given:
    ...     warnings.simplefilter("always", rs.RanksetWarning)
    ...     sets = rule.predict(probs, alpha=0.01)
    >>> print(given[0].message)
    at least 99 calibration rows are needed for alpha=0.01, got 5. All sets contain every label.
    """

    @property
    def text(self) -> tuple[Text, ...]:
        """The parts of the warning: strings, and ``Option`` objects that ``render`` turns into strings."""
        return self.args

    def render(self, style: Style) -> str:
        """Return the warning with options as in Python (``force=True``) or as on the command line (``--force``).

        Parameters
        ----------
        style
            ``rankset.errors.PYTHON`` or ``rankset.errors.COMMAND_LINE``. ``str(warning)`` uses ``PYTHON``.

        Returns
        -------
        str

        Examples
        --------
        >>> import rankset as rs
        >>> rs.RanksetWarning("Check alpha.").render(rs.errors.COMMAND_LINE)
        'Check alpha.'
        """
        return render_text(self.text, style)

    def __str__(self) -> str:
        return self.render(PYTHON)


_given: ContextVar[set[tuple[Text, ...]] | None] = ContextVar("_given", default=None)


@contextmanager
def once() -> Iterator[None]:
    """Inside, the same warning is given once only."""
    token = _given.set(set())
    try:
        yield
    finally:
        _given.reset(token)


_silent: ContextVar[bool] = ContextVar("_silent", default=False)


@contextmanager
def silent() -> Iterator[None]:
    """Inside, rankset gives no warnings, because the caller has already warned of the same."""
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


_kept: ContextVar[list[RanksetWarning] | None] = ContextVar("_kept", default=None)


@contextmanager
def kept_warnings() -> Iterator[list[RanksetWarning]]:
    """Inside, warnings are not given, but put into a list, which is returned."""
    found: list[RanksetWarning] = []
    token = _kept.set(found)
    try:
        yield found
    finally:
        _kept.reset(token)


def warn(*text: Text) -> None:
    """Warn at the line outside this package that led here."""
    if _silent.get():
        return
    kept = _kept.get()
    if kept is not None:
        kept.append(RanksetWarning(*text))
        return
    given = _given.get()
    if given is not None and text in given:
        return
    if given is not None:
        given.add(text)
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("rankset."):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(RanksetWarning(*text), stacklevel=depth)


@contextmanager
def located(where: Place = NOWHERE, first_row: int = 0) -> Iterator[None]:
    """Inside, errors get the file and part of ``where``, and their rows are counted from ``first_row``."""
    try:
        yield
    except RanksetError as error:
        error.where = error.where.inside(where, first_row)
        raise
