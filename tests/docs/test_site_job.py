"""The job docs of run.py, and how the job browser knows that the site is not out of date. Sphinx is not needed."""

import importlib.util
import os
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [
    "docs/start.md",
    "src/rankset/rule.py",
    "examples/digits.py",
    "CHANGELOG.md",
    "CITATION.cff",
    "locks/docs.txt",
]


@pytest.fixture
def jobs(tmp_path, monkeypatch):
    """run.py in a checkout of its own, with a Sphinx that writes one page."""
    spec = importlib.util.spec_from_file_location("run", ROOT / "run.py")
    run = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "run", run)
    spec.loader.exec_module(run)
    root = tmp_path / "a checkout"
    for name in SOURCES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
        os.utime(root / name, (1000, 1000))
    for name in ("SITE", "BUILT"):
        monkeypatch.setattr(run, name, root / getattr(run, name).relative_to(run.ROOT))
    monkeypatch.setattr(run, "ROOT", root)
    return run


def sphinx(jobs, monkeypatch, end):
    def build(command, env, extra):
        jobs.SITE.parent.mkdir(parents=True)
        jobs.SITE.touch()
        return end()

    monkeypatch.setattr(jobs, "run", build)


def test_a_site_that_was_built_is_current_until_a_source_changes(jobs, monkeypatch):
    sphinx(jobs, monkeypatch, lambda: 0)
    assert not jobs.site_is_current()
    assert jobs.docs(None) == 0
    assert jobs.site_is_current()
    for name in SOURCES:
        later = jobs.BUILT.stat().st_mtime + 5
        os.utime(jobs.ROOT / name, (later, later))
        assert not jobs.site_is_current(), name
        os.utime(jobs.ROOT / name, (1000, 1000))
    assert jobs.site_is_current()


def test_a_page_that_changes_during_the_build_makes_the_site_old(jobs, monkeypatch):
    def change():
        later = time.time() + 1
        os.utime(jobs.ROOT / "docs" / "start.md", (later, later))
        return 0

    sphinx(jobs, monkeypatch, change)
    assert jobs.docs(None) == 0
    assert not jobs.site_is_current()


def test_a_build_that_fails_or_is_interrupted_leaves_no_current_site(jobs, monkeypatch):
    sphinx(jobs, monkeypatch, lambda: 0)
    jobs.docs(None)
    sphinx(jobs, monkeypatch, lambda: 1)
    assert jobs.docs(None) == 1
    assert not jobs.site_is_current()

    def interrupt():
        raise KeyboardInterrupt

    sphinx(jobs, monkeypatch, interrupt)
    with pytest.raises(KeyboardInterrupt):
        jobs.docs(None)
    assert jobs.SITE.is_file()
    assert not jobs.site_is_current()
