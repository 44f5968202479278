"""Reads the code of a Markdown page and runs it as a reader would: block after block, in one folder.

Blocks that are run
    ```python      code; blocks of a page share their names
    ```{plot}      code that draws a figure; the site shows the figure
    ```console     lines that start with "$ " are commands of a shell; the other lines are what they print
What a block prints stands in a ```text block below it, and is compared: "..." or "…" stands for anything.
A comment on the line above a block says more about it:
    <!-- needs: torch -->          the block is run where this package is installed (run.py tensors, run.py engines)
    <!-- raises -->                the block ends with an error, and its last line is the ```text block below
    <!-- warns: beginning -->      the block gives this warning
    <!-- file: name.csv -->        the ```text, ```json or other block below is written to this file
    <!-- run: hidden -->           at the top of a comment: the lines below it are run, but not shown
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
MATCH = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def run_page(path, folder):
    """Run every block of a page in a folder; fail with the line of the page that does not hold."""
    names = {"__name__": path.stem}
    with contextlib.chdir(folder):
        for block in blocks(path.read_text(encoding="utf-8")):
            where = f"{path.relative_to(ROOT)}:{block.line}"
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
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def run_console(block, where):
    """Run the commands, and compare what is printed (both streams) where the page shows something."""
    parts = re.split(r"^\$ ", block.body, flags=re.MULTILINE)
    assert not parts[0].strip(), f"{where}: a console block starts with '$ '"
    for part in parts[1:]:
        command, _, expected = re.sub(r"\\\n", " ", part).partition("\n")
        command = re.sub(r"\s+#.*$", "", command)
        words = command.split()
        if words[:2] == ["pip", "install"] or words[:1] == ["git"]:
            continue
        if words[:2] == ["python3", "run.py"]:
            assert f'"{words[2]}": Job(' in (ROOT / "run.py").read_text(), f"{where}: no job {words[2]}"
            continue
        search = [str(Path(sys.executable).parent), os.environ["PATH"]]
        variables = {**os.environ, "PATH": os.pathsep.join(search), "COLUMNS": "100", "MPLBACKEND": "agg"}
        done = subprocess.run(
            ["bash", "-c", command],
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=120,
            check=False,
        )
        if not (block.note == "raises" and done.returncode):
            assert done.returncode == 0, f"{where}: {command}\n{done.stdout}"
        if expected.strip():
            compare(expected, done.stdout, f"{where}: {command}")


def compare(expected, printed, where):
    expected = expected.replace("…\n", "...\n") if "…" not in printed else expected
    if not doctest.OutputChecker().check_output(expected, printed, MATCH):
        pytest.fail(f"{where} prints something else.\n--- the page\n{expected}\n--- printed\n{printed}", pytrace=False)
