"""The class of all commands: an option that takes one value is passed once, and hidden options are not suggested."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import click


class Command(click.Command):
    """A command that refuses options it would otherwise ignore: of a value that is passed twice, click takes the last.

    Options with ``multiple=True`` and flags may be repeated.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse what was typed."""
        if not ctx.resilient_parsing:  # that is completion
            try:
                _, _, order = self.make_parser(ctx).parse_args(args=list(args))
            except click.NoSuchOption as error:
                raise self._no_such_option(error.option_name, ctx) from None
            _check_once(order, ctx)
        return super().parse_args(ctx, args)

    def _no_such_option(self, name: str, ctx: click.Context) -> click.NoSuchOption:
        """Return the error for an unknown option, with similar options that are not hidden."""
        shown = (option for option in self.get_params(ctx) if not getattr(option, "hidden", False))
        known = [flag for option in shown for flag in option.opts]
        return click.NoSuchOption(name, possibilities=get_close_matches(name, known), ctx=ctx)


class Group(click.Group):
    """A group of such commands."""

    command_class = Command


def _check_once(order: Sequence[click.Parameter], ctx: click.Context) -> None:
    """Refuse options that take one value and were passed several times; ``order`` has an entry for each time."""
    if any(one.is_eager for one in order):  # help is shown, whatever else was typed
        return
    for option in dict.fromkeys(one for one in order if _takes_one_value(one)):
        if (times := order.count(option)) > 1:
            names = " / ".join(option.opts)
            raise click.UsageError(f"{names} takes one value, but was passed {times} times. Pass it once.", ctx)


def _takes_one_value(option: Any) -> bool:
    return isinstance(option, click.Option) and not (option.multiple or option.is_flag or option.count or option.hidden)
