"""Every snippet on every page runs, and prints what the page shows."""

import re

import pytest

from docs.snippets import ROOT, blocks, faults, run_page

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
"""The job whose environment has a package that the job test does not have."""


def words_of_jobs():
    """The words after ``-k`` with which a job picks its pages."""
    text = (ROOT / "run.py").read_text(encoding="utf-8")
    tensors = re.search(r"pytest tests/docs -k '([^']+)'", text)[1]
    engines = re.search(r'"tests/docs/test_pages.py".*"-k", "([^"]+)"', text)[1]
    return {"tensors": tensors.split(" or "), "engines": engines.split(" or ")}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_code_that_needs_a_package_is_run_by_a_job_that_has_it(page):
    needs = [block.value for block in blocks(page.read_text(encoding="utf-8")) if block.note == "needs"]
    for packages in needs:
        (job,) = {JOBS[package] for package in packages.replace(",", " ").split()}
        assert any(word in name(page) for word in words_of_jobs()[job]), f"run.py {job} does not pick this page"


def test_pages_of_every_folder_are_run():
    folders = {page.relative_to(ROOT).parent.as_posix() for page in PAGES}
    assert {".", "docs", "docs/how-to", "docs/coming-from", "docs/reference/api"} <= folders
