"""The same rule where the rows are: ``engines.dask``, ``engines.spark``, and ``engines.shards`` for folders of files.

Each has two functions, ``calibrate`` and ``predict``. Every partition of the rows (a block, a partition, a file)
becomes a rule by the code that runs on one machine. Rules merge exactly, so thresholds and sets are the same, byte for
byte. The modules::

    dask.py, spark.py, shards.py    the public functions
    dask_arrays.py, dask_frames.py  the two kinds of Dask collections
    worker_tasks.py                 what is sent to workers, and what they do with a partition
    partial_rules.py                what workers send back, and how it becomes one rule
    frame_columns.py                columns of Dask and Spark frames
    shard_paths.py                  folders and patterns as files; which labels belong to which scores
    shard_tasks.py                  what is done with one file
    processes.py                    worker processes on one machine
"""

from importlib import import_module
from typing import Any

from rankset.errors import KindError

NEEDS = {"dask": "dask", "spark": "pyspark", "shards": "pyarrow"}
"""The package that each module needs."""


def __getattr__(name: str) -> Any:
    if name not in NEEDS:
        raise AttributeError(f"module 'rankset.engines' has no attribute {name!r}")
    try:
        return import_module(f"rankset.engines.{name}")
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != NEEDS[name]:
            raise
        raise KindError.no_engine(name, NEEDS[name]) from None
