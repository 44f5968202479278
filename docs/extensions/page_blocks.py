"""Reads the fenced blocks of a Markdown page. The tests run them (tests/docs/snippets.py), and so do pictures.

The comment on the line above a block says more about it: ``<!-- needs: torch -->`` has the note "needs" with the value
"torch".
"""

import re
from dataclasses import dataclass, replace
from itertools import zip_longest

FENCE = re.compile(
    r"^(?P<indent> *)(?P<ticks>`{3,}|~{3,}|:{3,})(?P<language>[^\s`]*)[^\n]*\n(?P<body>.*?)^(?P=indent)(?P=ticks) *$",
    re.MULTILINE | re.DOTALL,
)
HIDDEN = re.compile(r"<!-- run: hidden *\n(.*?)-->", re.DOTALL)
NOTE = re.compile(r"<!-- (\w+)(?:: (.*?))? -->\s*$")
OPTIONS = re.compile(r"(?:[ \t]*:[\w-]+:.*\n)*")
CODE = ("python", "{plot}")


@dataclass(frozen=True)
class Block:
    """One fenced block of a page, or its hidden code."""

    line: int
    language: str
    body: str
    note: str = ""
    value: str = ""
    output: str | None = None
    """What the page says that the block prints."""

    @property
    def code(self) -> str:
        """The lines without the options of a directive, with empty lines instead: numbers of lines stay."""
        options = OPTIONS.match(self.body)[0] if self.language == "{plot}" else ""
        return "\n" * options.count("\n") + self.body[len(options) :]


def blocks(text: str) -> list[Block]:
    """All fenced blocks of a page and its hidden code, in order. Other directives are looked into."""
    found = []
    for match in FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        language = match["language"]
        if match["ticks"].startswith(":") or (language.startswith("{") and language != "{plot}"):
            found.append(Block(line, language, match["body"]))
            found += [replace(block, line=block.line + line) for block in blocks(match["body"])]
        else:
            indent = len(match["indent"])
            body = "".join(row[indent:] or "\n" for row in match["body"].splitlines(keepends=True))
            note = NOTE.search(text[: match.start()])
            found.append(Block(line, language, body, note[1] if note else "", (note[2] or "") if note else ""))
    seen = {block.line for block in found}  # hidden code inside of a directive was found with it
    for match in HIDDEN.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        found += [Block(line, "python", match[1])] if line not in seen else []
    found.sort(key=lambda block: block.line)
    return [with_output(block, later, text) for block, later in zip_longest(found, found[1:])]


def with_output(block: Block, later: Block | None, text: str) -> Block:
    """The block with the ```text block that follows it at once, if there is one."""
    if block.language not in CODE or later is None or later.language != "text" or later.note:
        return block
    between = text.splitlines()[block.line + block.body.count("\n") + 1 : later.line - 1]
    return block if any(line.strip() for line in between) else replace(block, output=later.body)
