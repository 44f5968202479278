"""Calibration, prediction and decisions on large data: ``engines.dask``, ``engines.spark``, ``engines.shards``.

Each of the three modules has the functions ``calibrate`` and ``predict``, and ``triage``, ``accept`` and ``decide``.
``calibrate`` computes one rule for each partition of the data (a block of rows, a Spark partition or a file) and merges
these rules. The merged rule and its sets are the same, byte for byte, as for ``rankset.calibrate`` on all rows. The
same holds for ``triage`` and its decisions. The files of this package::

    dask.py, spark.py, shards.py    the public functions; those about decisions are in dask_decisions.py,
                                    spark_decisions.py and shard_decisions.py
    dask_arrays.py, dask_frames.py  Dask arrays and Dask data frames
    spark_frames.py                 Spark data frames
    spark_workers.py                the work on one Spark partition
    worker_tasks.py                 tasks that are sent to the workers
    decision_tasks.py               such tasks about decisions
    partial_rules.py                results of the workers, and how these are merged into one rule or triage
    batch_counts.py                 counts of p-values, and how these are merged
    frame_columns.py                columns of Dask and Spark data frames
    shard_paths.py                  lists the files of folders and patterns; pairs score files with label files
    shard_tasks.py                  the work on one file
    processes.py                    worker processes on one machine
"""

from typing import Any

from rankset.errors import import_with_extra

EXTRAS = {"dask": "dask", "spark": "spark", "shards": "cli"}
"""The extra that must be installed for each module."""


def __getattr__(name: str) -> Any:
    if name not in EXTRAS:
        raise AttributeError(f"module 'rankset.engines' has no attribute {name!r}")
    return import_with_extra(f"rankset.engines.{name}", f"rankset.engines.{name}", EXTRAS[name])
