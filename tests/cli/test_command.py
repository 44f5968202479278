"""What all commands have in common: options that take one value, and suggestions for options that do not exist."""

import click
import pytest
from click.testing import CliRunner

from rankset.cli.command import Command
from rankset.cli.commands import COMMANDS, rankset


def run(*arguments):
    return CliRunner().invoke(rankset, arguments)


def all_commands(group=rankset, names=()):
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from all_commands(command, (*names, name))
        else:
            yield (*names, name), command


OPTIONS = [
    (names, option) for names, command in all_commands() for option in command.params if option.opts[0][0] == "-"
]
SINGLE = [(names, option) for names, option in OPTIONS if not (option.multiple or option.is_flag or option.hidden)]


def test_every_command_is_of_the_class_that_checks_options():
    commands = dict(all_commands())
    assert {names[0] for names in commands} == set(COMMANDS)
    assert {type(command) for command in commands.values()} == {Command}
    assert ("paper", "table") in commands


@pytest.mark.parametrize(("names", "option"), SINGLE, ids=lambda one: getattr(one, "name", None) or " ".join(one))
def test_an_option_with_one_value_is_passed_once(names, option):
    spelled = " / ".join(option.opts)
    for times in (2, 3):
        passed = [word for place in range(times) for word in (option.opts[place % len(option.opts)], "1")]
        done = run(*names, *passed)
        assert done.exit_code == 2
        assert f"Error: {spelled} takes one value, but was passed {times} times. Pass it once.\n" in done.stderr
        assert run(*names, *passed, "--help").exit_code == 0


def test_other_options_may_be_repeated(tmp_path):
    done = run("compare", "no.csv", *("--method", "aps") * 2, *("--alpha", "0.1") * 2, *("--drop", "a") * 2)
    assert (done.exit_code, "no.csv" in done.stderr) == (1, True)
    assert run("demo", str(tmp_path), "--force", "--force").exit_code == 0
    done = run("compare", "a.csv", "--confidence", "0.9", "--confidence", "0.8")
    assert "No such option: --confidence. Did you mean --alpha 0.2?" in done.stderr


HIDDEN = {option.opts[0] for _, option in OPTIONS if option.hidden}


@pytest.mark.parametrize("names", [" ".join(names) for names, _ in all_commands()])
def test_hidden_options_are_never_suggested(names):
    assert "--level" in HIDDEN
    for flag in ("--json", "--labell", *(f"{flag}x" for flag in sorted(HIDDEN))):
        done = run(*names.split(), flag, "1")
        if "No such option" in done.stderr:
            assert done.exit_code == 2
            shown = {
                text for of, option in OPTIONS if " ".join(of) == names and not option.hidden for text in option.opts
            }
            unwanted = HIDDEN - {flag} - shown
            assert not {hidden for hidden in unwanted if f"'{hidden}'" in done.stderr}


def test_similar_options_are_suggested():
    assert "'--group'" in run("evaluate", "--grup", "x").stderr
    assert "'--label'" in run("calibrate", "--labell", "x").stderr
    assert "Did you mean" not in run("predict", "--labell", "x").stderr
