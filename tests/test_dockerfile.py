"""The Dockerfile, read instruction by instruction; its installation is carried out in a fresh environment.

No Docker engine is needed, and none is used: the image itself is not built here.
"""

import fnmatch
import http.server
import json
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path

import pytest

import rankset as rs
from rankset.cli.commands import COMMANDS

ROOT = Path(__file__).parents[1]
KNOWN = {
    *("ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "RUN", "STOPSIGNAL"),
    *("USER", "VOLUME", "WORKDIR"),
}
BUILD = {"editables", "hatchling"}
"""The packages of the group build in pyproject.toml."""
PYTHON = Path(sys.base_prefix) / "bin" / "python3"
"""An interpreter with pip, from which this environment was made."""


def instructions():
    """(name, rest) of every instruction, lines that are continued joined."""
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    joined = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", lines, flags=re.MULTILINE))
    return [tuple(line.split(None, 1)) for line in joined.splitlines() if line.strip()]


def stages():
    """The instructions of every stage, without its FROM."""
    found = []
    for name, rest in instructions():
        if name == "FROM":
            found.append([])
        elif found:
            found[-1].append((name, rest))
    return found


def of(stage, name):
    return [rest for one, rest in stage if one == name]


def copied():
    """The paths of the checkout that the build copies."""
    for name, rest in instructions():
        if name == "COPY" and "--from=" not in rest:
            yield from rest.split()[:-1]


def ignored(path):
    """Whether .dockerignore leaves out a file: the last pattern that fits it or a folder of it decides."""
    result = False
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines():
        pattern = line.lstrip("!").strip()
        if not pattern or line.startswith("#"):
            continue
        parents = [path, *list(path.parents)[:-1]]
        fits = any(fnmatch.fnmatch(str(one), pattern.removeprefix("**/")) for one in parents)
        fits |= pattern.startswith("**/") and pattern[3:] in path.parts
        result = not line.startswith("!") if fits else result
    return result


def context(folder):
    """Copy into a folder what the build gets: files that are copied and not left out."""
    for name in copied():
        files = [ROOT / name] if (ROOT / name).is_file() else [one for one in (ROOT / name).rglob("*") if one.is_file()]
        for file in files:
            place = file.relative_to(ROOT)
            if not ignored(place):
                (folder / place).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, folder / place)


def pinned():
    """Every entry of the lock: its name, and the lines that belong to it."""
    text = (ROOT / "locks" / "image.txt").read_text(encoding="utf-8")
    for entry in re.split(r"\n(?=\S)", text.strip()):
        yield re.match(r"[\w.-]+", entry)[0], entry


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def health_check():
    (rest,) = of(stages()[-1], "HEALTHCHECK")
    return json.loads(rest.partition("CMD ")[2])


def test_every_instruction_is_known_and_has_an_argument():
    assert {one[0] for one in instructions()} <= KNOWN
    assert all(len(one) == 2 and one[1].strip() for one in instructions())
    for name, rest in instructions():
        if name in {"ENTRYPOINT", "CMD"}:
            assert all(isinstance(word, str) for word in json.loads(rest))
        if name == "RUN":
            assert shlex.split(rest)


def test_both_stages_start_from_one_version_of_python_that_is_supported():
    first, *others = instructions()
    assert first[0] == "ARG"
    version = re.fullmatch(r"PYTHON=python:(3\.\d+)-slim", first[1])[1]
    assert [rest for name, rest in others if name == "FROM"] == ["${PYTHON} AS build", "${PYTHON}"]
    assert f"Programming Language :: Python :: {version}" in (ROOT / "pyproject.toml").read_text()


def test_copied_paths_exist_and_reach_the_build(tmp_path):
    paths = list(copied())
    assert [path for path in paths if not (ROOT / path).exists()] == []
    context(tmp_path)
    reached = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert {path for path in paths if (ROOT / path).is_file()} | {"src/rankset/__init__.py"} <= reached
    assert not any("__pycache__" in name or name.startswith(("tests", ".git")) for name in reached)


def test_what_is_not_needed_does_not_reach_the_build():
    for name in (
        ".git/config",
        ".envs/test/x.py",
        "tests/x.py",
        "docs/x.md",
        "locks/test.txt",
        "run.py",
        "rule.rankset",
    ):
        assert ignored(Path(name)), name
    for name in ("src/rankset/core/__pycache__/x.pyc", "src/__pycache__/x.pyc"):
        assert ignored(Path(name)), name


def test_the_lock_has_a_hash_for_everything_and_no_tools_of_tests():
    names = [name for name, _ in pinned()]
    assert all("==" in entry.splitlines()[0] and "--hash=sha256:" in entry for _, entry in pinned())
    assert {
        "starlette",
        "uvicorn",
        "msgspec",
        "sqlalchemy",
        "psycopg",
        "psycopg-binary",
        "numpy",
        "safetensors",
    } <= set(names)
    assert not {"pytest", "hypothesis", "playwright", "pandas", "scikit-learn"} & set(names)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    wanted = {re.match(r"[\w-]+", one)[0] for extra in ("serve", "postgres") for one in extras[extra]}
    assert wanted <= set(names)


def test_the_lock_is_written_by_run_py():
    text = (ROOT / "run.py").read_text(encoding="utf-8")
    assert '"image": "--extra serve --extra postgres --group build"' in text


def test_packages_are_installed_with_hashes_and_the_project_without_an_index():
    runs = of(stages()[0], "RUN")
    locked, project = [one for one in runs if " install " in one]
    assert {"--require-hashes", "--only-binary"} <= set(locked.split())
    assert locked.endswith("-r locks/image.txt")
    assert {"--no-index", "--no-deps", "--no-build-isolation"} <= set(project.split())
    removed = set(next(one for one in runs if " uninstall " in one).partition("--yes")[2].split())
    assert BUILD <= removed <= {name for name, _ in pinned()}


def test_the_image_runs_the_server_as_a_user_without_rights_and_stops_by_sigterm():
    last = stages()[-1]
    assert [json.loads(one) for one in of(last, "ENTRYPOINT")] == [["rankset", "serve"]]
    (user,) = of(last, "USER")
    assert re.fullmatch(r"[1-9]\d{3,}:[1-9]\d{3,}", user)
    places = [name for name, _ in last]
    assert places.index("USER") > max(place for place, name in enumerate(places) if name == "RUN")
    assert of(last, "STOPSIGNAL") == ["SIGTERM"]
    assert of(last, "VOLUME") == ["/data"]
    (arguments,) = map(json.loads, of(last, "CMD"))
    assert arguments[arguments.index("--store") + 1].startswith("/data/")
    assert "TOKEN" not in (ROOT / "Dockerfile").read_text()


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1), (None, 1)])
def test_the_health_check_asks_the_server_on_this_machine(status, code):
    program, *arguments = health_check()
    assert program == "python"

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status if self.path == "/healthz" else 404)
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Answer) as server:
        port = server.server_port
        if status is None:
            server.server_close()
        else:
            threading.Thread(target=server.serve_forever, daemon=True).start()
        assert any("8000" in one for one in arguments)
        asked = [sys.executable, *(one.replace("8000", str(port)) for one in arguments)]
        done = subprocess.run(asked, capture_output=True, timeout=30, check=False)
        if status is not None:
            server.shutdown()
    assert done.returncode == code


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with what the RUN steps of the first stage install, in place of /opt/rankset.

    They are carried out by the interpreter of this environment; pip asks the index that this machine uses.
    """
    folder = tmp_path_factory.mktemp("image")
    (folder / "source").mkdir()
    context(folder / "source")
    for step in of(stages()[0], "RUN"):
        program, *words = [word.replace("/opt/rankset", str(folder / "rankset")) for word in shlex.split(step)]
        assert program == "python"
        done = output_of([PYTHON, *words], folder / "source")
        assert done.returncode == 0, f"{step}\n{done.stdout}"
    return folder / "rankset"


def output_of(command, folder):
    together = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.run(command, cwd=folder, **together, timeout=600, check=False)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the image is of Linux")
class TestInstallation:
    def test_the_command_works(self, installed, tmp_path):
        done = output_of([installed / "bin" / "rankset", "--version"], tmp_path)
        assert done.returncode == 0
        assert rs.__version__ in done.stdout

    def test_packages_fit_together_and_tools_that_build_are_gone(self, installed, tmp_path):
        pip = [PYTHON, "-m", "pip", "--python", installed / "bin" / "python"]
        done = output_of([*pip, "check"], tmp_path)
        assert done.returncode == 0, done.stdout
        listed = {
            one["name"].lower().replace("_", "-")
            for one in json.loads(output_of([*pip, "list", "--format", "json"], tmp_path).stdout)
        }
        assert {"rankset", "uvicorn", "psycopg"} <= listed
        assert not listed & (BUILD | {"pip", "setuptools"})
        assert listed - {"rankset"} <= {name for name, _ in pinned()}

    @pytest.mark.skipif("serve" not in COMMANDS, reason="there is no command serve")
    def test_the_server_of_the_default_command_is_healthy_and_stops(self, installed, tmp_path):
        rs.calibrate([[0.7, 0.3]] * 30, [0] * 30).save(tmp_path / "rule.rankset")
        (arguments,) = map(json.loads, of(stages()[-1], "CMD"))
        port = free_port()
        words = [word.replace("/rules", str(tmp_path)).replace("/data", str(tmp_path)) for word in arguments]
        words[words.index("--host") + 1] = "127.0.0.1"  # nothing listens on other addresses in tests
        command = [installed / "bin" / "rankset", "serve", *words, "--port", str(port)]
        check = [installed / "bin" / "python", *(word.replace("8000", str(port)) for word in health_check()[1:])]
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            end = time.monotonic() + 60
            while output_of(check, tmp_path).returncode and time.monotonic() < end:
                assert process.poll() is None
                time.sleep(0.2)
            assert output_of(check, tmp_path).returncode == 0
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait(timeout=30)
        assert (tmp_path / "rows.db").is_file()
