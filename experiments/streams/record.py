"""The file of all numbers about streams: every job replaces its own part, and writes by which command it was made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

NUMBERS = Path(__file__).parents[2] / "docs" / "understand" / "streams.json"


def numbers() -> dict[str, Any]:
    """All parts."""
    return json.loads(NUMBERS.read_text(encoding="utf-8")) if NUMBERS.exists() else {}  # type: ignore[no-any-return]


def record(part: str, value: Any, command: str) -> None:  # noqa: ANN401 - whatever JSON holds
    """Replace one part, which was made by ``python3 run.py`` and this command."""
    known = numbers()
    known |= {part: value, "commands": {**known.get("commands", {}), part: f"python3 run.py {command}"}}
    text = json.dumps(known, indent=1, sort_keys=True, ensure_ascii=False)
    fresh = NUMBERS.with_suffix(".new")
    fresh.write_text(text + "\n", encoding="utf-8")
    fresh.replace(NUMBERS)
