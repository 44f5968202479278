"""The jobs of this checkout: `python3 run.py` lists them, `python3 run.py <job>` runs one.

Python 3.11 with pip (or uv) is enough. Each job runs in an environment under `.envs/`, filled from a hashed
file in `locks/`; nothing outside the checkout is touched.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import importlib.util
import inspect
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

try:
    import fcntl
except ImportError:  # Windows, where two set-ups at once are left to luck
    fcntl = None  # type: ignore[assignment]

ROOT = Path(__file__).resolve().parent
DIST = ROOT / "dist"
LEAKS = {"PYTHONPATH", "PYTHONHOME", "PYTHONWARNINGS", "PIP_USER", "PIP_TARGET", "PIP_PREFIX"}
ALL = "'slow or not slow'"  # tests with and without the marker
ARGS = "{args}"  # in a command: the caller's further arguments go here
LOCKS = {  # lock file -> the dependency groups it adds to the runtime requirements
    "demo": "--extra cli --extra plots --group build",
    "test": "--group build --group test",
    "lint": "--group build --group test --group lint",
    "tensors": "--group build --group tensors",
    "experiments": "--group build --group experiments",
    "browser": "--group build --group browser",
    "office": "--group build --group office",
    "docs": "--group build --group docs",
    "serve": "--group build --group serve",
    "models": "--group build --group models",
    "image": "--extra serve --extra postgres --group build",
    "fuzz": "--group build --group fuzz",
    "engines": "--group build --group engines",
    "mutate": "--group build --group mutate",
    "bench": "--extra fast --extra cli --group build",
}
SITE = ROOT / "docs" / "_build" / "html" / "index.html"
BUILT = SITE.parents[1] / "built"  # carries the time at which the last build that succeeded began
MADE_BY_SPHINX = ("_build", "_pictures", "gallery", "reference/generated", "reference/backreferences")
PEERS = ("peer-crepes", "peer-mapie", "peer-puncc", "peer-river", "peer-torchcp")  # environments without the project
BY_PIP = {  # lock file -> what pip adds: builds of torch differ by machine, torchcp asks for far more than it needs
    "peer-torchcp": ("torch==2.13.0", "--no-deps torchcp==1.2.1"),
    "tensors": ("torch==2.13.0",),
    "experiments": ("torch==2.13.0",),
}
MODEL_TESTS = "tests/graphs src/rankset/graphs src/rankset/rules/to_onnx.py"  # rules as models of other programs
TENSOR_TESTS = "tests/inputs/test_tensors.py tests/integrations/test_torch.py src/rankset/integrations/torch"
MLFLOW_TESTS = "tests/integrations/mlflow src/rankset/integrations/mlflow"
OWN_WARNINGS = "-W ignore -W error::rankset.errors.RanksetWarning"  # MLflow warns of itself when it is imported
COMPILE = "uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate"
TRY_OUT = """
import pathlib, sys, numpy, rankset
version = sys.argv[1]
assert rankset.__version__ == version, f"{rankset.__version__} was built as {version}"
assert pathlib.Path(rankset.__file__).is_relative_to(sys.prefix), f"{rankset.__file__} is another copy"
probs, labels = numpy.tile(numpy.eye(3) * 0.7 + 0.1, (10, 1)), numpy.tile(numpy.arange(3), 10)
assert rankset.calibrate(probs, labels).predict(probs, alpha=0.1).covers(labels).all()
print("rankset", version, "works")
"""


@dataclass(frozen=True)
class Job:
    """What a job is for, the lock file of its environment, and its commands or its function."""

    about: str
    lock: str | None = None
    commands: Sequence[str] = ()
    others: Sequence[str] = ()  # lock files of further environments its commands look for
    variables: Mapping[str, str] = field(default_factory=dict)
    function: Callable[[Path], int] | None = None


def main(name: str = "--help", *extra: str) -> int:
    """Run one job with the arguments after its name, and return its exit code."""
    if name in {"-h", "--help", "help"}:
        lines = [f"  {name:<11} {job.about}" for name, job in JOBS.items()]
        print("usage: python3 run.py <job> [arguments]", "", *lines, sep="\n")
        return 0
    if name not in JOBS:
        near = difflib.get_close_matches(name, JOBS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(JOBS)}"
        say(f"no job named {name!r}; {hint}")
        return 2
    job = JOBS[name]
    if extra and not any(ARGS in command for command in job.commands):
        say(f"{name} takes no further arguments, got: {' '.join(extra)}")
        return 2
    env = environment(job.lock) if job.lock else None
    for other in job.others:
        environment(other)
    return job.function(env) if job.function and env else run_all(job, env, extra)


def run_all(job: Job, env: Path | None, extra: Sequence[str]) -> int:
    """Run every command of a job, also after a failure, and return the first exit code that is not 0."""
    codes = []
    for line in job.commands:
        command = [word for part in shlex.split(line) for word in (extra if part == ARGS else [part])]
        if not command:
            say("which command? for example: ruff format")
            return 2
        say(f"$ {shlex.join(command)}")
        codes.append(run(command, env, job.variables))
    return next(filter(None, codes), 0)


def run(command: Sequence[str], env: Path | None, extra: Mapping[str, str], folder: Path = ROOT) -> int:
    """Run one command, looked up in the environment first, and return its exit code as a shell would."""
    variables = {**clean_variables(env), **extra}
    name, *arguments = command
    program = shutil.which(name, path=variables["PATH"])
    if not program:
        sys.exit(f"{name} is not on the PATH; `pip install {name}` in a virtual environment brings it")
    code = subprocess.run([program, *arguments], cwd=folder, env=variables, check=False).returncode
    return code if code >= 0 else 128 - code


def run_quietly(command: Sequence[str], env: Path, extra: Mapping[str, str] | None = None) -> None:
    """Run one command whose output matters only when it fails, and stop everything then."""
    variables, nothing = {**clean_variables(env), **(extra or {})}, subprocess.DEVNULL
    done = subprocess.run(command, cwd=ROOT, env=variables, stdin=nothing, capture_output=True, check=False)
    if done.returncode:
        output = (done.stdout + done.stderr).decode(errors="replace")
        sys.exit(f"{output}\nrun.py: this failed: {shlex.join(command)}")


def clean_variables(env: Path | None) -> dict[str, str]:
    """Return the caller's variables without those that would leak in, the environment leading the PATH."""
    kept = {"PATH": os.defpath} | {name: value for name, value in os.environ.items() if name not in LEAKS}
    if os.name == "nt":
        kept.setdefault("PYTHONUTF8", "1")  # files of the checkout are UTF-8, and Windows' default is not
    if env:
        kept |= {"VIRTUAL_ENV": str(env), "PATH": f"{python_of(env).parent}{os.pathsep}{kept['PATH']}"}
    return kept


def environment(lock: str) -> Path:
    """Return `.envs/<lock>`, built anew unless its stamp says that nothing has changed since."""
    env = ROOT / ".envs" / lock
    stamp, wanted = env / "stamp", fingerprint(lock)
    env.parent.mkdir(exist_ok=True)
    with only_one(env.with_suffix(".lock")):
        if stamp.is_file() and stamp.read_text() == wanted and python_of(env).exists():
            return env
        stamp.unlink(missing_ok=True)
        say(f"setting up .envs/{lock} (once) …")
        start = time.monotonic()
        build_environment(env, lock, *([] if lock in PEERS else ["--editable", str(ROOT)]))
        stamp.write_text(wanted)
        say(f"… done in {time.monotonic() - start:.0f} s")
    return env


def fingerprint(lock: str) -> str:
    """Return a hash of everything an environment depends on."""
    names = [f"locks/{lock}.txt", *([] if lock in PEERS else ["pyproject.toml"])]
    files = [(ROOT / name).read_bytes() for name in names]
    words = [*map(inspect.getsource, (build_environment, installer, pip_installer)), sys.version, str(ROOT)]
    words += BY_PIP.get(lock, ())
    return hashlib.sha256(b"\0".join([*files, *map(str.encode, words)])).hexdigest()


@contextlib.contextmanager
def only_one(path: Path) -> Iterator[None]:
    """Hold a lock file, so that a second run.py waits instead of building the same environment."""
    with path.open("w") as handle:
        if fcntl:
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def build_environment(env: Path, lock: str, *project: str) -> None:
    """Make an empty environment, fill it from a lock file, then add the project, if any, without asking any index."""
    venv.EnvBuilder(clear=True, symlinks=os.name != "nt", with_pip=False).create(env)
    install = installer(env)
    run_quietly([*install, "--require-hashes", "-r", str(ROOT / "locks" / f"{lock}.txt")], env)
    for line in BY_PIP.get(lock, ()):
        run_quietly([*pip_installer(env), *line.split()], env)
    if project:
        run_quietly([*install, "--no-index", "--no-build-isolation", *project], env)


def installer(env: Path) -> list[str]:
    """Return the start of an install command for an environment that has no pip of its own."""
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--python", str(python_of(env)), "--quiet"]
    return pip_installer(env)


def pip_installer(env: Path) -> list[str]:
    """Return the same by pip, which knows of local builds that uv does not see."""
    if not importlib.util.find_spec("pip"):
        sys.exit("run.py needs pip or uv to fill its environments; on Debian or Ubuntu: apt install python3-pip")
    target = ["--python", str(python_of(env)), "--quiet"]
    return [sys.executable, "-m", "pip", *target, "--disable-pip-version-check", "--no-input", "install"]


def python_of(env: Path) -> Path:
    """Return an environment's interpreter."""
    return env / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def package(env: Path) -> int:
    """Build sdist and wheel twice, compare the bytes, try each far from the checkout, and put them into `dist/`."""
    with tempfile.TemporaryDirectory(prefix="rankset-") as name:
        first, second = (Path(name) / part for part in ("first", "second"))
        sums = build_twice(env, first, second)
        if sums != checksums(second):
            say(f"two builds differ:\n{sums}{checksums(second)}")
            return 1
        if code := max([try_out(built) for built in sorted(first.iterdir())]):
            return code
        shutil.rmtree(DIST, ignore_errors=True)
        shutil.copytree(second, DIST)
    (DIST / "SHA256SUMS").write_text(sums, encoding="ascii", newline="\n")
    print(sums, end="", flush=True)
    return 0


def build_twice(env: Path, first: Path, second: Path) -> str:
    """Build into two folders, in another time zone and with another order of sets, and return the first's checksums."""
    moment = source_date()
    say(f"SOURCE_DATE_EPOCH={moment}")
    for folder, zone, seed in ((first, "UTC+12", "1"), (second, "UTC-12", "2")):
        changed = {"SOURCE_DATE_EPOCH": moment, "TZ": zone, "PYTHONHASHSEED": seed}
        run_quietly([str(python_of(env)), "-m", "build", "--no-isolation", "--outdir", str(folder)], env, changed)
    return checksums(first)


def source_date() -> str:
    """Return the time that built files carry: the caller's, else that of the last commit, else a constant."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return given
    git = shutil.which("git")
    if git and (ROOT / ".git").exists():
        command = [git, "log", "-1", "--format=%ct"]
        return subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout.strip()
    return "1577836800"  # 2020-01-01


def checksums(folder: Path) -> str:
    """Return one line per file, as `sha256sum` writes and checks them."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)


def installed(package: str, found: Callable[[], str | None] | None = None) -> bool:
    """Return whether a program of a Debian package is there; install the package if it is missing."""
    found = found or (lambda: shutil.which(package))
    if not found() and shutil.which("apt-get"):
        say(f"installing {package}")
        command = ["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", package]
        run(command, None, {"DEBIAN_FRONTEND": "noninteractive"})
    if not found():
        say(f"{package} is missing; as root: apt-get update && apt-get install {package}")
    return bool(found())


def browser(env: Path) -> int:
    """Try the report and the documentation site in Chromium, from Debian's packages where it is missing."""
    if not installed("chromium"):
        return 1
    code = 0 if site_is_current() else docs(environment("docs"))
    return code or run(["python", "-m", "pytest", "tests/browser"], env, {})


def docs(env: Path) -> int:
    """Build the documentation site anew, without the network, warnings being errors, and say where to open it."""
    for made in MADE_BY_SPHINX:  # what an earlier build left could hide a warning, or cause one
        shutil.rmtree(ROOT / "docs" / made, ignore_errors=True)
    start = time.time()
    sphinx = ["python", "-m", "sphinx", "--jobs", "auto", "--fail-on-warning", "--keep-going", "--quiet"]
    code = run([*sphinx, "--doctree-dir", "docs/_build/doctrees", "docs", str(SITE.parent)], env, {})
    if code == 0:
        BUILT.touch()
        os.utime(BUILT, (start, start))
        say(f"built in {time.time() - start:.0f} s; open {SITE}")
    return code


def site_is_current() -> bool:
    """Tell whether the site was built, to its end, after the last change of what it is made from."""
    made = [ROOT / "docs" / name for name in MADE_BY_SPHINX]
    files = [file for folder in ("docs", "src", "examples", "benchmarks") for file in (ROOT / folder).rglob("*.*")]
    files += [*ROOT.glob("*.md"), ROOT / "CITATION.cff", ROOT / "locks" / "docs.txt"]
    sources = [file for file in files if "__pycache__" not in file.parts and not any(map(file.is_relative_to, made))]
    return BUILT.is_file() and BUILT.stat().st_mtime > max(file.stat().st_mtime for file in sources)


def office(env: Path) -> int:
    """Open what is written for Excel in LibreOffice Calc, from Debian's packages where it is missing."""
    if not installed("libreoffice-calc", lambda: shutil.which("soffice")):
        return 1
    return run(["python", "-m", "pytest", "-m", "slow or not slow", "tests/office"], env, {})


def serve_test(env: Path) -> int:
    """Try the server: its store in SQLite and in a real PostgreSQL, its page in Chromium, both from Debian."""
    if not (installed("postgresql", lambda: postgres_program("initdb")) and installed("chromium")):
        return 1
    documented = ["tests/docs/test_docstrings.py", "tests/docs/test_pages.py", "-k", "serving or how-to/serve"]
    commands = [["-m", "slow or not slow", "tests/serving", "src/rankset/serving"], documented]
    with postgres() as url:
        return max(run(["python", "-m", "pytest", *one], env, {"RANKSET_TEST_POSTGRES": url}) for one in commands)


def postgres_program(name: str) -> str | None:
    """Return the path of a program of PostgreSQL, which Debian does not put on the PATH; None if it is missing."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: float(folder.parent.name))
    return shutil.which(name) or next((str(one / name) for one in reversed(folders) if (one / name).exists()), None)


@contextlib.contextmanager
def postgres() -> Iterator[str]:
    """Run a PostgreSQL server in a folder of its own, reached by a socket in it, and return its URL.

    It does not wait for the disk (-F): tests end its processes, not the machine.
    """
    with tempfile.TemporaryDirectory(prefix="rankset-") as name:
        folder, options = Path(name), {}
        if os.name == "posix" and os.geteuid() == 0:  # it refuses to run as root
            shutil.chown(folder, "postgres")
            options = {"user": "postgres", "group": "postgres", "extra_groups": ()}
        data, log = str(folder / "data"), str(folder / "log")
        make = ["initdb", "--auth=trust", "--username=rankset", "--no-sync", "--encoding=UTF8", "--no-locale", data]
        start = ["pg_ctl", "--wait", "start", f"--pgdata={data}", f"--log={log}", f"--options=-k {folder} -h '' -F"]
        stop = ["pg_ctl", "--wait", "stop", "--mode=fast", f"--pgdata={data}"]
        for words in (make, start):
            command = [postgres_program(words[0]) or words[0], *words[1:]]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder, **options)
        try:
            yield f"postgresql+psycopg://rankset@/postgres?host={folder}"
        finally:
            command = [postgres_program("pg_ctl") or "pg_ctl", *stop[1:]]
            subprocess.run(command, check=False, stdout=subprocess.DEVNULL, cwd=folder, **options)


def engines(env: Path) -> int:
    """Try Dask and Spark for real; Spark needs Java 17, from Debian's packages where it is missing."""
    if not installed("openjdk-17-jre-headless", lambda: shutil.which("java")):
        return 1
    pages = ["tests/docs/test_pages.py", "tests/docs/test_readme.py", "-k", "Dask or Spark or scale-out"]
    tests = [f"tests/engines/test_{name}.py" for name in ("dask", "spark", "targets", "decisions")]
    commands = [tests, ["src/rankset/engines"], pages]
    spark = {"PYSPARK_PYTHON": str(python_of(env))}
    return max(run(["python", "-m", "pytest", *arguments], env, spark) for arguments in commands)


def try_out(built: Path) -> int:
    """Install one built file beside itself, use it there, and return the exit code."""
    say(f"trying {built.name}")
    env = built.parent / f"env-{built.name}"
    version = built.name.removesuffix(".tar.gz").split("-")[1]
    build_environment(env, "demo", str(built))
    return run(["python", "-I", "-c", TRY_OUT, version], env, {}, folder=built.parent)


def say(line: str) -> None:
    """Print a line about the work, not a result of it."""
    print(line, file=sys.stderr, flush=True)


JOBS = {
    "demo": Job("the paper's experiment: Table 1, figures, numbers", "demo", [f"rankset paper all {ARGS}"]),
    "test": Job(
        "every test and doctest but the slow ones and those of other jobs", "test", [f"python -m pytest -n auto {ARGS}"]
    ),
    "tensors": Job(
        "the tests of torch, JAX and other tensors",
        "tensors",
        [f"python -m pytest {TENSOR_TESTS} {ARGS}", "python -m pytest tests/docs -k 'logits or PyTorch or torchcp'"],
    ),
    "models": Job(
        "rules as ONNX graphs and MLflow models",
        "models",
        [
            f"python -m pytest {MODEL_TESTS} {ARGS}",
            f"python -m pytest {OWN_WARNINGS} {MLFLOW_TESTS}",
            f"python -m pytest {OWN_WARNINGS} tests/docs/test_pages.py -k 'mlflow or onnx'",
        ],
    ),
    "fuzz": Job(
        "damaged and hostile files against the readers, for a minute",
        "fuzz",
        [f"python tests/fuzz/readers.py -max_total_time=60 -rss_limit_mb=3000 {ARGS}"],
    ),
    "docs": Job("build the documentation site, warnings as errors", "docs", function=docs),
    "browser": Job("the report and the documentation site in a real browser", "browser", function=browser),
    "office": Job("files of a German, French and English Excel, opened in LibreOffice", "office", function=office),
    "serve-test": Job("the server, with SQLite, a real PostgreSQL and Chromium", "serve", function=serve_test),
    "engines": Job("the same rule on real Dask, Spark and folders of files", "engines", function=engines),
    "laws": Job(
        "the property tests with many more examples, and all slow tests",
        "test",
        [
            f"python -m pytest -n auto -m {ALL} tests/laws {ARGS}",
            f"python -m pytest -n auto -m slow --ignore=tests/laws {ARGS}",
        ],
        variables={"HYPOTHESIS_PROFILE": "large"},
    ),
    "lint": Job(
        "style, format, types, import contracts, workflows, habits of a project",
        "lint",
        [
            "ruff check",
            "ruff format --check",
            "mypy",
            "lint-imports --no-logo",
            "zizmor --offline --quiet .github",
            "repo-review .",
        ],
    ),
    "tool": Job("one command in the environment of lint, such as ruff format", "lint", [ARGS]),
    "package": Job("build sdist and wheel twice, compare, install and try each, write dist/", "lint", function=package),
    "mutate": Job(
        "code changes that no test notices",
        "mutate",
        [f"mutmut run {ARGS}", "mutmut results"],
        variables={"HYPOTHESIS_PROFILE": "quick"},
    ),
    "scores": Job(
        "train the paper's models and write their scores: --data <folder>",
        "experiments",
        [f"python experiments/make_scores.py {ARGS}"],
    ),
    "long-tail": Job(
        "train a text model on few rows of most classes and write its scores: --data <folder>",
        "test",
        [f"python experiments/long_tail.py {ARGS}"],
        variables={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    ),
    "electricity": Job(
        "train a model on the first rows of Elec2 and write its scores of the next ones: --data <folder>",
        "test",
        [f"python experiments/electricity.py {ARGS}"],
        variables={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    ),
    "choosing": Job(
        "auto against fixed scores on real score files: --data <folder>",
        "demo",
        [f"python experiments/choosing_study.py {ARGS}"],
    ),
    "several-labels": Job(
        "what a fit of all labels gains on rows with several labels: --data <folder>",
        "test",
        [f"python experiments/several_labels.py {ARGS}"],
        variables={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    ),
    "decisions": Job(
        "how much may be accepted automatically on real score files: --data <folder>",
        "test",
        [f"python experiments/decisions.py {ARGS}"],
        variables={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    ),
    "every-class": Job(
        "coverage of every class with few rows: --data <folder>",
        "test",
        [f"python experiments/every_class.py {ARGS}"],
        variables={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    ),
    "streams-tables": Job(
        "write the tables of docs/understand/streams.md from its numbers",
        "test",
        ["python experiments/streams/tables.py"],
    ),
    "shift-study": Job(
        "coverage of new rows from another source, with known and estimated weights: --data <folder>",
        "test",
        [f"python experiments/shift_study.py {ARGS}"],
        variables={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "RANKSET_THREADS": "1"},
    ),
    "degraded": Job(
        "what a network says of blurred and noisy images of CIFAR-10, for the studies of streams: --data <folder>",
        "experiments",
        [f"python experiments/streams/degraded.py {ARGS}"],
    ),
    "streams-study": Job(
        "miss rates and sizes of sets on streams that drift: --data <folder>",
        "test",
        [f"python experiments/streams/levels.py {ARGS}"],
        variables={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "RANKSET_THREADS": "1"},
    ),
    "alarms-study": Job(
        "rows until alarms notice a change, and false alarms: --data <folder>",
        "test",
        [f"python experiments/streams/alarms.py {ARGS}"],
        variables={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "RANKSET_THREADS": "1"},
    ),
    "alarms-fixed-rule": Job(
        "how often the alarm about coverage is raised by a rule that is kept, although nothing changes",
        "test",
        ["python experiments/streams/fixed_rule.py"],
    ),
    "alarms-peers": Job(
        "rows until other libraries notice a change, and false alarms, on the same streams: --data <folder>",
        "test",
        [f"python experiments/streams/peer_alarms.py {ARGS}"],
        others=("peer-crepes", "peer-mapie", "peer-river"),
        variables={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "RANKSET_THREADS": "1"},
    ),
    "streams-speed": Job(
        "rows per second, time of one row, and memory of a stream: --rows 10000000",
        "test",
        [f"python experiments/streams/speed.py {ARGS}"],
        variables={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "RANKSET_THREADS": "1"},
    ),
    "onnx-equal": Job(
        "sets of exported ONNX models against those of rankset, on many rows: --rows 100000",
        "models",
        [f"python experiments/onnx_equal.py {ARGS}"],
    ),
    "routes": Job(
        "coverage from rows to sets of new rows, for every way to split, tune and choose: --repeats 2000",
        "test",
        [f"python experiments/routes.py {ARGS}"],
        variables={"OMP_NUM_THREADS": "1", "RANKSET_THREADS": "1"},
    ),
    "page": Job(
        "write the numbers of paper.json into docs/understand/paper.md", "demo", ["python experiments/page.py"]
    ),
    "bench": Job(
        "measure against other libraries, write benchmarks/RESULTS.md",
        "bench",
        [f"python benchmarks/compare.py {ARGS}"],
        others=PEERS,
    ),
    "peers": Job(
        "what other libraries answer on the same rows, write docs/coming-from",
        "demo",
        [f"python benchmarks/peers_answers.py {ARGS}"],
        others=PEERS,
    ),
    "abstention": Job(
        "what MAPIE and triage accept on the same rows", "peer-mapie", ["python benchmarks/abstention.py"]
    ),
    "classes-torchcp": Job(
        "coverage of every class with TorchCP and with Pooled on the same rows",
        "peer-torchcp",
        [f"python benchmarks/classes_torchcp.py {ARGS}"],
        variables={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "RANKSET_THREADS": "1"},
    ),
    "bench-engines": Job(
        "Dask, Spark and shards against the memory map: --rows 5000000",
        "engines",
        [f"python benchmarks/engines.py {ARGS}"],
    ),
    "serve-load": Job(
        "one row at a time, 200 times a second for a minute, from rankset serve: --rate 200 --seconds 60",
        "serve",
        [f"python benchmarks/serve_load.py {ARGS}"],
    ),
    "serve-hostile": Job(
        "100,000 hostile requests to rankset serve: --requests 100000",
        "serve",
        [f"python benchmarks/hostile_server.py {ARGS}"],
    ),
    "bench-store": Job(
        "acknowledged labels and remembered rows per second, and bytes per row, of a store: --store URL",
        "serve",
        [f"python benchmarks/store.py {ARGS}"],
    ),
    "bench-smoke": Job("compiled against plain path on small inputs", "bench", ["python benchmarks/smoke.py"]),
    "lock": Job(
        "rewrite locks/ with uv; add --upgrade for newer versions",
        commands=[
            *(f"{COMPILE} pyproject.toml {LOCKS[name]} -o locks/{name}.txt {ARGS}" for name in LOCKS),
            *(f"{COMPILE} --group {name} -o locks/{name}.txt {ARGS}" for name in PEERS),
        ],
    ),
}

if __name__ == "__main__":
    if sys.version_info < (3, 11):  # noqa: UP036 - this line is read by older versions too
        sys.exit("run.py needs Python 3.11 or newer")
    try:
        sys.exit(main(*sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
