"""Print text that is safe for terminals. This module and ``commands`` import neither NumPy nor the library."""

from __future__ import annotations

import sys

import click

from rankset.errors import FileError


def echo(text: str, *, err: bool = False) -> None:
    """Print text; characters that the terminal would obey or cannot show are escaped."""
    if (sys.stderr if err else sys.stdout) is None:
        if not err:
            raise FileError.unwritable("-", "standard output is closed")
        return
    escaped = "".join(one if one.isprintable() or one == "\n" else ascii(one)[1:-1] for one in text)
    encoding = getattr(sys.stderr if err else sys.stdout, "encoding", None) or "utf-8"
    click.echo(escaped.encode(encoding, "backslashreplace").decode(encoding), err=err)
