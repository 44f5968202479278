"""Tests look at the fields of an error; only tests of rendering look at its words."""

from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from rankset.errors import COMMAND_LINE, PYTHON, RanksetError
from rankset.errors.fields import render_text

TEXTS = ("what", "expected", "received", "reason", "remedy")
PLACES = ("file", "part", "row", "column")


@dataclass(frozen=True)
class Like:
    """Errors of a class that have some fields, for lists of cases."""

    kind: type[RanksetError]
    fields: dict[str, Any]


def like(kind, /, **fields):
    """Return a description of errors of the class ``kind`` that have these ``fields``."""
    return Like(kind, fields)


def fields_of(error):
    """Return all fields of an error as plain values, options as Python writes them."""
    texts = {name: render_text(getattr(error, name), PYTHON) for name in TEXTS}
    return texts | {name: getattr(error.where, name) for name in PLACES}


def check_refusal(error, wanted, /, **fields):
    """Check that ``error`` is the ``wanted`` one, or is of that class and has these ``fields``.

    Together with an error, ``fields`` are those that differ from it: ``file`` and ``part``, mostly.
    """
    found = fields_of(error)
    if isinstance(wanted, RanksetError):
        assert type(error) is type(wanted), repr(error)
        assert found == fields_of(wanted) | fields
        return
    kind, fields = (wanted.kind, wanted.fields | fields) if isinstance(wanted, Like) else (wanted, fields)
    assert isinstance(error, kind), repr(error)
    assert {name: found[name] for name in fields} == fields


@contextmanager
def refused(wanted, /, **fields):
    """Inside, an error must be raised: the ``wanted`` one, or one of that class with these ``fields``."""
    with pytest.raises(RanksetError) as caught:
        yield caught
    check_refusal(caught.value, wanted, **fields)


def failure(*arguments, stdin=None):
    """Run a command that must fail with an error of the library, and return the error."""
    from click.testing import CliRunner

    from rankset.cli.commands import Failure, rankset

    done = CliRunner().invoke(rankset, [str(one) for one in arguments], input=stdin, standalone_mode=False)
    assert isinstance(done.exception, Failure), repr(done.exception)
    error = done.exception.__cause__
    assert isinstance(error, RanksetError), repr(error)
    assert done.exception.message == error.render(COMMAND_LINE)
    return error


def said(call, *arguments, **options):
    """Call a function that must raise an error of the library, and return its words."""
    with pytest.raises(RanksetError) as caught:
        call(*arguments, **options)
    return str(caught.value)
