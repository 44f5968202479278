"""The parts of an error: texts that contain options of the library, and the place of the error."""

from dataclasses import dataclass, replace
from enum import Enum

from rankset.errors.values import short_repr


class Style(Enum):
    """For whom an error is written."""

    PYTHON = "Python"
    COMMAND_LINE = "command line"


PYTHON, COMMAND_LINE = Style.PYTHON, Style.COMMAND_LINE

FLAGS = {
    **{
        name: f"--{name}"
        for name in (
            "alpha",
            "classes",
            "confidence",
            "error",
            "force",
            "group",
            "kind",
            "label",
            "labels",
            "method",
            "target",
            "weights",
        )
    },
    "groups": "--group",
    "ids": "--id",
    "score": "--score",
}
"""Flags of the command line, by the names of the options in Python."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of the library and the value to pass: ``kind='probs'`` in Python, ``--kind probs`` as a flag.

    Values that a command line cannot take (True, a range) are left out there.
    An option that the command line does not have is written there by its name.
    """

    name: str
    value: object = None

    def render(self, style: Style) -> str:
        """Return the option as ``style`` writes it."""
        if style is PYTHON:
            return f"{self.name}=" if self.value is None else f"{self.name}={self._written()}"
        flag = FLAGS.get(self.name, self.name)
        if isinstance(self.value, str):
            from shlex import quote

            return f"{flag} {quote(self.value)}"
        return f"{flag} {self._written()}" if isinstance(self.value, float) else flag

    def _written(self) -> str:
        return f"{self.value:g}" if isinstance(self.value, float) else repr(self.value)


@dataclass(frozen=True, slots=True)
class Either:
    """Words that differ between Python and the command line."""

    python: str
    command_line: str

    def render(self, style: Style) -> str:
        """Return the words for ``style``."""
        return self.python if style is PYTHON else self.command_line


Text = str | Option | Either | tuple["Text", ...]
"""Words with options in them: a string, an option, or a tuple of such parts that are joined."""


def render_text(text: Text, style: Style) -> str:
    """Return ``text`` with its options as ``style`` writes them."""
    if isinstance(text, tuple):
        return "".join(render_text(part, style) for part in text)
    return text if isinstance(text, str) else text.render(style)


@dataclass(frozen=True, slots=True)
class Place:
    """The place of an error: ``error.where``. Fields that are unknown are None.

    Attributes
    ----------
    file
        Path of the file.
    part
        Part of the file or of the data, such as the name of a sheet or of a partition.
    row
        Number of the row, counted from 0 within ``part`` or ``file``.
    column
        Number of the column, or its name.

    Examples
    --------
    >>> import rankset as rs
    >>> try:
    ...     rs.calibrate([[0.5, 0.5], [0.5, float("nan")]], [0, 1])
    ... except rs.RanksetError as error:
    ...     error.where
    Place(file=None, part=None, row=1, column=1)
    """

    file: str | None = None
    part: str | None = None
    row: int | None = None
    column: object = None

    def inside(self, outer: "Place", first_row: int = 0) -> "Place":
        """Return this place with the file and part of ``outer`` if it has none, and rows counted from ``first_row``."""
        row = None if self.row is None else self.row + first_row
        return replace(self, file=self.file or outer.file, part=self.part or outer.part, row=row)

    def at_row(self, row: int | None) -> "Place":
        """Return this place with another row."""
        return replace(self, row=row)

    def in_column(self, column: object) -> "Place":
        """Return this place with another column."""
        return replace(self, column=column)

    @property
    def prefix(self) -> str:
        """File and part, as they stand before a sentence."""
        return "".join(f"{name}: " for name in (self.file, self.part) if name)

    @property
    def suffix(self) -> str:
        """Row and column, as they stand after a value."""
        column = None if self.column is None else f"column {short_repr(self.column)}"
        if self.row is None:
            return "" if column is None else f" in {column}"
        return f" at row {self.row}" if column is None else f" at row {self.row}, {column}"


NOWHERE = Place()
