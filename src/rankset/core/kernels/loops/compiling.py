"""The decorator that compiles loops: without Python's global lock, and cached on disk where possible."""

import numba


def compiled(*fastmath):
    """Return a decorator that compiles a function; ``fastmath`` lists the fast-math flags of LLVM that it may use."""

    def decorated(function):
        options = {"nogil": True, "fastmath": set(fastmath)}
        try:
            return numba.njit(cache=True, **options)(function)
        except RuntimeError:  # no folder to write to
            return numba.njit(**options)(function)

    return decorated
