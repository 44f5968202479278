"""Every snippet on every page runs, and prints what the page shows."""

import re

import pytest

from docs.snippets import ROOT, RUN, SHOWN, blocks, run_page

PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "docs").glob("[!_]*/*.md")],
    key=lambda page: str(page.relative_to(ROOT)),
)
PAGES = [page for page in PAGES if "gallery" not in page.parts]


def name(page):
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_snippet_runs_and_prints_what_the_page_shows(page, tmp_path):
    run_page(page, tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_says_what_it_is(page):
    """A block without a language, or an indented one, would not be run."""
    text = page.read_text(encoding="utf-8")
    fenced = [(block.line, block.language) for block in blocks(text) if not block.language.startswith("{")]
    assert [(line, language) for line, language in fenced if language not in {*RUN, *SHOWN}] == []
    outside = re.sub(r"^( *)(`{3,}|:{3,}).*?^\1\2 *$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert re.findall(r"\n\n {4,}(?![-*\d|])\S[^\n]*", outside) == []


def test_code_that_needs_a_package_is_run_by_some_job():
    jobs = {"torch": "tensors", "jax": "tensors", "dask": "engines", "pyspark": "engines"}
    needs = {block.value for page in PAGES for block in blocks(page.read_text()) if block.note == "needs"}
    assert {package for value in needs for package in value.replace(",", " ").split()} <= jobs.keys()
