"""``Loaded``: the rule that a server uses now, with its levels and gates, and how files of it are read."""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from rankset.core.alpha import Alpha, exact_alpha
from rankset.decisions.gate import Gate
from rankset.decisions.triage import Triage
from rankset.errors import KindError, Place, RuleError, StorageError, kept_warnings, short_repr, silent
from rankset.inputs.prepare import prepare
from rankset.rules.level_rule import LevelRule
from rankset.rules.load import load
from rankset.rules.rule import Rule
from rankset.rules.select import EMPTY, Empty
from rankset.rules.spec import RuleSpec
from rankset.streams.followed_rule import checked_rule, largest_entries

T = TypeVar("T")
Path = str | os.PathLike[str]
Outputs = ArrayLike | Callable[[Rule], ArrayLike]
"""Model outputs of the calibration rows of a rule, or a function that returns them."""

KEPT = 16
"""So many levels, and gates, are kept for the next request."""
NOT_SERVED = (
    "Such rules are not served. Use rankset.load(...).predict in a service of your own (docs/how-to/service.md), "
    "rankset.mlflow, or rule.to_onnx."
)
MAKE_TRIAGE = "Make one with rankset triage and --save triage.rankset, or in Python with rankset.triage(...).save."


class Kept(Generic[T]):
    """The last few values that were made, by the number for which they were made."""

    def __init__(self, make: Callable[[Fraction], T]) -> None:
        self._make, self._known, self._lock = make, OrderedDict[Fraction, T](), Lock()

    def __contains__(self, number: Fraction) -> bool:
        return number in self._known

    def __getitem__(self, number: Fraction) -> T:
        with self._lock:
            if number in self._known:
                self._known.move_to_end(number)
                return self._known[number]
        made = self._make(number)
        with self._lock:
            self._known[number] = made
            if len(self._known) > KEPT:
                self._known.popitem(last=False)
        return made


class Answering(NamedTuple):
    """How a server answers.

    Attributes
    ----------
    alpha : the level of requests that give none.
    confidence : with which probability the promise holds for this calibration; None: a mean over calibrations.
    all_groups : whether it holds for all groups at once.
    empty : "allow", or "top" to put the most likely label into empty sets.
    """

    alpha: Alpha
    confidence: Alpha | None = None
    all_groups: bool = False
    empty: Empty = "allow"


class Loaded:
    """A rule with one label per row, and the triage of the same model, if there is one.

    Attributes
    ----------
    rule, triage : what was loaded.
    alpha : the level of requests that give none, as an exact fraction.
    answering : how it answers.
    usual : the largest entries of the calibration rows, if their outputs are known.
    name : the name of the file of the rule, without its folder; None if it comes from no file.
    levels : the rule at single levels.
    gates : the triage at single errors.
    few_rows : the warning that groups, or all rows, have too few calibration rows, so that labels are always in sets.
    """

    def __init__(
        self,
        rule: Rule,
        answering: Answering,
        triage: Triage | None = None,
        outputs: Outputs | None = None,
        name: str | None = None,
    ) -> None:
        self.rule, self.triage, self.alpha = _check_rule(rule), triage, exact_alpha(answering.alpha)
        self.answering, self.name = _checked(answering), name
        self.usual = _usual(rule, outputs)
        if triage is not None:
            _check_triage(rule, triage)
        self.levels: Kept[LevelRule] = Kept(self._level)
        self.gates: Kept[Gate] = Kept(self._gate)
        self._warm_up()
        self.few_rows = self._few_rows()

    def _warm_up(self) -> None:
        """Predict a row before the first request: modules are imported, and thresholds are settled."""
        spec = self.rule.spec
        level = self.levels[self.alpha]
        if spec.kind != "binary" and not spec.condition.needs_groups and not spec.with_ids:
            with silent():
                level.predict(np.full((1, spec.n_columns), 1 / spec.n_columns), empty=self.answering.empty)

    def _level(self, alpha: Fraction) -> LevelRule:
        with silent():
            return self.rule.at(alpha, confidence=self.answering.confidence, all_groups=self.answering.all_groups)

    def _gate(self, error: Fraction) -> Gate:
        assert self.triage is not None
        with silent():
            return self.triage.threshold(error=error)

    def _few_rows(self) -> str | None:
        """Return the warning that groups, or all rows, have too few calibration rows; None if there is none."""
        with kept_warnings() as found:
            self.levels[self.alpha]._warn_of_small_groups()
        return " ".join(map(str, found)) or None

    @cached_property
    def names(self) -> list[Any]:
        """The class names in column order, as JSON can write them."""
        return [
            name.encode("utf-8", "backslashreplace").decode() if isinstance(name, str) else name
            for name in self.rule.spec.classes.values
        ]

    @cached_property
    def digest(self) -> str:
        """A text that differs if the rule differs."""
        spec, calibration = self.rule.spec, self.rule.calibration
        told = repr((spec.score, spec.condition, spec.kind, spec.seed, spec.classes.values, spec.groups))
        found = hashlib.sha256(told.encode("utf-8", "backslashreplace"))
        for array in (*calibration.keys, calibration.offsets):
            found.update(array.tobytes())
        return found.hexdigest()


def _checked(answering: Answering) -> Answering:
    if answering.empty not in EMPTY:
        raise KindError.argument("empty", " or ".join(map(repr, EMPTY)), answering.empty)
    return answering


def _usual(rule: Rule, outputs: Outputs | None) -> list[float]:
    """Return the largest entry of each calibration row."""
    if outputs is None:
        return []
    spec = rule.spec
    given: ArrayLike = outputs(rule) if callable(outputs) else outputs
    return largest_entries(prepare(given, kind=spec.kind, classes=spec.classes))


def _check_rule(rule: Rule) -> Rule:
    """Return a rule that can be served; raise an error that says how others are used."""
    try:
        return checked_rule(rule, "a server")
    except RuleError as error:
        error.remedy = NOT_SERVED
        raise


def _load_rule(path: Path) -> Rule:
    """Read the file of a rule that can be served; raise an error that names the file."""
    rule = load(path)
    try:
        return _check_rule(rule)
    except RuleError as error:
        error.where = Place(file=os.fspath(path))
        raise


def _load_triage(path: Path) -> Triage:
    """Read the file of a triage; raise an error that says how one is made if it contains something else."""
    try:
        return Triage.load(path)
    except StorageError as error:
        error.remedy = MAKE_TRIAGE if error.expected == "contain a Triage" else error.remedy
        raise


def _check_triage(rule: Rule, triage: Triage) -> None:
    """Raise an error if a triage is of other outputs than the rule."""
    differs = _difference(triage.spec, rule.spec, "the rule")
    if differs is not None:
        raise RuleError("the triage", *differs, "Make it from outputs of the model of the rule.")


def _difference(spec: RuleSpec, wanted: RuleSpec, whose: str) -> tuple[str, str] | None:
    """Return what kind or classes should be, and what they are; None if they are the same."""
    if spec.kind != wanted.kind:
        return f"have the kind of {whose}, {wanted.kind!r}", repr(spec.kind)
    if spec.classes == wanted.classes:
        return None
    expected, names, others = f"have the classes of {whose}", list(spec.classes.values), list(wanted.classes.values)
    if len(names) != len(others):
        return f"{expected}, {len(others):,}", f"{len(names):,}"
    place = next((place for place, pair in enumerate(zip(names, others, strict=True)) if pair[0] != pair[1]), 0)
    return f"{expected}, with {short_repr(others[place])} in column {place}", short_repr(names[place])


def _check_same_rows(rule: Rule, before: Rule) -> None:
    """Raise an error if rows of the rule before cannot be rows of the new one."""
    differs = _difference(rule.spec, before.spec, "the rule before")
    if differs is not None:
        raise RuleError("the new rule", *differs, "Start a server of its own for a rule with other columns.")
    if rule.spec.condition.needs_groups != before.spec.condition.needs_groups:
        remedy = "Start a server of its own for a rule with another use of groups."
        raise RuleError("the new rule", "use groups as the rule before", "another condition", remedy)


class Files:
    """The files from which a rule and a triage are loaded, at the start and when they are replaced."""

    def __init__(
        self, rule: Path | Rule, triage: Path | Triage | None, answering: Answering, outputs: Outputs | None = None
    ) -> None:
        self.rule, self.triage, self.answering, self.outputs = rule, triage, answering, outputs

    def load(self, before: Loaded | None = None) -> Loaded:
        """Read the files; raise an error if one is missing or damaged, or if rows of ``before`` cannot be its rows."""
        rule = self.rule if isinstance(self.rule, Rule) else _load_rule(self.rule)
        if before is not None:
            _check_same_rows(rule, before.rule)
        triage = self.triage
        if triage is not None and not isinstance(triage, Triage):
            triage = _load_triage(triage)
        name = None if isinstance(self.rule, Rule) else os.path.basename(os.fspath(self.rule))  # noqa: PTH119
        return Loaded(rule, self.answering, triage, self.outputs, name)
