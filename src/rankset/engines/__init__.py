"""The same rule where the rows already are: ``engines.dask``, ``engines.spark``, and ``engines.shards`` for folders.

Each has two verbs, ``calibrate`` and ``predict``. A part of the rows (a block, a partition, a file) becomes a rule of
its own by the code that runs on one machine, and rules merge exactly, so thresholds and sets are the same, byte for
byte.
"""
