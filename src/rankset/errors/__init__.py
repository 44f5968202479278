"""One family of exceptions, and every sentence they can say.

    RanksetError
    ├── InputError    (ValueError)   values: NaN, sums, shapes, lengths
    ├── KindError     (TypeError)    values of the wrong type
    ├── PackageError  (ModuleNotFoundError)  packages that are not installed
    ├── MethodError   (AttributeError)       methods that an object cannot have
    ├── RowError      (IndexError, ValueError)  row numbers that do not exist
    ├── LabelError    (ValueError)   labels, class names, group names
    ├── LevelError    (ValueError)   alpha
    ├── MetricError   (KeyError, ValueError)    names of metrics
    ├── ScoreError    (ValueError)   scores: their parameters, their keys, where they apply
    ├── SplitError    (ValueError)   rows that cannot be divided in this way
    ├── RuleError     (ValueError)   requests that do not fit the rule
    ├── FileError     (ValueError)   files of scores, labels and sets
    └── StorageError  (ValueError)   files of rules, stores of served rows
        └── StoreFull                disks that are full

    RanksetWarning    (UserWarning)

An error carries fields: ``what`` must ``expected``, got ``received`` at ``where``, but ``reason``. ``remedy``.
``str(error)`` writes them for Python, ``error.render(COMMAND_LINE)`` for the command line. The two differ in options,
which are data (``Option``): ``kind='probs'`` and ``--kind probs``.
"""

from rankset.errors.base import RanksetError, RanksetWarning, kept_warnings, located, once, silent, warn
from rankset.errors.fields import COMMAND_LINE, NOWHERE, PYTHON, Either, Option, Place, Text
from rankset.errors.files import FileError
from rankset.errors.inputs import InputError
from rankset.errors.kinds import KindError
from rankset.errors.labels import LabelError
from rankset.errors.packages import PackageError, import_with_extra, needs_extra
from rankset.errors.rows import RowError
from rankset.errors.rules import MethodError, MetricError, RuleError, SplitError
from rankset.errors.scores import LevelError, ScoreError
from rankset.errors.storage import StorageError, StoreFull
from rankset.errors.values import join_names, short_repr

__all__ = [
    "COMMAND_LINE",
    "NOWHERE",
    "PYTHON",
    "Either",
    "FileError",
    "InputError",
    "KindError",
    "LabelError",
    "LevelError",
    "MethodError",
    "MetricError",
    "Option",
    "PackageError",
    "Place",
    "RanksetError",
    "RanksetWarning",
    "RowError",
    "RuleError",
    "ScoreError",
    "SplitError",
    "StorageError",
    "StoreFull",
    "Text",
    "import_with_extra",
    "join_names",
    "kept_warnings",
    "located",
    "needs_extra",
    "once",
    "short_repr",
    "silent",
    "warn",
]

for _kind in [RanksetError, RanksetWarning, *RanksetError.__subclasses__(), StoreFull]:
    _kind.__module__ = __name__  # where users find them
