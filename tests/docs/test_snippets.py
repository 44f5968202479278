"""Mistakes that are planted in small pages are found: nothing on a page escapes being run and compared."""

import pytest

from docs.snippets import faults, run_page


def fence(language, *lines, mark="```"):
    return "\n".join([f"{mark}{language}", *lines, mark, ""])


def run(folder, *parts):
    page = folder / "page.md"
    page.write_text("# Page\n\n" + "\n".join(parts), encoding="utf-8")
    (folder / "empty").mkdir()
    run_page(page, folder / "empty")


HIDDEN = "<!-- run: hidden\nprint(1 / 0)\n-->\n"
PRINTS_1 = fence("python", "print(1)")
FAILS = fence("python", "1 / 0")
RAISES = "<!-- raises -->\n"
GOOD = {
    "output": [PRINTS_1, fence("text", "1")],
    "names of earlier blocks": [fence("python", "a = 1"), "Words.\n", fence("python", "print(a)"), fence("text", "1")],
    "dots": [fence("python", "print(*range(9), sep='\\n')"), fence("text", "0", "...", "8")],
    "an ellipsis": [fence("python", "print(*range(9), sep='\\n')"), fence("text", "0", "…", "8")],
    "an error": [RAISES + FAILS, fence("text", "ZeroDivisionError: division by zero")],
    "a warning": ["<!-- warns: old -->\n" + fence("python", "import warnings", "warnings.warn('old thing')")],
    "a file": [
        "<!-- file: a.txt -->\n" + fence("text", "x"),
        fence("python", "from pathlib import Path; print(Path('a.txt').read_text())"),
        fence("text", "x"),
    ],
    "commands": [fence("console", "$ echo a  # a comment", "a", "$ echo b | cat", "b")],
    "a long command": [fence("console", "$ echo a \\", "    b", "a b")],
    "a command that fails": [RAISES + fence("console", "$ echo no && false", "no")],
    "commands that are not run": [
        fence("console", "$ pip install nothing", "$ git clone nothing", "$ python3 run.py docs")
    ],
}
BAD = {
    "output": [PRINTS_1, fence("text", "2")],
    "one line of an output": [fence("python", "print(1, 2, 3, sep='\\n')"), fence("text", "1", "3")],
    "no output": [PRINTS_1, fence("text", "")],
    "1 for True": [fence("python", "print(True)"), fence("text", "1")],
    "an output of code with attributes": ["```python {.wide}\nprint(1)\n```\n", fence("text", "2")],
    "the end of an output with dots": [fence("python", "print(*range(9), sep='\\n')"), fence("text", "0", "...", "9")],
    "code that raises": [FAILS],
    "code that is no Python": [fence("python", "$ rankset --help")],
    "code that raises another error": [RAISES + FAILS, fence("text", "ValueError: division by zero")],
    "code that raises no error": [RAISES + PRINTS_1, fence("text", "1")],
    "code that gives no warning": ["<!-- warns: old -->\n" + PRINTS_1],
    "code that gives another warning": [
        "<!-- warns: old -->\n" + fence("python", "import warnings", "warnings.warn('new')")
    ],
    "code that gives a warning": [fence("python", "import warnings", "warnings.warn('old')")],
    "hidden code": [HIDDEN],
    "a plot that raises": [fence("{plot}", ":alt: words", "1 / 0")],
    "a plot without a figure": [fence("{plot}", ":alt: words", "a = 1")],
    "code after a block that needs a package": ["<!-- needs: no_such_package -->\n" + FAILS, FAILS],
    "code whose package is there": ["<!-- needs: numpy -->\n" + FAILS],
    "code of a tilde fence": [fence("python", "1 / 0", mark="~~~")],
    "code of a long fence": [fence("python", "1 / 0", mark="`````")],
    "code in a list": ["* item\n\n  ```python\n  1 / 0\n  ```\n"],
    "the output of code in a list": ["* item\n\n  ```python\n  print(1)\n  ```\n\n  ```text\n  2\n  ```\n"],
    "code in a tab": ["::::{tab-set}\n:::{tab-item} rankset\n" + FAILS + ":::\n::::\n"],
    "the output of code in a tab": [":::{tab-item} rankset\n" + PRINTS_1 + "\n" + fence("text", "2") + ":::\n"],
    "code in a tab of backticks": ["````{tab-item} rankset\n" + FAILS + "````\n"],
    "hidden code in a tab": [":::{tab-item} rankset\n" + HIDDEN + ":::\n"],
    "the output of a command": [fence("console", "$ echo a", "b")],
    "the output of the first of two commands": [fence("console", "$ echo a", "b", "$ echo b", "b")],
    "a command that fails": [fence("console", "$ false")],
    "a command that fails before a pipe": [fence("console", "$ false | cat")],
    "a command that does not exist": [fence("console", "$ rankset-no-such-command", "...")],
    "a command that does not fail": [RAISES + fence("console", "$ echo a", "a")],
    "a command after one that is not run": [fence("console", "$ git status && false")],
    "a command after another one that is not run": [fence("console", "$ pip install nothing; false")],
    "no job of run.py": [fence("console", "$ python3 run.py dogs")],
    "a console without commands": [fence("console", "rankset --help")],
}


ESCAPES = {
    "no language": (fence("", "1 / 0"), "line 1: unknown language ''"),
    "another name of Python": (fence("py", "1 / 0"), "line 1: unknown language 'py'"),
    "a session of Python": (fence("pycon", ">>> 1 / 0"), "line 1: unknown language 'pycon'"),
    "a directive that shows code": (fence("{code-block} python", "1 / 0"), "line 1: unknown language '{code-block}'"),
    "a directive with colons": (fence("{code} python", "1 / 0", mark=":::"), "line 1: unknown language '{code}'"),
    "a language as an attribute": (fence("{.python}", "1 / 0"), "line 1: unknown language '{.python}'"),
    "a block around blocks": (fence("markdown", FAILS, mark="````"), "line 1: unknown language 'markdown'"),
    "reStructuredText": (
        fence("{eval-rst}", ".. code-block:: python", "", "   1 / 0"),
        "line 1: code in reStructuredText: .. code-block:: python",
    ),
    "an example in reStructuredText": (
        fence("{eval-rst}", ".. py:data:: x", "", "   >>> 1 / 0"),
        "line 1: code in reStructuredText:    >>> 1 / 0",
    ),
    "a literal block": (fence("{eval-rst}", "Code::", "", "   1 / 0"), "line 1: code in reStructuredText: ::"),
    "beside a bullet": ("- ```python\n  1 / 0\n  ```\n", "a fence that is not read: - ```python"),
    "in a quotation": ("> ```python\n> 1 / 0\n> ```\n", "a fence that is not read: > ```python"),
    "after a tab": ("\t```python\n\t1 / 0\n\t```\n", "a fence that is not read: ```python"),
    "without an end": ("```python\n1 / 0\n", "a fence that is not read: ```python"),
    "with a longer end": (
        "```text\nx\n````\n\n" + FAILS,
        "line 1: a fence inside of a block, as if the block had no end",
    ),
    "indented": ("Words.\n\n    fails()\n", "indented code: fails()"),
    "indented by a tab": ("Words.\n\n\tfails()\n", "indented code: fails()"),
    "HTML": ("<pre>1 / 0</pre>\n", "code in HTML: <pre>1 / 0</pre>"),
    "words before an output": (
        f"{PRINTS_1}\nIt prints:\n\n{fence('text', '2')}",
        "line 7: text below code that is not compared with what it prints",
    ),
    "a comment before an output": (
        f"{PRINTS_1}\n<!-- some words -->\n{fence('text', '2')}",
        "line 6: text below code that is not compared with what it prints",
    ),
    "an output below a console": (
        fence("console", "$ echo a") + "\n" + fence("text", "b"),
        "line 5: text below code that is not compared with what it prints",
    ),
    "an unknown comment": (
        f"{PRINTS_1}\n<!-- later -->\n{fence('text', '2')}",
        "line 6: the comment 'later' does not belong above 'text'",
    ),
    "code as a file": (
        "<!-- file: a.py -->\n" + FAILS,
        "line 2: the comment 'file' does not belong above 'python'",
    ),
    "any package": ("<!-- needs -->\n" + FAILS, "line 2: the comment 'needs' has no value"),
    "any warning": ("<!-- warns -->\n" + FAILS, "line 2: the comment 'warns' has no value"),
    "any error": (RAISES + FAILS, "line 2: no message is shown below a block that raises"),
    "any output": (PRINTS_1 + "\n" + fence("text", "..."), "line 1: nothing of the output is compared"),
}


@pytest.mark.parametrize("parts", GOOD.values(), ids=GOOD)
def test_pages_without_a_mistake_pass(parts, tmp_path):
    run(tmp_path, *parts)
    assert list(faults((tmp_path / "page.md").read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("parts", BAD.values(), ids=BAD)
def test_a_mistake_on_a_page_is_found(parts, tmp_path):
    mistakes = (AssertionError, SyntaxError, Warning, pytest.fail.Exception)
    with pytest.raises(mistakes):
        run(tmp_path, *parts)


@pytest.mark.parametrize(("text", "fault"), ESCAPES.values(), ids=ESCAPES)
def test_code_that_would_escape_is_found(text, fault):
    assert fault in list(faults(text))
