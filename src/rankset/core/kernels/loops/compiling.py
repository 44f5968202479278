"""How loops are compiled: without holding Python's lock, and remembered on disk where there is a place for it."""

import numba


def compiled(*fastmath):
    """A decorator; ``fastmath`` are the liberties a loop's sums may take."""

    def decorated(function):
        options = {"nogil": True, "fastmath": set(fastmath)}
        try:
            return numba.njit(cache=True, **options)(function)
        except RuntimeError:  # no folder to write to
            return numba.njit(**options)(function)

    return decorated
