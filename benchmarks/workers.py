"""The driver's side of a worker: start, ask, give up."""

import json
import os
import select
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PATIENCE = 600.0
OUT_OF_MEMORY = ("MemoryError", "allocate memory", "bad allocation")


class Refusal(Exception):  # noqa: N818 - an answer, not an accident
    """Why a worker has no result."""


@dataclass
class Worker:
    """One library in its environment, started when first asked and again after it had to be stopped."""

    title: str
    module: str
    lock: str
    variables: Mapping[str, str] = field(default_factory=dict)
    process: subprocess.Popen[str] | None = None
    loaded: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def python(self) -> Path:
        """The interpreter of its environment."""
        return HERE.parent / ".envs" / self.lock / "bin" / "python"

    def ask(self, do: str, patience: float = PATIENCE, **question: object) -> dict[str, Any]:
        """The answer to one question; a refusal after ``patience`` seconds or when the library fails."""
        process = self._running()
        assert process.stdin
        assert process.stdout
        print(json.dumps({"do": do, **question}), file=process.stdin, flush=True)
        if not select.select([process.stdout], [], [], patience)[0]:
            self.stop()
            raise Refusal(f"more than {patience:.0f} s")
        line = process.stdout.readline()
        if not line:
            self.stop()
            raise Refusal("the process ended")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise Refusal(_reason(answer["error"]))
        return answer

    def load(self, name: str, calibration: list[str], test: list[str]) -> None:
        """Give it matrices, remembered for the day it has to be started again."""
        self.ask("load", name=name, calibration=calibration, test=test)
        self.loaded[name] = {"calibration": calibration, "test": test}

    def drop(self) -> None:
        """Take all matrices away again."""
        self.loaded.clear()
        self.ask("drop")

    def stop(self) -> None:
        """End the process, if there is one."""
        if self.process:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def _running(self) -> subprocess.Popen[str]:
        if not self.process:
            self.process = subprocess.Popen(
                [self.python, "-W", "ignore", HERE / "worker.py", self.module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=HERE,
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **self.variables},
            )
            for name, files in self.loaded.items():
                self.ask("load", name=name, **files)
        return self.process


def _reason(error: str) -> str:
    return "more than 12 GB" if any(sign in error for sign in OUT_OF_MEMORY) else error.splitlines()[0][:120]


PLAIN = Worker("rankset, plain", "ours", "bench", {"RANKSET_PLAIN": "1"})
FAST = Worker("rankset, fast", "ours", "bench", {"RANKSET_PLAIN": ""})
OURS = (PLAIN, FAST)
READ = Worker("read", "read", "bench")
PEERS = (
    Worker("official RANK", "official", "peer-torchcp"),
    Worker("TorchCP", "torchcp", "peer-torchcp"),
    Worker("MAPIE", "mapie", "peer-mapie"),
    Worker("puncc", "puncc", "peer-puncc"),
    Worker("crepes", "crepes", "peer-crepes"),
)
