"""``CertainLabels``: labels that are true, as far as can be promised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rankset.targets.base import Chosen, TrueLabels
from rankset.targets.builtin import EACH


@dataclass(frozen=True)
class CertainLabels:
    """Every label of the set is true, with probability at least 1 - alpha. Sets contain what is certain, and no more.

    The other targets promise that sets are large enough; this one promises that they are small enough. An empty set
    says that nothing is certain. A smaller alpha makes sets smaller. The promise is about rows that have a false label
    among their candidates; in other rows every label is true. With ``PerLabel()`` it holds for every label: if the
    label is false, it is in the set with probability at most alpha.

    ``bounds`` combines it with ``AllLabels``: what is certain, and what is possible.

    Examples
    --------
    >>> import rankset as rs
    >>> probs = [[0.9, 0.8, 0.1], [0.7, 0.2, 0.6], [0.4, 0.9, 0.3], [0.1, 0.3, 0.8]]
    >>> labels = [[0, 1], [0, 2], [1], [2]]
    >>> rule = rs.calibrate(probs, labels, target=rs.CertainLabels(), kind="marginals")
    >>> rule.predict([[0.8, 0.35, 0.1]], alpha=0.4).to_lists()
    [[0, 1]]
    >>> rule.predict([[0.8, 0.35, 0.1]], alpha=0.2).to_lists()
    [[0]]
    """

    about_false_labels: ClassVar[bool] = True
    promise: ClassVar[str] = "every label of the set is true with probability at least {}"
    promise_by_label: ClassVar[str] = f"a label that is false is left out with probability at least {{}}, {EACH}"

    def entries(self, labels: TrueLabels) -> Chosen:
        """Return the least unusual false label of each row and group."""
        return labels.order[labels.ends - labels.sizes], None
