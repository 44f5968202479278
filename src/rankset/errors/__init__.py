"""One family of exceptions, and every sentence they can say.

    RanksetError
    ├── InputError    (ValueError)   values: NaN, sums, shapes, lengths
    ├── KindError     (TypeError)    things that are not what they should be
    ├── RowError      (IndexError, ValueError)  rows that are not there
    ├── LabelError    (ValueError)   labels, class names, group names
    ├── LevelError    (ValueError)   alpha
    ├── ScoreError    (ValueError)   scores: their parameters, their keys, where they apply
    ├── SplitError    (ValueError)   rows that cannot be shared as asked
    ├── RuleError     (ValueError)   rules asked for something they do not hold
    ├── FileError     (ValueError)   files of scores, labels and sets
    └── StorageError  (ValueError)   files of rules

    RanksetWarning    (UserWarning)

Every sentence says what was expected, what came, and what to do.
"""

from rankset.errors.base import RanksetError, RanksetWarning, join_names, located, moved, once, short_repr, warn
from rankset.errors.data import InputError, KindError, LabelError, RowError
from rankset.errors.disk import FileError, StorageError
from rankset.errors.questions import LevelError, RuleError, ScoreError, SplitError

__all__ = [
    "FileError",
    "InputError",
    "KindError",
    "LabelError",
    "LevelError",
    "RanksetError",
    "RanksetWarning",
    "RowError",
    "RuleError",
    "ScoreError",
    "SplitError",
    "StorageError",
    "join_names",
    "located",
    "moved",
    "once",
    "short_repr",
    "warn",
]

for _kind in [RanksetError, RanksetWarning, *RanksetError.__subclasses__()]:
    _kind.__module__ = __name__  # where users find them
