import os
import subprocess
import sys
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, Phase, settings

SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "default", max_examples=60, deadline=None, derandomize=True, suppress_health_check=SLOW_IS_FINE
)
settings.register_profile(
    "quick",  # for planted mistakes: fail fast, shrink nothing
    parent=settings.get_profile("default"),
    max_examples=20,
    phases=[Phase.explicit, Phase.generate],
)
settings.register_profile("large", parent=settings.get_profile("default"), max_examples=300)
settings.register_profile("search", parent=settings.get_profile("large"), derandomize=False, max_examples=5000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

ROOT_ON_LINUX = sys.platform == "linux" and os.geteuid() == 0


def forget_stale_loops():
    """Numba looks at the date of the file that holds a loop, not at the files it calls into."""
    folder = Path(__file__).parents[1] / "src" / "rankset" / "core" / "kernels" / "loops"
    kept = list(folder.glob("__pycache__/*.nb?"))
    newest = max((file.stat().st_mtime for file in folder.glob("*.py")), default=0)
    if any(file.stat().st_mtime < newest for file in kept):
        for file in kept:
            file.unlink(missing_ok=True)


forget_stale_loops()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Looks for doctests in ``src`` alone: as a doctest, a test file that cannot be imported is skipped quietly."""
    found = yield
    return [collector for collector in found if not isinstance(collector, DoctestModule)]


@pytest.fixture(autouse=True)
def no_loops_at_first():
    """Every test begins like a new process, in which no compiled loop has run: small matrices take the plain path."""
    from rankset.core import kernels

    kernels.LOADED.clear()


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 2 MB."""
    if not ROOT_ON_LINUX:
        pytest.skip("only root on Linux can mount a disk")
    folder = tmp_path / "disk"
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], capture_output=True, check=False)
    if made.returncode:
        pytest.skip(f"no disk can be mounted here: {made.stderr.decode()}")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def pytest_collection_modifyitems(items):
    """Refuses tests whose names differ between processes, which ``pytest -n`` cannot collect: give their cases ids."""
    for item in items:
        values = item.callspec.params.values() if hasattr(item, "callspec") else ()
        unsorted = [value for value in values if isinstance(value, set | frozenset) and repr(value) in item.name]
        if unsorted or " at 0x" in item.name:
            raise pytest.UsageError(f"the name of this test is not the same in every process: {item.nodeid}")
