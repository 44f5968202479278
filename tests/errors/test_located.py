"""Errors about rows keep their words when rows are counted from elsewhere."""

import inspect
import pickle
from typing import get_type_hints

import pytest

from rankset import errors
from rankset.errors import located, moved

VALUES = {int: 2, float: 1.5, str: "probs", object: "row 5"}


def sentences():
    """Every sentence that tells a row's number, as a function of it."""
    for kind in errors.RanksetError.__subclasses__():
        for name, method in inspect.getmembers(kind, inspect.ismethod):
            names = list(inspect.signature(method).parameters)
            if "row" in names and not name.startswith("_"):
                yield pytest.param(method, id=f"{kind.__name__}.{name}")


def filled(method, row):
    """The sentence about a row, with plain things for everything else, texts with rows in them among those."""
    kinds = {name: kind for name, kind in get_type_hints(method).items() if name != "return"}
    return str(method(**{name: VALUES.get(kind, ["row 3", "row 4"]) for name, kind in kinds.items()} | {"row": row}))


@pytest.mark.parametrize("method", sentences())
def test_every_sentence_about_a_row_can_be_moved(method):
    assert "row 7" in filled(method, 7)
    assert moved(filled(method, 7), 1000) == filled(method, 1007)


def test_what_is_quoted_stays():
    assert moved("got 'row 3' at row 3, \"row 4\"", 10) == "got 'row 3' at row 13, \"row 4\""


def test_a_located_error_is_of_the_same_kind():
    with pytest.raises(errors.InputError, match=r"^part 2: .* at row 13, column 1") as caught, located("part 2", 10):
        raise errors.InputError.missing("probs", 3, 1)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # noqa: S301
