"""The family of exceptions."""

import inspect

import pytest

import rankset as rs
from rankset import errors

FAMILY = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, errors.RanksetError) and kind is not errors.RanksetError
]


@pytest.mark.parametrize("kind", FAMILY, ids=lambda kind: kind.__name__)
def test_every_error_is_a_rankset_error_and_one_of_pythons_own(kind):
    assert issubclass(kind, rs.RanksetError)
    pythons_own = (ValueError, TypeError, AttributeError, ModuleNotFoundError)
    assert sum(issubclass(kind, one) for one in pythons_own) == 1


def test_the_family_is_drawn_at_the_top_of_the_file():
    drawn = {line.split()[1] for line in errors.__doc__.splitlines() if line.strip().startswith(("├──", "└──"))}
    assert drawn == {kind.__name__ for kind in FAMILY}


def test_what_came_is_shown_on_one_short_line():
    assert errors.short_repr("cat") == "'cat'"
    assert errors.short_repr("a  b") == "'a b'"
    assert len(errors.short_repr(list(range(10_000)))) == 80
    assert errors.short_repr(list(range(10_000))).endswith("…")


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["a"], "'a'"),
        (list("abcde"), "'a', 'b', 'c', 'd', 'e'"),
        (range(1006), "0, 1, 2, 3, 4 and 1,001 more"),
    ],
)
def test_names_are_listed_up_to_five(names, text):
    assert errors.join_names(names) == text
