"""Compiled loops, and the one place that decides whether to use them.

Numba is optional (``pip install 'rankset[fast]'``). Compiled loops give the same bits as the plain path in less time.
RANKSET_PLAIN=1 forces the plain path.
"""

import os
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from rankset.core.kernels.compiled import CompiledLoops
from rankset.core.kernels.loaded import LOADED
from rankset.errors import KindError, warn

PLAIN = "RANKSET_PLAIN"

WORTHWHILE = 1 << 23
"""Number of entries of a matrix from which on loading compiled code saves time. Loaded code always does."""

MOST_COLUMNS = 1 << 24
"""Entries are counted in the precision of the rows, and float32 counts no further."""


def choose(n_rows: int, n_columns: int, needed: Iterable[tuple[str, str]] = ()) -> CompiledLoops | None:
    """Return the compiled loops for a matrix of this shape; None if the plain path is to be used.

    Small matrices get them if all loops that are ``needed``, by name and dtype of the rows, have run before.
    """
    if _forced_plain() or n_columns > MOST_COLUMNS:
        return None
    if n_rows * n_columns < WORTHWHILE and not (LOADED and needed and LOADED.issuperset(needed)):
        return None
    return _installed()


def warm_up() -> bool:
    """Load and compile the loops now, so that the first call need not wait and small calls use them, too.

    These are the loops of calibration and prediction. Those of p-values are loaded by the first large call.

    Without ``warm_up``, the first call with a large matrix loads the loops. This takes about a second, or some
    twenty seconds if they were never compiled on this machine. Small matrices use loops only after they are loaded.
    Results are the same with and without loops.

    Returns
    -------
    bool
        Whether compiled loops are used: False without Numba (``pip install 'rankset[fast]'``) or with RANKSET_PLAIN=1.

    Raises
    ------
    KindError
        If the environment variable RANKSET_PLAIN is neither 0 nor 1.

    Examples
    --------
    >>> import rankset as rs
    >>> rs.warm_up() in (True, False)
    True
    """
    loops = None if _forced_plain() else _installed()
    if loops is not None:
        loops.run_once()
    return loops is not None


def _forced_plain() -> bool:
    """Return whether the environment variable asks for the plain path."""
    plain = os.environ.get(PLAIN) or "0"
    if plain not in ("0", "1"):
        raise KindError.argument(f"the environment variable {PLAIN}", "0 or 1", plain)
    return plain == "1"


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
