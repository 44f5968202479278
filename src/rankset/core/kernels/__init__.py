"""Compiled loops, and the one place that decides whether to use them.

Numba is optional (``pip install 'rankset[fast]'``). Compiled loops give the same bits as the plain path in less time.
RANKSET_PLAIN=1 forces the plain path.
"""

import os
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from rankset.core.kernels.compiled import CompiledLoops
from rankset.errors import KindError, warn

PLAIN = "RANKSET_PLAIN"

WORTHWHILE = 1 << 23
"""Number of entries of a matrix from which on loading compiled code saves time."""

MOST_COLUMNS = 1 << 24
"""Entries are counted in the precision of the rows, and float32 counts no further."""


def choose(n_rows: int, n_columns: int) -> CompiledLoops | None:
    """Return the compiled loops for a matrix of this shape; None if the plain path is to be used."""
    too_small, too_wide = n_rows * n_columns < WORTHWHILE, n_columns > MOST_COLUMNS
    plain = os.environ.get(PLAIN) or "0"
    if plain not in ("0", "1"):
        raise KindError.argument(f"the environment variable {PLAIN}", "0 or 1", plain)
    if too_small or too_wide or plain == "1":
        return None
    return _installed()


@cache
def _installed() -> CompiledLoops | None:
    """Return the compiled loops; None if Numba is missing or does not work."""
    if not find_spec("numba"):
        return None
    try:
        import_module("rankset.core.kernels.loops.listing")
    except Exception as error:  # noqa: BLE001 - whatever keeps Numba from working, the plain path works
        warn(f"Numba is installed but cannot be used ({error}). Results are the same but take longer.")
        return None
    return CompiledLoops()
