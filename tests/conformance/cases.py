"""What a case of the conformance suite is: numbers of a peer's own test, and how rankset is asked for the same."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

Ask = Callable[..., Sequence[Any]]


@dataclass(frozen=True)
class Source:
    """A file of a peer's repository, at one commit."""

    peer: str
    repository: str
    path: str
    commit: str

    @property
    def link(self) -> str:
        """The file at its commit, as a Markdown link."""
        return f"[{self.path}](https://github.com/{self.repository}/blob/{self.commit}/{self.path})"


@dataclass(frozen=True)
class Reason:
    """Why a peer's number is not ours: what the peer does, and what rankset does instead."""

    name: str
    told: str


@dataclass(frozen=True)
class Case:
    """Numbers of one test of a peer.

    * ``theirs``: what the peer's test expects, one entry per number; the set of one row counts as one number, written
      as a tuple of labels in ascending order. None: there is no finite threshold. "an error": the peer refuses.
    * ``ask(**inputs)``: what rankset gives for the same inputs. It must equal ``theirs``, or ``ours`` where there is a
      ``reason`` why they differ.
    * ``follow(**inputs)``: only with a ``reason``: the peer's numbers, worked out by the convention the reason names.
    * ``run``: None where the peer's test or documentation states the numbers; else the version of the peer that was run
      on the inputs of its test, because the test states no numbers.
    """

    source: Source
    test: str
    what: str
    theirs: tuple[Any, ...]
    ask: Ask
    inputs: Mapping[str, Any] = field(default_factory=dict)
    reason: Reason | None = None
    ours: tuple[Any, ...] = ()
    follow: Ask | None = None
    run: str | None = None
    tolerance: float = 1e-9

    def __post_init__(self) -> None:
        explained = (self.reason is not None, self.ours != (), self.follow is not None)
        if len(set(explained)) > 1 or (self.ours and len(self.ours) != len(self.theirs)):
            raise ValueError(f"{self.test}: a reason, our own numbers and a way to theirs belong together")

    @property
    def expected(self) -> tuple[Any, ...]:
        """What rankset must give."""
        return self.theirs if self.reason is None else self.ours

    @property
    def agreeing(self) -> int:
        """How many of the peer's numbers rankset gives as they are."""
        return sum(same(one, other, self.tolerance) for one, other in zip(self.theirs, self.expected, strict=True))


def same(one: object, other: object, tolerance: float) -> bool:
    """Whether two numbers are equal within ``tolerance``; sets, words and None are compared as they are."""
    if isinstance(one, Real) and isinstance(other, Real):
        return abs(float(one) - float(other)) <= tolerance
    return one == other
