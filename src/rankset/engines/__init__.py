"""The same rule where the rows already are: ``engines.dask``, ``engines.spark``, and ``engines.shards`` for folders.

Each has two verbs, ``calibrate`` and ``predict``. A part of the rows (a block, a partition, a file) becomes a rule of
its own by the code that runs on one machine, and rules merge exactly, so thresholds and sets are the same, byte for
byte.
"""

from importlib import import_module
from typing import Any

from rankset.errors import KindError

NEEDS = {"dask": "dask", "spark": "pyspark", "shards": "pyarrow"}
"""What each of them is made for, or needs for tables."""


def __getattr__(name: str) -> Any:
    if name not in NEEDS:
        raise AttributeError(f"module 'rankset.engines' has no attribute {name!r}")
    try:
        return import_module(f"rankset.engines.{name}")
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != NEEDS[name]:
            raise
        raise KindError.no_engine(name, NEEDS[name]) from None
