"""Reads the code of a Markdown page and runs it as a reader would: block after block, in one folder.

Blocks that are run
    ```python      code; blocks of a page share their names
    ```{plot}      code that draws a figure; the site shows the figure
    ```console     lines that start with "$ " are commands of a shell; the other lines are what they print
What a block prints stands in a ```text block below it, and is compared: "..." or "…" stands for anything.
A console block may show commands that install or build (pip install, git, run.py); these alone are not run.
A comment on the line above a block says more about it:
    <!-- needs: torch -->          the block is run where this package is installed (run.py tensors, models, engines)
    <!-- raises -->                the block ends with an error, and its last line is the ```text block below
    <!-- warns: beginning -->      the block gives this warning
    <!-- file: name.csv -->        the ```text, ```json or other block below is written to this file
    <!-- shown -->                 the ```text block below is no output, although it stands below code
    <!-- run: hidden -->           at the top of a comment: the lines below it are run, but not shown
``faults`` finds what would be neither run nor compared.
"""

import contextlib
import doctest
import importlib.util
import io
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "docs" / "extensions"))

from page_blocks import blocks  # noqa: E402 - found by the line above

RUN = ("python", "{plot}", "console")
SHOWN = ("text", "json", "yaml", "toml", "latex", "csv", "html", "javascript", "bibtex", "bash")
"""Languages of blocks that are read, not run. bash: set-up commands of a machine or a shell."""
DIRECTIVES = (
    "eval-rst",
    "glossary",
    "grid",
    "grid-item-card",
    "include",
    "literalinclude",
    "plot",
    "raw",
    "tab-item",
    "tab-set",
    "toctree",
)
"""Directives that show no code of a page, or whose blocks are looked into."""
NOTES = {
    "needs": RUN,
    "raises": RUN,
    "warns": ("python", "{plot}"),
    "file": SHOWN,
    "shown": SHOWN,
    "definitions": ("text",),
    "errors": ("text",),
    "proven": ("text",),
    "summary": ("text",),
    "table": ("text",),
    "temperatures": ("text",),
}
"""Comments above blocks, and the languages of these blocks. Programs in experiments/ write the last six tables."""
OUTSIDE = {
    "a fence that is not read": r"^[ \t]*(?:(?:[-*+>]|\d+[.)])[ \t]+)*(?:`{3,}|~{3,})[^`\n]*$",
    "indented code": r"(?<=\n\n)(?: {4,}|\t)(?![-*\d|])\S[^\n]*",
    "code in HTML": r"<(?:pre|code|script)\b[^\n]*",
}
IN_RST = r"^ *\.\. (?:code|code-block|sourcecode|parsed-literal|doctest|testcode|plot)::.*$|^ *>>>.*$|::$(?=\n\n +\S)"
LITTLE = re.compile(r"[\s.…]*")
NOT_RUN = r"(?:pip install|git|python3 run\.py)\b[^;&|`$()]*"
MATCH = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.DONT_ACCEPT_TRUE_FOR_1


def faults(text):
    """What on a page would be neither run nor compared, as lines of text."""
    found = blocks(text)
    outside = re.sub(r"^( *)(`{3,}|~{3,}|:{3,}).*?^\1\2 *$", "", text, flags=re.MULTILINE | re.DOTALL)
    for what, pattern in OUTSIDE.items():
        yield from (f"{what}: {match[0].strip()}" for match in re.finditer(pattern, outside, re.MULTILINE))
    for block, before in zip(found, [None, *found], strict=False):
        yield from (f"line {block.line}: {fault}" for fault in faults_of_block(block, before))


def faults_of_block(block, before):
    directive = re.fullmatch(r"\{([\w-]+)\}", block.language)
    if not (directive and directive[1] in DIRECTIVES) and block.language not in {*RUN, *SHOWN}:
        yield f"unknown language {block.language!r}"
    elif not directive and re.search(r"^[ >]*(?:```|~~~)", block.body, re.MULTILINE):
        yield "a fence inside of a block, as if the block had no end"
    if block.language == "{eval-rst}":
        yield from (f"code in reStructuredText: {match[0]}" for match in re.finditer(IN_RST, block.body, re.MULTILINE))
    if block.note and block.language not in NOTES.get(block.note, ()):
        yield f"the comment {block.note!r} does not belong above {block.language!r}"
    if block.note in {"needs", "warns", "file"} and not block.value.strip():
        yield f"the comment {block.note!r} has no value"
    if block.note == "raises" and block.language != "console" and block.output is None:
        yield "no message is shown below a block that raises"
    if block.output is not None and LITTLE.fullmatch(block.output):
        yield "nothing of the output is compared"
    output = before is not None and before.output == block.body
    if block.language == "text" and not (block.note or output) and before is not None and before.language in RUN:
        yield "text below code that is not compared with what it prints"


def run_page(path, folder):
    """Run every block of a page in a folder; fail with the line of the page that does not hold."""
    names = {"__name__": path.stem}
    with contextlib.chdir(folder):
        for block in blocks(path.read_text(encoding="utf-8")):
            where = f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path.name}:{block.line}"
            if block.note == "needs" and not all(map(importlib.util.find_spec, block.value.replace(",", " ").split())):
                continue
            if block.note == "file":
                Path(block.value).write_text(block.body, encoding="utf-8")
            elif block.language == "console":
                run_console(block, where)
            elif block.language in RUN:
                run_python(block, where, names)


def run_python(block, where, names):
    printed = io.StringIO()
    source = compile("\n" * block.line + block.code, where, "exec", dont_inherit=True)
    with contextlib.redirect_stdout(printed), warnings.catch_warnings(record=block.note == "warns") as heard:
        if block.note == "warns":
            warnings.simplefilter("always")
        try:
            exec(source, names)  # noqa: S102
        except Exception as error:
            if block.note != "raises":
                raise AssertionError(f"{where} raised {type(error).__name__}: {error}") from error
            printed.write(f"{type(error).__name__}: {error}\n")
        else:
            assert block.note != "raises", f"{where} raises no error"
    if block.note == "warns":
        assert any(str(warning.message).startswith(block.value) for warning in heard), (where, list(map(str, heard)))
    if block.output is not None:
        compare(block.output, printed.getvalue(), where)
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert block.language != "{plot}" or (pyplot and pyplot.get_fignums()), f"{where} draws no figure"
    if pyplot:
        pyplot.close("all")


def run_console(block, where):
    """Run the commands, and compare what is printed (both streams) where the page shows something."""
    parts = re.split(r"^\$ ", block.body, flags=re.MULTILINE)
    assert not parts[0].strip(), f"{where}: a console block starts with '$ '"
    failed = []
    for part in parts[1:]:
        command, _, expected = re.sub(r"\\\n", " ", part).partition("\n")
        command = re.sub(r"\s+#.*$", "", command)
        words = command.split()
        if re.fullmatch(NOT_RUN, command):
            jobs = (ROOT / "run.py").read_text(encoding="utf-8")
            assert words[:2] != ["python3", "run.py"] or f'"{words[2]}": Job(' in jobs, f"{where}: no job {words[2]}"
            continue
        if sys.platform == "win32":  # its bash may be that of another system
            continue
        search = [str(Path(sys.executable).parent), os.environ["PATH"]]
        variables = {**os.environ, "PATH": os.pathsep.join(search), "COLUMNS": "100", "MPLBACKEND": "agg"}
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=120,
            check=False,
        )
        failed += [command] if done.returncode else []
        assert block.note == "raises" or not failed, f"{where}: {command}\n{done.stdout}"
        if expected.strip():
            compare(expected, done.stdout, f"{where}: {command}")
    assert block.note != "raises" or failed, f"{where}: no command fails"


def compare(expected, printed, where):
    expected = expected.replace("…\n", "...\n") if "…" not in printed else expected
    if not doctest.OutputChecker().check_output(expected, printed, MATCH):
        pytest.fail(f"{where} prints something else.\n--- the page\n{expected}\n--- printed\n{printed}", pytrace=False)
