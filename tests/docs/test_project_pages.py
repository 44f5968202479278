"""Pages about the project, its settings for others' tools, and its builds say the same thing everywhere."""

import importlib.util
import re
import shlex
import sys
import tomllib
from pathlib import Path

import pytest

import rankset as rs

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
INCLUDED = {
    "CHANGELOG.md": "changelog",
    "CONTRIBUTING.md": "contributing",
    "SECURITY.md": "security",
    "CODE_OF_CONDUCT.md": "conduct",
    "benchmarks/RESULTS.md": "benchmarks",
}
WRITTEN = ["AGENTS.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md"]
SECTIONS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def run():
    """run.py, imported as a module."""
    spec = importlib.util.spec_from_file_location("rankset_run", ROOT / "run.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# Pages


@pytest.mark.parametrize("name", INCLUDED)
def test_the_site_shows_the_files_of_the_root(name):
    page = (DOCS / "project" / f"{INCLUDED[name]}.md").read_text(encoding="utf-8")
    included = re.findall(r"```\{include\} (\S+)", page)
    assert [(DOCS / "project" / path).resolve() for path in included] == [ROOT / name]


@pytest.mark.parametrize("name", WRITTEN)
def test_links_of_root_files_lead_somewhere(name):
    for target in re.findall(r"\]\(([^)\s]+)\)", read(name)):
        path, _, place = target.partition("#")
        if ":" in path:
            assert path.startswith("https://")
            continue
        assert (ROOT / path).is_file(), target
        headings = re.findall(r"^#+ (.*)$", (ROOT / path).read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert not place or place in [re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings], target


@pytest.mark.parametrize("name", [name for name in INCLUDED if name in WRITTEN])
def test_links_of_included_files_work_on_the_site_too(name):
    """The option ``:relative-docs: docs/`` of the page moves links to pages of the site, and no others."""
    links = re.findall(r"\]\(([^)\s:]+)\)", read(name))
    assert [link for link in links if not re.match(r"docs/\S+\.md|#", link)] == []


def test_the_index_lists_every_page_of_the_project():
    listed = re.search(r"```\{toctree\}(.*?)```", (DOCS / "project" / "index.md").read_text(), flags=re.DOTALL)[1]
    assert {path.stem for path in (DOCS / "project").glob("*.md")} - {"index"} <= set(listed.split())


def source_of(link):
    """The file that a page of the site is made from."""
    page = DOCS / link.removesuffix(".html")
    if page.parent.name == "gallery":
        name = "README.rst" if page.name == "index" else f"{page.name}.py"
        return ROOT / "examples" / name
    return page.with_suffix(".md")


def test_every_link_of_llms_txt_has_a_page():
    text = (DOCS / "llms.txt").read_text(encoding="utf-8")
    links = re.findall(r"^- \[[^\]]+\]\(([^)]+)\): \S", text, flags=re.MULTILINE)
    assert len(links) == text.count("](") == len(set(links))
    assert [link for link in links if not link.endswith(".html") or not source_of(link).is_file()] == []


def test_llms_txt_names_every_page_but_lists_of_pages():
    text = (DOCS / "llms.txt").read_text(encoding="utf-8")
    pages = [*DOCS.glob("*.md"), *DOCS.glob("[!_]*/*.md")]
    names = {str(page.relative_to(DOCS).with_suffix(".html").as_posix()) for page in pages if page.stem != "index"}
    assert {name for name in names if f"]({name})" not in text and not name.startswith("gallery/")} == set()


def test_llms_txt_has_the_usual_form_and_an_example_that_runs(capsys):
    text = (DOCS / "llms.txt").read_text(encoding="utf-8")
    assert re.match(r"# rankset\n\n> [^\n]{100,900}\n\n", text)
    code = re.search(r"```python\n(.*?)```", text, flags=re.DOTALL)[1]
    assert len(code.splitlines()) == 5
    exec(compile(code, "llms.txt", "exec"), {})  # noqa: S102
    assert "Evaluation of" in capsys.readouterr().out


def test_pages_name_jobs_that_exist(run):
    for name in [*WRITTEN, "docs/project/benchmarks.md", ".github/workflows/ci.yml", ".github/workflows/release.yml"]:
        jobs = set(re.findall(r"run\.py (\w[\w-]*)", read(name)))
        assert jobs <= run.JOBS.keys(), name
    table = re.search(r"\| job \|.*?\n\n", read("CONTRIBUTING.md"), flags=re.DOTALL)[0]
    first = "\n".join(row.split("|")[1] for row in table.strip().splitlines())
    assert set(re.findall(r"`([\w-]+)`", first)) <= run.JOBS.keys()


def test_the_citation_is_the_same_everywhere():
    cff, page = read("CITATION.cff"), read("docs/project/citing.md")
    assert re.search(r"title: (Trust.*)", cff)[1] in page
    assert re.search(r"url: (\S+)", cff)[1] in page
    assert "CITATION.cff" in re.search(r"```\{literalinclude\} (\S+)", page)[1]


def test_the_deprecation_page_states_the_limits_of_the_package():
    project = tomllib.loads(read("pyproject.toml"))["project"]
    page = read("docs/project/deprecation.md")
    limits = {"Python": project["requires-python"]} | dict(
        re.match(r"(\w+)(.*)", text).groups() for text in project["dependencies"]
    )
    stated = {name.lower(): limit for name, limit in re.findall(r"^\| (\w+) \| ([\d.]+) \|$", page, flags=re.MULTILINE)}
    assert stated == {name.lower(): limit.removeprefix(">=") for name, limit in limits.items()}


# Versions


def releases():
    return re.findall(r"^## (\S+)(?: - (\S+))?$", read("CHANGELOG.md"), flags=re.MULTILINE)


def test_the_changelog_begins_with_what_is_not_released_and_goes_back_in_time():
    (first, no_date), *others = releases()
    assert (first, no_date) == ("Unreleased", "")
    assert others == sorted(others, key=lambda release: [*map(int, release[0].split("."))], reverse=True)
    dates = [date for _, date in others]
    assert dates == sorted(dates, reverse=True)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", date) for date in dates)


def test_the_version_is_the_newest_of_the_changelog():
    newest = releases()[1][0]
    assert rs.__version__ == newest or ".dev" in rs.__version__


def test_sections_of_the_changelog_are_the_usual_ones_in_order():
    for release in re.split(r"^## ", read("CHANGELOG.md"), flags=re.MULTILINE)[1:]:
        names = re.findall(r"^### (.*)$", release, flags=re.MULTILINE)
        assert names == [name for name in SECTIONS if name in names], release.split("\n")[0]


def test_the_newest_minor_release_is_supported():
    minor = ".".join(releases()[1][0].split(".")[:2])
    assert re.findall(r"^\| (\S+) \| yes \|$", read("SECURITY.md"), flags=re.MULTILINE) == [f"{minor}.x"]


# Tools


def test_hooks_run_the_commands_of_the_lint_job(run):
    text = read(".pre-commit-config.yaml")
    assert re.findall(r"^ *- repo: (.*)$", text, flags=re.MULTILINE) == ["local"]
    entries = re.findall(r"^ *entry: (.*)$", text, flags=re.MULTILINE)
    assert [entry.removeprefix("python3 run.py tool ") for entry in entries] == list(run.JOBS["lint"].commands)
    assert text.count("language: system") == len(entries)
    assert run.JOBS["tool"].lock == run.JOBS["lint"].lock


def test_workflows_only_call_jobs_and_may_only_read():
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        text = path.read_text(encoding="utf-8")
        commands = re.findall(r"^ *- run: (.*)$", text, flags=re.MULTILINE)
        assert commands
        assert [line for line in commands if not re.match(r"python3? run\.py |apt-get update$", line)] == []
        assert re.findall(r"permissions:\n((?:  .*\n)+)", text) == ["  contents: read\n"]
        assert "secrets." not in text
        assert all(re.fullmatch(r"actions/[\w-]+@v\d+", action) for action in re.findall(r"uses: (.*)", text))


def test_workflows_run_what_must_pass(run):
    text = read(".github/workflows/ci.yml")
    called = {job for jobs in re.findall(r" job: \[(.*)\]", text) for job in jobs.split(", ")} | {"test"}
    assert called <= run.JOBS.keys()
    if (ROOT / ".ci").is_dir():
        required = " ".join(re.findall(r"^run_jobs ([\w -]+)", read(".ci/run"), re.MULTILINE)).split()
        assert len(set(required)) == len(required) >= 13
        assert set(required) <= called


def test_python_versions_agree():
    tested = re.search(r" python: \[(.*)\]", read(".github/workflows/ci.yml"))[1]
    classifiers = tomllib.loads(read("pyproject.toml"))["project"]["classifiers"]
    told = [name.rpartition(" ")[2] for name in classifiers if re.search(r"Python :: 3\.\d", name)]
    assert re.findall(r"[\d.]+", tested) == told


def test_exceptions_of_repo_review_have_reasons():
    block = re.search(r"\[tool\.repo-review\]\nignore = \[\n(.*?)\n\]", read("pyproject.toml"), flags=re.DOTALL)[1]
    assert [line for line in block.splitlines() if not re.fullmatch(r'  "[A-Z]+\d*", *# .{20,}', line)] == []


def test_lock_files_hold_no_addresses():
    assert [
        path.name for path in (ROOT / "locks").glob("*.txt") if re.search(r"://|--index|--extra-", path.read_text())
    ] == []


def test_the_sdist_has_the_files_that_its_tests_read():
    include = tomllib.loads(read("pyproject.toml"))["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert {"/*.md", "/docs", "/tests", "/.github", "/.pre-commit-config.yaml", "/.readthedocs.yaml"} <= set(include)


# Builds


def test_built_files_carry_the_time_that_is_given_or_that_of_the_commit(run, monkeypatch, tmp_path):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert run.source_date() == "1700000000"
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert int(run.source_date()) >= 1577836800
    monkeypatch.setattr(run, "ROOT", tmp_path)
    assert run.source_date() == "1577836800"


def test_a_build_that_differs_is_noticed(run, monkeypatch, tmp_path, capsys):
    def build(command, env, extra):
        folder = Path(command[-1])
        folder.mkdir()
        (folder / "file.whl").write_text(extra["TZ"])

    monkeypatch.setattr(run, "run_quietly", build)
    monkeypatch.setattr(run, "DIST", tmp_path / "dist")
    assert run.package(tmp_path) == 1
    assert "two builds differ" in capsys.readouterr().err
    assert not (tmp_path / "dist").exists()


def test_equal_builds_are_tried_and_kept_with_their_checksums(run, monkeypatch, tmp_path, capsys):
    def build(command, env, extra):
        folder = Path(command[-1])
        folder.mkdir()
        (folder / "file.whl").write_bytes(b"")

    monkeypatch.setattr(run, "run_quietly", build)
    monkeypatch.setattr(run, "try_out", lambda built: 0)
    monkeypatch.setattr(run, "DIST", tmp_path / "dist")
    assert run.package(tmp_path) == 0
    line = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  file.whl\n"
    assert capsys.readouterr().out == line
    assert {path.name for path in (tmp_path / "dist").iterdir()} == {"file.whl", "SHA256SUMS"}
    assert (tmp_path / "dist" / "SHA256SUMS").read_text() == line


def test_a_tool_without_a_name_is_asked_for(run, capsys, tmp_path):
    assert run.run_all(run.JOBS["tool"], tmp_path, []) == 2
    assert "which command?" in capsys.readouterr().err


def test_commands_of_jobs_can_be_split(run):
    assert all(shlex.split(command) for job in run.JOBS.values() for command in job.commands)
