"""Measures that users choose or bring: the argument ``metrics`` of ``compare``, and ``objective`` of ``choose``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from rankset.errors import KindError
from rankset.evaluation.metrics import METRICS, OWN_SECTION, Bools, Formula, Ints, Metric, metrics_named

Measures = str | Mapping[str, Formula]
"""The name of a metric, or own measures by name."""
ALWAYS = ("coverage", "size")
"""Metrics that ``compare`` always measures."""
ARGUMENTS = ("covered", "sizes", "labels", "alpha")
"""The arguments with which measures are called."""

COLUMNS = ("alpha", "score")
"""Columns of the frame of a comparison that are no metrics."""


def chosen_metrics(metrics: Measures | Iterable[Measures] | None) -> tuple[Metric, ...]:
    """Return the metrics to measure; all of them for None.

    Built-in ones come first, in the order of the registry, then own measures.
    """
    if metrics is None:
        return tuple(METRICS.values())
    several = [metrics] if isinstance(metrics, str | Mapping) else metrics
    if not isinstance(several, Iterable):
        raise KindError.argument("metrics", "a list of names, or a dictionary of functions by name", metrics)
    names: set[str] = set(ALWAYS)
    own: dict[str, Formula] = {}
    for one in several:
        if isinstance(one, Mapping):
            own |= one
        elif isinstance(one, str):
            names |= {metrics_named([one])[0].name}
        else:
            raise KindError.argument("metrics", "a list of names, or a dictionary of functions by name", one)
    return (
        *(metric for name, metric in METRICS.items() if name in names),
        *(_own_metric(name, formula) for name, formula in own.items()),
    )


def _own_metric(name: object, formula: object) -> Metric:
    """A metric of a function of the user; raise ``KindError`` if name or function cannot be used."""
    if not isinstance(name, str) or name in METRICS or name in COLUMNS or name.endswith((" error", " spread")):
        raise KindError.argument("metrics", "a dictionary whose keys are new names", name)
    if not callable(formula):
        raise KindError.argument("metrics", "a dictionary whose values are functions", formula)
    checked = checked_formula(formula, f"metrics[{name!r}]", undefined=True)
    return Metric(name, name, OWN_SECTION, checked, f"your measure {name}", "smaller", "your function returned NaN")


def checked_formula(formula: Callable[..., Any], name: str, *, undefined: bool = False) -> Formula:
    """Return a function of the user that raises ``KindError`` if it does not return a finite number.

    A function that cannot be called with four arguments is refused at once.
    If ``undefined`` is true, NaN is allowed: the measure is then not defined.
    """
    _check_arguments(formula, name)
    expected = "a function that returns a finite number" + (", or NaN" if undefined else "")

    def checked(covered: Bools, sizes: Ints, labels: Ints, alpha: Fraction) -> float:
        value = formula(covered, sizes, labels, alpha)
        if isinstance(value, int | float | np.number | np.bool_) and (
            np.isfinite(value) or (undefined and np.isnan(value))
        ):
            return float(value)
        raise KindError.argument(name, expected, value)

    return checked


def _check_arguments(formula: Callable[..., Any], name: str) -> None:
    """Raise ``KindError`` if a function cannot be called with the four arguments of a measure."""
    try:
        signature = inspect.signature(formula)
    except (TypeError, ValueError):  # some functions written in C do not tell
        return
    try:
        signature.bind(*ARGUMENTS)
    except TypeError as error:
        expected = f"a function of {len(ARGUMENTS)} arguments ({', '.join(ARGUMENTS)})"
        raise KindError.argument(name, expected, formula) from error
