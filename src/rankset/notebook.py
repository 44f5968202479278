"""HTML for notebooks: texts are escaped, and no colours are set, for light and dark pages."""

from collections.abc import Iterable, Sequence

LINE = "border-bottom:1px solid rgba(128,128,128,.3)"
CELL = f"padding:.15em .7em .15em 0;text-align:left;vertical-align:top;background:none;{LINE}"
CHIP = (
    "display:inline-block;border:1px solid rgba(128,128,128,.5);border-radius:.6em;padding:0 .5em;margin:0 .3em .1em 0"
)
FAINT = "opacity:.65"


class Html(str):
    """Text that is HTML already and is not escaped again."""

    __slots__ = ()


def card(title: str, *parts: str) -> str:
    """Return a block with a title above its parts."""
    return f'<div class="rankset" style="max-width:60em"><b>{_escaped(title)}</b>{"".join(parts)}</div>'


def table(rows: Iterable[Sequence[object]], head: Sequence[str] = ()) -> str:
    """Return a table with rows of cells and an optional header; texts are escaped, ``Html`` is not."""
    heading = "".join(f'<th style="{CELL};{FAINT};font-weight:normal">{_escaped(name)}</th>' for name in head)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return (
        f'<table style="border-collapse:collapse;margin:.3em 0">{f"<tr>{heading}</tr>" if head else ""}{body}</table>'
    )


def chips(names: Iterable[object], more: int = 0) -> Html:
    """Return names side by side, and how many ``more`` there are that are not shown."""
    rest = f'<span style="{FAINT}">and {more:,} more</span>' if more > 0 else ""
    return Html("".join(f'<span style="{CHIP}">{_escaped(str(name))}</span>' for name in names) + rest)


def bar(share: float, text: str) -> Html:
    """Return a bar whose length is ``share`` of the full width, followed by a text."""
    width = 12 * min(1.0, max(0.0, share))
    box = f"display:inline-block;height:.7em;width:{width:.2f}em;background:currentColor;opacity:.35;margin-right:.5em"
    return Html(f'<span style="{box}"></span>{_escaped(text)}')


def faint(text: str) -> Html:
    """Return a text in a fainter colour."""
    return Html(f'<span style="{FAINT}">{_escaped(text)}</span>')


def _cell(value: object) -> str:
    return f'<td style="{CELL}">{value if isinstance(value, Html) else _escaped(str(value))}</td>'


def _escaped(text: str) -> str:
    from html import escape

    return escape(text)
