"""Tests look at the fields of an error; only tests of rendering look at its words."""

from contextlib import contextmanager

import pytest

from rankset.errors import PYTHON, RanksetError
from rankset.errors.fields import render_text

TEXTS = ("what", "expected", "received", "reason", "remedy")
PLACES = ("file", "part", "row", "column")


def fields_of(error):
    """Return all fields of an error as plain values, options as Python writes them."""
    texts = {name: render_text(getattr(error, name), PYTHON) for name in TEXTS}
    return texts | {name: getattr(error.where, name) for name in PLACES}


def check_refusal(error, expected, **fields):
    """Check that ``error`` is the ``expected`` one, or of that class and has these ``fields``.

    Together with an error, ``fields`` are those that differ from it: ``file`` and ``part``, mostly.
    """
    found = fields_of(error)
    if isinstance(expected, RanksetError):
        assert type(error) is type(expected), repr(error)
        assert found == fields_of(expected) | fields
    else:
        assert isinstance(error, expected), repr(error)
        assert {name: found[name] for name in fields} == fields


@contextmanager
def refused(expected, **fields):
    """Inside, an error must be raised: the ``expected`` one, or one of that class with these ``fields``."""
    kind = type(expected) if isinstance(expected, RanksetError) else expected
    with pytest.raises(kind) as caught:
        yield caught
    check_refusal(caught.value, expected, **fields)
