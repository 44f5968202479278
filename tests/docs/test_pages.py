"""Every snippet on every page runs, and prints what the page shows."""

import re
import shlex

import pytest

from docs.snippets import ROOT, blocks, faults, run_page
from docs.test_reference import ALL_COMMANDS

PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")],
    key=lambda page: str(page.relative_to(ROOT)),
)
MADE = {"_build", "_pictures", "gallery", "generated"}
PAGES = [page for page in PAGES if not MADE & {*page.relative_to(ROOT).parts}]


def name(page):
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_snippet_runs_and_prints_what_the_page_shows(page, tmp_path):
    run_page(page, tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_code_of_a_page_escapes(page):
    assert list(faults(page.read_text(encoding="utf-8"))) == []


JOBS = {"torch": "tensors", "jax": "tensors", "dask": "engines", "pyspark": "engines"}
JOBS |= {"sqlalchemy": "serve-test", "starlette": "serve-test"}
"""The job whose environment has a package that the job test does not have."""


def words_of_jobs():
    """The words after ``-k`` with which a job picks its pages."""
    text = (ROOT / "run.py").read_text(encoding="utf-8")
    tensors = re.search(r"pytest tests/docs -k '([^']+)'", text)[1]
    engines = re.search(r'"tests/docs/test_pages.py", "tests/docs/test_readme.py", "-k", "([^"]+)"', text)[1]
    serving = re.search(r'"tests/docs/test_docstrings.py", "tests/docs/test_pages.py", "-k", "([^"]+)"', text)[1]
    words = {"tensors": tensors, "engines": engines, "serve-test": serving}
    return {job: chosen.split(" or ") for job, chosen in words.items()}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_code_that_needs_a_package_is_run_by_a_job_that_has_it(page):
    needs = [block.value for block in blocks(page.read_text(encoding="utf-8")) if block.note == "needs"]
    for packages in needs:
        (job,) = {JOBS[package] for package in packages.replace(",", " ").split()}
        assert any(word in name(page) for word in words_of_jobs()[job]), f"run.py {job} does not pick this page"


def shown_commands():
    """The commands of rankset in blocks of bash, which are not run."""
    for page in PAGES:
        shown = [block.body for block in blocks(page.read_text(encoding="utf-8")) if block.language == "bash"]
        for line in "".join(shown).replace("\\\n", " ").splitlines():
            if line.startswith("rankset "):
                yield pytest.param(shlex.split(line, comments=True), id=f"{name(page)}: {line}")


@pytest.mark.parametrize("words", shown_commands())
def test_commands_that_are_not_run_exist_and_have_these_options(words):
    path = next(" ".join(words[:count]) for count in (3, 2) if " ".join(words[:count]) in ALL_COMMANDS)
    options = {option for one in ALL_COMMANDS[path].params for option in one.opts}
    assert {word.partition("=")[0] for word in words if word.startswith("-")} <= options


def test_pages_of_every_folder_are_run():
    folders = {page.relative_to(ROOT).parent.as_posix() for page in PAGES}
    assert {".", "docs", "docs/how-to", "docs/coming-from", "docs/reference/api"} <= folders
