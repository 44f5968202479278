"""The same calibration and prediction by NumPy, Dask, Spark and shards: time, memory, and whether they agree.

`python3 run.py bench-engines --rows 5000000` (in the environment of the engines) writes its files into a folder that it
removes again, and prints a table. Starting workers and sessions is not counted; a small job warms them up.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Self

import numpy as np
import psutil

import rankset as rs
from rankset.engines import shards

SHARD = 250_000
ALPHA = 0.1


def make(folder: Path, n: int, k: int) -> tuple[Path, Path, Path]:
    """Probabilities and labels as .npy files, and as a folder of parquet shards with a column of lists."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    logits = rng.normal(0, 3, (min(n, SHARD), k)).astype(np.float32)
    base = np.exp(logits - logits.max(axis=1, keepdims=True))
    base /= base.sum(axis=1, keepdims=True)
    truth = (base.cumsum(axis=1) > rng.random((len(base), 1))).argmax(axis=1)
    probs = np.lib.format.open_memmap(folder / "probs.npy", "w+", np.float32, (n, k))
    labels = np.lib.format.open_memmap(folder / "labels.npy", "w+", np.int64, (n,))
    tables = folder / "parquet"
    tables.mkdir()
    for start in range(0, n, SHARD):
        part = slice(start, min(start + SHARD, n))
        size = part.stop - part.start
        order = rng.permutation(k)  # another order of columns in every shard: no two have the same rows
        probs[part], labels[part] = base[:size][:, order], np.argsort(order)[truth[:size]]
        lists = pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(probs[part]).ravel()), k)
        table = pa.table({"probs": lists.cast(pa.list_(pa.float32())), "label": labels[part]})
        pq.write_table(table, tables / f"part-{start // SHARD:05d}.parquet", compression="none")
    return folder / "probs.npy", folder / "labels.npy", tables


class Peak:
    """The largest memory that this process and its children had while something ran."""

    def __enter__(self) -> Self:
        self.most, self.running = 0, True
        self.watch = threading.Thread(target=self._look)
        self.watch.start()
        self.started = time.perf_counter()
        return self

    def _look(self) -> None:
        me = psutil.Process()
        while self.running:
            total = 0
            for process in [me, *me.children(recursive=True)]:
                try:
                    told = process.memory_info()
                    total += told.rss - told.shared  # without pages of files, which the system may drop at any time
                except psutil.Error:
                    continue
            self.most = max(self.most, total)
            time.sleep(0.2)

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self.started
        self.running = False
        self.watch.join()


def told(name: str, verb: str, peak: Peak, base: float | None, n: int) -> None:
    """One line of the table."""
    ratio = "" if base is None else f"{peak.seconds / base:8.1f}"
    rate = n / peak.seconds / 1e6
    print(f"| {name} | {verb} | {peak.seconds:8.2f} | {ratio} | {rate:8.2f} | {peak.most / 2**20:8.0f} |", flush=True)


def plain(probs: Path, labels: Path) -> tuple[rs.Rule, dict[str, float]]:
    """The memory map, block by block, in threads."""
    values, truth = np.load(probs, mmap_mode="r"), np.load(labels)
    seconds = {}
    rs.calibrate(values[:1000], truth[:1000])
    with Peak() as peak:
        rule = rs.calibrate(values, truth)
    seconds["calibrate"] = peak.seconds
    told("memory map", "calibrate", peak, None, len(values))
    with Peak() as peak:
        sizes = sum(int(sets.sizes.sum()) for sets in rule.predict_parts(values, ALPHA, rows=SHARD))
    seconds["predict"], seconds["sizes"] = peak.seconds, sizes
    told("memory map", "predict", peak, None, len(values))
    return rule, seconds


def on_shards(tables: Path, rule: rs.Rule, base: dict[str, float], n: int) -> None:
    """Parquet files in a pool of processes."""
    with Peak() as peak:
        assert shards.calibrate(tables, label="label") == rule
    told("parquet shards", "calibrate", peak, base["calibrate"], n)
    with Peak() as peak:
        assert sum(int(sets.sizes.sum()) for sets in shards.predict(rule, tables, ALPHA)) == base["sizes"]
    told("parquet shards", "predict", peak, base["predict"], n)


def load(path: str, start: int, stop: int) -> np.ndarray:
    """Some rows of a file that every worker can open."""
    return np.asarray(np.load(path, mmap_mode="r")[start:stop])


def on_dask(probs: Path, labels: Path, rule: rs.Rule, base: dict[str, float], n: int, k: int) -> None:
    """Two worker processes, rows read where they are worked on."""
    import dask
    import dask.array as da
    import distributed

    from rankset.engines import dask as engine

    read = dask.delayed(load)
    starts = range(0, n, SHARD)
    blocks = [(start, min(start + SHARD, n)) for start in starts]
    values = da.concatenate([da.from_delayed(read(str(probs), a, b), (b - a, k), np.float32) for a, b in blocks])
    truth = da.concatenate([da.from_delayed(read(str(labels), a, b), (b - a,), np.int64) for a, b in blocks])
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster):
        engine.calibrate(values[:1000], truth[:1000])
        with Peak() as peak:
            assert engine.calibrate(values, truth) == rule
        told("Dask, two workers", "calibrate", peak, base["calibrate"], n)
        with Peak() as peak:
            assert int(engine.predict(rule, values, ALPHA).sum().compute()) == base["sizes"]
        told("Dask, two workers", "predict", peak, base["predict"], n)


def on_spark(tables: Path, rule: rs.Rule, base: dict[str, float], n: int) -> None:
    """Local Spark with two cores, from parquet."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    from rankset.engines import spark as engine

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "4g")
        .config("spark.driver.maxResultSize", "0")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    frame = session.read.parquet(str(tables))
    engine.calibrate(frame.limit(1000), "label")
    with Peak() as peak:
        assert engine.calibrate(frame, "label") == rule
    told("Spark, local[2]", "calibrate", peak, base["calibrate"], n)
    with Peak() as peak:
        sizes = engine.predict(rule, frame, ALPHA, keep=[]).agg({"size": "sum"}).collect()[0][0]
        assert sizes == base["sizes"]
    told("Spark, local[2]", "predict", peak, base["predict"], n)
    session.stop()


def main() -> None:
    """Measure everything that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--classes", type=int, default=100)
    parser.add_argument("--only", nargs="*", default=["shards", "dask", "spark"])
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="rankset-engines-"))
    try:
        probs, labels, tables = make(folder, options.rows, options.classes)
        print(f"{options.rows:,} x {options.classes} float32, RANK, {os.cpu_count()} cores\n")
        print("| engine | | seconds | times the memory map | million rows/s | peak MB, all processes |")
        print("|---|---|---|---|---|---|")
        rule, base = plain(probs, labels)
        if "shards" in options.only:
            on_shards(tables, rule, base, options.rows)
        if "dask" in options.only:
            on_dask(probs, labels, rule, base, options.rows, options.classes)
        if "spark" in options.only:
            on_spark(tables, rule, base, options.rows)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
