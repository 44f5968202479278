"""Every error carries fields, is written for Python and for the command line, and survives borders of processes."""

import copy
import inspect
import pickle
import re
from collections.abc import Sequence
from typing import get_args, get_origin, get_type_hints

import pytest

from rankset import errors
from rankset.errors import (
    COMMAND_LINE,
    PYTHON,
    Either,
    FileError,
    InputError,
    LabelError,
    LevelError,
    Option,
    Place,
    RanksetError,
    RanksetWarning,
    kept_warnings,
    located,
    warn,
)
from rankset.errors.fields import FLAGS, render_text
from refusals import fields_of

VALUES = {int: 2, float: 1.5, str: "probs", object: "row 5", type: int}


def example(kind):
    """Return a plain value of a type that constructors of errors take."""
    if kind in VALUES:
        return VALUES[kind]
    if get_origin(kind) is tuple:
        return (3, 4)
    if get_origin(kind) is Sequence:
        return ["row 3", "row 4"]
    return next(VALUES[one] for one in get_args(kind) if one in VALUES)


def made(constructor, **changes):
    """Return the error of a constructor, with plain values for its parameters, texts with rows in them among those."""
    kinds = {name: kind for name, kind in get_type_hints(constructor).items() if name != "return"}
    values = {name: "Do this." if name == "remedy" else example(kind) for name, kind in kinds.items()}
    return constructor(**values | changes)


CONSTRUCTORS = {
    f"{kind.__name__}.{name}": method
    for kind in RanksetError.__subclasses__()
    for name, method in inspect.getmembers(kind, inspect.ismethod)
    if not name.startswith("_")
}
WITH_A_ROW = {
    name: constructor
    for name, constructor in CONSTRUCTORS.items()
    if "row" in inspect.signature(constructor).parameters and name != "RowError.number"  # there it is the value
}

every_constructor = pytest.mark.parametrize("constructor", CONSTRUCTORS.values(), ids=CONSTRUCTORS.keys())


@every_constructor
def test_every_error_says_what_must_be_how(constructor):
    error = made(constructor)
    assert error.what
    assert error.expected
    text = str(error)
    assert text.startswith(f"{error.where.prefix}{error.what} must ")
    assert text[-1] in ".?"
    assert not re.search(r"\.\.$|  |\s[.,;]\s|\.\s*,", text), text


@every_constructor
def test_python_shows_no_flag_and_the_command_line_no_argument(constructor):
    error = made(constructor)
    assert "--" not in error.render(PYTHON)
    assert not re.search(r"\w=", error.render(COMMAND_LINE)), error.render(COMMAND_LINE)
    assert str(error) == error.render(PYTHON)


@every_constructor
def test_fields_cross_borders_of_processes(constructor):
    error = made(constructor)
    error.where = error.where.inside(Place(part="partition 3"))
    error.add_note("noted")
    for same in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):  # noqa: S301
        assert type(same) is type(error)
        assert fields_of(same) == fields_of(error)
        assert same.__notes__ == ["noted"]
        assert str(same) == str(error)
        assert same.render(COMMAND_LINE) == error.render(COMMAND_LINE)


@pytest.mark.parametrize("constructor", WITH_A_ROW.values(), ids=WITH_A_ROW.keys())
def test_rows_are_counted_from_the_start_of_a_part(constructor):
    with pytest.raises(RanksetError) as caught, located(first_row=1000):
        raise made(constructor, row=7)
    assert caught.value.where.row == 1007
    assert fields_of(caught.value) == fields_of(made(constructor, row=1007))
    assert str(caught.value) == str(made(constructor, row=1007))


@every_constructor
def test_errors_without_a_row_have_none_to_count(constructor):
    error = made(constructor)
    assert (error.where.row is None) == (constructor not in WITH_A_ROW.values())


def test_a_place_is_added_and_the_nearest_one_stays():
    cause = KeyError("x")
    far, near = located(Place(file="far.csv", part="partition 9"), 100), located(Place(file="near.csv"), 10)
    with pytest.raises(InputError) as caught, far, near:
        raise InputError.missing("probs", 3, 1) from cause
    assert caught.value.where == Place("near.csv", "partition 9", 113, 1)
    assert caught.value.__cause__ is cause
    assert str(caught.value).startswith(
        "near.csv: partition 9: probs must not contain NaN, got NaN at row 113, column 1."
    )


def test_an_error_of_words_alone_is_those_words():
    assert str(InputError("just this")) == "just this"
    assert repr(InputError("just this")) == "InputError('just this')"


@pytest.mark.parametrize(
    ("option", "python", "command_line"),
    [
        (Option("kind", "probs"), "kind='probs'", "--kind probs"),
        (Option("alpha", 0.1), "alpha=0.1", "--alpha 0.1"),
        (Option("groups"), "groups=", "--group"),
        (Option("ids"), "ids=", "--id"),
        (Option("force", value=True), "force=True", "--force"),
        (Option("classes", range(1, 4)), "classes=range(1, 4)", "--classes"),
        (Option("label", "two words"), "label='two words'", "--label 'two words'"),
        (Option("backend", "pandas"), "backend='pandas'", "backend pandas"),
        (Either("here", "there"), "here", "there"),
        (("pass ", (Option("kind", "logits"), ".")), "pass kind='logits'.", "pass --kind logits."),
    ],
)
def test_options_are_written_for_their_reader(option, python, command_line):
    assert render_text(option, PYTHON) == python
    assert render_text(option, COMMAND_LINE) == command_line


def test_every_flag_is_one_of_the_command_line():
    from rankset.cli.commands import COMMANDS, rankset

    commands = [rankset.get_command(None, name) for name in COMMANDS]
    flags = {flag for command in commands for option in command.params for flag in option.opts}
    assert set(FLAGS.values()) <= flags


@pytest.mark.parametrize(
    ("error", "python", "command_line"),
    [
        (
            InputError.row_sum("probs", 4, 1.5),
            (
                "probs must have rows that sum to 1 within 0.01, got the sum 1.5 at row 4. "
                "For logits pass kind='logits'. For margins or similarities pass kind='decision'. "
                "For a probability of its own for every label pass kind='marginals'."
            ),
            (
                "probs must have rows that sum to 1 within 0.01, got the sum 1.5 at row 4. "
                "For logits pass --kind logits. For margins or similarities pass --kind decision. "
                "For a probability of its own for every label pass --kind marginals."
            ),
        ),
        (
            LabelError.groups_unused("Marginal()"),
            (
                "groups must not be passed if the condition does not use groups, got groups for 'Marginal()'. "
                "Calibrate with condition=PerGroup(), or do not pass groups."
            ),
            (
                "groups must not be passed if the condition does not use groups, got groups for 'Marginal()'. "
                "Calibrate with --group, or do not pass groups."
            ),
        ),
        (
            LevelError.out_of_range(0),
            (
                "alpha must lie strictly between 0 and 1, got 0. "
                "alpha is the allowed error rate. For 90% coverage pass alpha=0.1."
            ),
            (
                "alpha must lie strictly between 0 and 1, got 0. "
                "alpha is the allowed error rate. For 90% coverage pass --alpha 0.1."
            ),
        ),
        (
            FileError.not_numbers("a.csv", "dose", "'x'", 3),
            (
                "a.csv: scores must be numbers, got 'x' at row 3, column 'dose'. "
                "If the column is not a class, use it as label, group or id, or drop it."
            ),
            (
                "a.csv: scores must be numbers, got 'x' at row 3, column 'dose'. "
                "If the column is not a class, use it as label, group or id, or drop it with --drop."
            ),
        ),
        (
            FileError.exists("a.csv"),
            "a.csv: the output must be a new file, but it exists already. Pass force=True to replace it.",
            "a.csv: the output must be a new file, but it exists already. Pass --force to replace it.",
        ),
    ],
)
def test_sentences(error, python, command_line):
    assert str(error) == python
    assert error.render(COMMAND_LINE) == command_line


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (InputError.negative("probs", 0, 0, -1e-12, 1.0), "rounding"),
        (InputError.negative("probs", 0, 0, -0.5, 1.0), "logits"),
        (InputError.row_sum("probs", 0, 100.4), "percentages"),
        (InputError.row_sum("probs", 0, 3.0), "logits"),
        (InputError.not_in_unit_interval("probs", 0, 30.0, 90.0), "percentages"),
        (InputError.not_in_unit_interval("probs", 0, -0.1, 90.0), "sigmoid"),
        (InputError.not_in_unit_interval("probs", 0, 1.2, 1.2), "sigmoid"),
    ],
)
def test_the_remedy_depends_on_the_numbers(error, words):
    remedies = {"rounding", "logits", "percentages", "sigmoid"} - ({"logits"} if words == "sigmoid" else set())
    assert [word for word in sorted(remedies) if word in render_text(error.remedy, PYTHON)] == [words]


def test_warnings_are_written_for_their_reader_and_given_once():
    def twice():
        errors.warn("pass ", Option("kind", "probs"), ".")
        errors.warn("pass ", Option("kind", "probs"), ".")

    with pytest.warns(errors.RanksetWarning) as caught, errors.once():
        twice()
    (warning,) = (one.message for one in caught)
    assert str(warning) == "pass kind='probs'."
    assert warning.render(COMMAND_LINE) == "pass --kind probs."
    assert pickle.loads(pickle.dumps(warning)).text == warning.text  # noqa: S301


def test_warnings_can_be_kept_instead_of_given():
    """They are not given then, and those outside are."""
    with kept_warnings() as found:
        warn("Check ", Option("alpha"), ".")
    assert [one.render(COMMAND_LINE) for one in found] == ["Check --alpha."]
    with pytest.warns(RanksetWarning, match="outside"):
        warn("outside")
    assert len(found) == 1
