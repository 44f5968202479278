"""Problems for the laws: coarse grids on purpose, for many ties, and near-ties one ulp apart by normalising."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

import rankset as rs

PER_SCORE = settings(max_examples=max(10, settings.default.max_examples // 15))
"""For tests that look at every score."""

DETERMINISTIC = [
    rs.Rank(),
    rs.TopK(),
    rs.Thr(),
    rs.Margin(),
    rs.Aps(randomized=False),
    rs.Raps(penalty=0.2, free_ranks=1, randomized=False),
    rs.Saps(weight=0.15, randomized=False),
]
RANDOMIZED = [rs.Aps(), rs.Raps(penalty=0.05, free_ranks=2), rs.Saps(weight=0.2)]
IN_RANKING_ORDER = [*DETERMINISTIC, *RANDOMIZED, *(rs.TieBreak(score) for score in (rs.Rank(), rs.TopK(), rs.Aps()))]
"""Scores whose sets hold the most likely labels of every row."""
TEMPERED = [
    rs.Tempered(rs.Aps(), 1.5),
    rs.Tempered(rs.Rank(), 0.4),
    rs.TieBreak(rs.Tempered(rs.Margin(), 3.0)),
    rs.Tempered(rs.TieBreak(rs.Raps(penalty=0.2, free_ranks=1, randomized=False)), 0.7),
]
BY_CLASS = [
    rs.Thr((1.0,)),
    rs.Rank((1.0,)),
    rs.TieBreak(rs.Rank((1.0,))),
    rs.Tempered(rs.Thr((1.0,)), 1.5),
    rs.Seen(rs.Rank((1.0,)), (0,), 1),
    rs.RankLimited(rs.Thr(), (1,)),
    rs.RankLimited(rs.TieBreak(rs.Aps()), (1,)),
    rs.TieBreak(rs.RankLimited(rs.Seen(rs.Rank((1.0,)), (0,), 1), (1,))),
    rs.ClassOffsets(rs.Thr((1.0,)), (0.0,)),
    rs.ClassOffsets(rs.Tempered(rs.Aps(), 0.7), (0.0,)),
    rs.TieBreak(rs.ClassOffsets(rs.Raps(penalty=0.2, free_ranks=1, randomized=False), (0.0,))),
    rs.FuzzyClasses(rs.Thr(), (-0.5,), (1,)),
    rs.FuzzyClasses(rs.Saps(), (0.5,), (1,)),
    rs.RankLimited(rs.FuzzyClasses(rs.ClassOffsets(rs.Margin(), (0.0,)), (0.5,), (1,)), (1,)),
]
"""Scores with a number for every class."""
SCORES = [
    *IN_RANKING_ORDER,
    *TEMPERED,
    *BY_CLASS,
    rs.Seen(rs.Thr(), (0,), 1),
    rs.Seen(rs.Raps(penalty=0.2, free_ranks=1), (0,), 1),
    rs.Tempered(rs.Seen(rs.Saps(), (0,), 1), 2.0),
]
"""All scores; ``sized`` makes those for a certain number of classes fit."""
ORDER_ONLY = [rs.Rank(), rs.TopK(), rs.Thr(), rs.Margin(), rs.TieBreak(rs.Rank())]

GROUPS = ["north", "south", "west"]

scores = st.sampled_from(SCORES)


def sized(score, n_columns):
    """The score for that many classes; of three classes two were seen, and numbers of classes repeat."""
    if hasattr(score, "score"):
        score = replace(score, **numbers_of_classes(score, n_columns), score=sized(score.score, n_columns))
    elif getattr(score, "shares", None) is not None:
        score = replace(score, shares=repeated((1, 4, 0.5, 2.5), n_columns))
    return score


def numbers_of_classes(score, n_columns):
    """The parameters of a score that depend on the number of classes."""
    match score:
        case rs.Seen():
            return {"columns": [column for column in range(n_columns) if column % 3 != 1], "n_columns": n_columns}
        case rs.RankLimited():
            return {"limits": repeated((2, 1, 1, 3), n_columns)}
        case rs.ClassOffsets():
            return {"offsets": repeated((0.0, -0.25, 0.3, 0.1), n_columns)}
        case rs.FuzzyClasses():
            counts = repeated((2, 0, 5, 1), n_columns)
            steps = (-0.75, -0.5, -0.5, -0.2, -0.1) if score.fitted[0] < 0 else (0.2, 0.5, 0.5, 0.7, 1.1)
            return {"fitted": repeated(steps, sum(counts)), "counts": counts}
    return {}


def repeated(values, count):
    return tuple(values[place % len(values)] for place in range(count))


alphas = st.sampled_from([0.05, 0.1, "0.15", 0.2, Fraction(1, 4), 0.29, Fraction(1, 3), 0.5, 0.58, 0.9])


@dataclass(frozen=True)
class Problem:
    """Calibration rows and the question asked of them."""

    probs: np.ndarray
    labels: np.ndarray
    groups: list
    ids: list | None
    score: object
    condition: object

    @property
    def n(self):
        return len(self.labels)

    @property
    def keywords(self):
        return {"groups": self.groups} if self.condition.needs_groups else {}

    def rows(self, chosen):
        """The same question of some of the rows."""
        chosen = list(chosen)
        return replace(
            self,
            probs=self.probs[chosen],
            labels=self.labels[chosen],
            groups=[self.groups[row] for row in chosen],
            ids=None if self.ids is None else [self.ids[row] for row in chosen],
        )

    def calibrate(self, **changes):
        options = {"score": self.score, "condition": self.condition, "ids": self.ids} | self.keywords | changes
        return rs.calibrate(self.probs, self.labels, **options)

    def predict(self, rule, alpha, **changes):
        return rule.predict(self.probs, alpha, ids=self.ids, **self.keywords, **changes)

    def p_values(self, rule):
        return rule.p_values(self.probs, ids=self.ids, **self.keywords)


def conditions(n_columns, *, shared=True):
    """Conditions for that many classes; ``shared``: also those whose groups share rows."""
    alone = conditions_alone(n_columns)
    if not shared:
        return alone
    numbers = st.sampled_from([0.5, 5, 20, 100, 1e9])
    balanced = st.lists(st.sampled_from([1, 2, 0.3, 50]), min_size=n_columns, max_size=n_columns).map(rs.Balanced)
    factors = st.lists(st.sampled_from([1, 2, 0.3, 1e-12]), min_size=n_columns, max_size=n_columns).map(rs.LabelShift)
    weighed = st.one_of(balanced, factors)
    return st.one_of(alone, weighed, st.builds(rs.Pooled, st.one_of(alone, weighed), numbers, numbers))


def conditions_alone(n_columns):
    """Conditions whose groups use their own rows alone."""
    clusters = st.lists(st.sampled_from("ab"), min_size=n_columns, max_size=n_columns).map(tuple)
    simple = st.one_of(
        st.just(rs.Marginal()), st.just(rs.PerLabel()), clusters.map(rs.PerLabel), st.just(rs.PerGroup())
    )
    return st.one_of(simple, st.builds(rs.PerLabelAndGroup, simple, simple))


@st.composite
def rows(draw, n_rows, n_columns):
    """Rows of probabilities: few distinct weights, exact zeros, one-hot rows, all-equal rows; float32 or float64."""
    weight = st.sampled_from([0, 0, 1, 1, 2, 3, 7])
    weights = draw(
        st.lists(st.lists(weight, min_size=n_columns, max_size=n_columns).filter(any), min_size=n_rows, max_size=n_rows)
    )
    matrix = np.array(weights, dtype=draw(st.sampled_from([np.float32, np.float64]))).reshape(n_rows, n_columns)
    return matrix / matrix.sum(axis=1, keepdims=True)


@st.composite
def problems(draw, score=scores, condition=None, min_rows=2, max_rows=22, max_columns=5, *, shared=True):
    n_rows = draw(st.integers(min_rows, max_rows))
    n_columns = draw(st.integers(1, max_columns))
    return Problem(
        probs=draw(rows(n_rows, n_columns)),
        labels=np.array(draw(st.lists(st.integers(0, n_columns - 1), min_size=n_rows, max_size=n_rows))),
        groups=draw(st.lists(st.sampled_from(GROUPS), min_size=n_rows, max_size=n_rows)),
        ids=draw(st.one_of(st.none(), st.permutations(range(n_rows)))),
        score=sized(draw(score), n_columns),
        condition=draw(conditions(n_columns, shared=shared) if condition is None else condition),
    )


def conditions_on_rows(*, shared=True):
    """Conditions whose groups do not depend on labels: only these take absent labels."""
    simple = st.sampled_from([rs.Marginal(), rs.PerGroup()])
    alone = st.one_of(simple, st.builds(rs.PerLabelAndGroup, simple, simple))
    return st.one_of(alone, st.builds(rs.Pooled, alone)) if shared else alone


@st.composite
def problems_with_absent(draw, *, shared=True, **options):
    """A problem in which the true label of some rows, perhaps of all, is not among the candidates."""
    problem = draw(problems(condition=conditions_on_rows(shared=shared), **options))
    absent = draw(st.lists(st.sampled_from([False, False, False, True]), min_size=problem.n, max_size=problem.n))
    labels = np.empty(problem.n, dtype=object)
    labels[:] = [rs.ABSENT if gone else int(label) for label, gone in zip(problem.labels, absent, strict=True)]
    return replace(problem, labels=labels)


@st.composite
def problems_with_news(draw, **options):
    """A problem, and other rows to predict, with groups of which some are new."""
    problem = draw(problems(**options))
    n_rows = draw(st.integers(0, 8))
    news = replace(
        problem,
        probs=draw(rows(n_rows, problem.probs.shape[1])),
        labels=np.zeros(n_rows, dtype=int),
        groups=draw(st.lists(st.sampled_from([*GROUPS, "unseen"]), min_size=n_rows, max_size=n_rows)),
        ids=list(range(100, 100 + n_rows)) if problem.ids else None,
    )
    return problem, news


def wide_rows(seed, n_rows, n_columns, grain, dtype):
    """Many classes: sharp and flat rows, ties where ``grain`` is coarse, exact zeros, models never to always right."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n_rows, n_columns)) * rng.choice([0.1, 1, 5], (n_rows, 1))
    logits[logits < rng.choice([-np.inf, 0.0], (n_rows, 1))] = -np.inf
    logits[np.isneginf(logits).all(axis=1)] = 0
    probs = rs.softmax(np.round(logits * grain) / grain).astype(dtype)
    right = rng.random(n_rows) < rng.choice([0, 0.7, 1])
    return probs, np.where(right, probs.argmax(axis=1), rng.integers(0, n_columns, n_rows))


cases = st.tuples(
    st.integers(0, 2**32),
    st.integers(1, 30),
    st.sampled_from([50, 90, 200]),
    st.sampled_from([1, 3, 1e6]),
    st.sampled_from([np.float32, np.float64]),
)
