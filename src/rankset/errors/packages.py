"""Errors about packages that are not installed, and which extra of rankset installs them."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Self

from rankset.errors.base import RanksetError
from rankset.errors.fields import Either, Place, Text

EXTRAS = {
    "click": "cli",
    "dask": "dask",
    "distributed": "dask",
    "matplotlib": "plots",
    "mlflow": "mlflow",
    "msgspec": "serve",
    "narwhals": "frames",
    "numba": "fast",
    "onnx": "onnx",
    "openpyxl": "excel",
    "plotly": "report",
    "psycopg": "postgres",
    "pyarrow": "cli",
    "pyspark": "spark",
    "sklearn": "sklearn",
    "sqlalchemy": "serve",
    "starlette": "serve",
    "torch": "torch",
    "tqdm": "cli",
    "uvicorn": "serve",
}
"""The extra of rankset that installs each module."""
PACKAGES = {"sklearn": "scikit-learn"}
"""Names of packages that differ from the names of their modules."""


class PackageError(RanksetError, ModuleNotFoundError):
    """A package that is not installed. It is also a ``ModuleNotFoundError``.

    The message says which extra of rankset installs it, such as ``pip install 'rankset[torch]'``.

    Examples
    --------
    >>> import rankset as rs
    >>> try:
    ...     from rankset.engines import spark
    ... except rs.errors.PackageError as error:
    ...     spark = None  # error.remedy says what to install
    >>> issubclass(rs.errors.PackageError, ImportError)
    True
    """

    @classmethod
    def missing(cls, module: str, purpose: str, extra: str = "", absent: str = "", otherwise: Text = "") -> Self:
        """``absent`` is the part of ``module`` that was not found, if an old version without it is installed."""
        reason = f"the installed version has no {absent}" if absent else "it is not installed"
        remedy: Text = ("Install it with ", pip_command(module, extra), otherwise, ".")
        return cls(PACKAGES.get(module, module), f"be installed for {purpose}", reason=reason, remedy=remedy)

    @classmethod
    def to_read(cls, module: str, path: str) -> Self:
        error = cls.missing(module, "reading this file")
        error.where = Place(file=path)
        return error

    @classmethod
    def to_write(cls, module: str, path: str) -> Self:
        error = cls.missing(module, "writing this file")
        error.where = Place(file=path)
        return error

    @classmethod
    def narwhals(cls) -> Self:
        return cls.missing("narwhals", "data frames", otherwise=Either(", or pass frame[classes].to_numpy()", ""))

    @classmethod
    def narwhals_for_results(cls) -> Self:
        return cls.missing("narwhals", "results as data frames")

    @classmethod
    def backend(cls, module: str) -> Self:
        otherwise = Either(", or pass another library as backend=", "")
        return cls.missing(module, f"{module} data frames", otherwise=otherwise)


def pip_command(module: str, extra: str = "") -> str:
    """Return the command that installs ``module``: as an extra of rankset, if it is in one."""
    extra = extra or EXTRAS.get(module, "")
    return f"pip install 'rankset[{extra}]'" if extra else f"pip install {PACKAGES.get(module, module)}"


@contextmanager
def needs_extra(purpose: str, extra: str = "") -> Iterator[None]:
    """Inside, an import that fails because an extra is not installed raises an error that says what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        absent = error.name or ""
        module = absent.split(".")[0]
        if isinstance(error, PackageError) or module not in EXTRAS:
            raise
        lacks = absent if absent != module and find_spec(module) is not None else ""
        raise PackageError.missing(module, purpose, extra, lacks) from None


def import_with_extra(module: str, purpose: str, extra: str = "") -> ModuleType:
    """Import a module of rankset; if an extra is not installed, raise an error that says what to install."""
    with needs_extra(purpose, extra):
        found = import_module(module)
    return found  # noqa: RET504 - type checkers think that "with" may end early
