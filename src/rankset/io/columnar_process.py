"""The process that reads parquet and Arrow files, so that a damaged or hostile one ends this process and no other.

It is run as a script by ``columnar``, and needs nothing but pyarrow. Every line on standard input is a request: a JSON
object with ``path``, ``kind`` and ``memory`` (bytes it may take beyond what the process has). The answer on standard
output is a byte and what follows it: ``T`` and a table as an Arrow stream (any number of times), then ``D``, done;
``C``: an Arrow file that can be mapped as it is; ``M``: it takes more memory; ``E``, four bytes and a text: an error.
"""

from __future__ import annotations

import json
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import feather, ipc, parquet

IDLE = 30
"""Seconds without a request after which the process ends."""
MOST_BATCH = 128 << 20
OLD = b"FEA1"
"""How an Arrow file of the first version begins."""
STREAM = b"\xff\xff\xff\xff"
"""How an Arrow stream begins, which Hugging Face datasets write in place of an Arrow file."""
MOST_ROWS = 1 << 16
FEWER = 256
"""If a batch does not fit, another try is made with so many times fewer rows."""
MAPPED = 1 << 20
"""An Arrow file whose batches take no more than this, in all, lies in its file as it is needed: nothing is unpacked."""


def main() -> None:
    """Answers requests until there are no more."""
    with suppress(ValueError, AttributeError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this process ends it
    out = sys.stdout.buffer
    while _waits(sys.stdin):
        line = sys.stdin.buffer.readline()
        if not line:
            return
        request = json.loads(line)
        try:
            mapped = 2 * Path(request["path"]).stat().st_size  # a map of the file counts, though it takes no memory
            with limited(request["memory"] + mapped):
                answer(out, **request)
        except MemoryError:
            out.write(b"M")
        except BrokenPipeError:
            return
        except Exception as error:  # noqa: BLE001 - a damaged file can make anything go wrong
            text = (" ".join(str(error).split())[:500] or type(error).__name__).encode("utf-8", "replace")
            out.write(b"E" + len(text).to_bytes(4, "little") + text)
        out.flush()


def _waits(stream: Any) -> bool:
    """Whether there is another request."""
    try:
        return bool(select.select([stream], [], [], IDLE)[0])
    except OSError:  # a system that does not wait for pipes
        return True


@contextmanager
def limited(memory: int) -> Iterator[None]:
    """Inside, asking for more memory than this fails, where the system has such a limit."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        before = resource.getrlimit(resource.RLIMIT_AS)
        most = pages * resource.getpagesize() + memory
        known = [limit for limit in (*before, most) if limit != resource.RLIM_INFINITY]
        resource.setrlimit(resource.RLIMIT_AS, (min(known), before[1]))
    except (ImportError, OSError, ValueError):
        yield
        return
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def answer(out: Any, path: str, kind: str, memory: int) -> None:
    """Writes the answer to one request."""
    if kind != "parquet":
        with open(path, "rb") as file:  # noqa: PTH123
            start = file.read(4)
        batches = {OLD: old_batches, STREAM: stream_batches}.get(start, arrow_batches)(path)
        if start not in (OLD, STREAM) and is_mapped(path):
            out.write(b"C")
            return
    else:
        batches = parquet_batches(path, memory)
    for batch in batches:
        out.write(b"T")
        with ipc.new_stream(out, batch.schema) as stream:
            stream.write(batch)
    out.write(b"D")


def old_batches(path: str) -> Iterator[Any]:
    """The table of an Arrow file of the first version, checked."""
    table = feather.read_table(path, use_threads=False)
    table.validate(full=True)
    yield table


def is_mapped(path: str) -> bool:
    """Whether all batches of an Arrow file are valid, and lie in it as they are needed."""
    with pa.memory_map(path) as source, ipc.open_file(source) as file:
        taken = size = 0
        for number in range(file.num_record_batches):
            before = pa.total_allocated_bytes()
            batch = file.get_batch(number)
            taken += pa.total_allocated_bytes() - before
            if taken > MAPPED:
                return False
            batch.validate(full=True)
            size += batch.nbytes
            del batch  # or the next one would seem to take nothing
    return taken <= size // 8


def arrow_batches(path: str) -> Iterator[Any]:
    """The batches of an Arrow file, checked: pyarrow takes numbers in it for offsets into memory as they are."""
    with pa.memory_map(path) as source, ipc.open_file(source) as file:
        if file.num_record_batches == 0:
            yield file.schema.empty_table()
        for number in range(file.num_record_batches):
            batch = file.get_batch(number)
            batch.validate(full=True)
            yield batch


def stream_batches(path: str) -> Iterator[Any]:
    """The batches of an Arrow stream, checked."""
    with pa.memory_map(path) as source, ipc.open_stream(source) as stream:
        sent = False
        for batch in stream:
            batch.validate(full=True)
            sent = True
            yield batch
        if not sent:
            yield stream.schema.empty_table()


def parquet_batches(path: str, memory: int) -> Iterator[Any]:
    """The rows of a parquet file, some at a time; what it says of its own size is only a hint for how many."""
    size = Path(path).stat().st_size
    limits = {
        "thrift_string_size_limit": min(100 << 20, memory),
        "thrift_container_size_limit": max(1000, min(1_000_000, memory // 512)),
    }
    with pa.memory_map(path) as source:
        schema = parquet.ParquetFile(source, **limits).schema_arrow
    texts = [field.name for field in schema if is_text(field.type)]
    with pa.memory_map(path) as source:
        file = parquet.ParquetFile(source, read_dictionary=texts, pre_buffer=False, **limits)
        width = max(8 * len(file.schema_arrow), 8 * size // max(1, file.metadata.num_rows), 1)
        rows = max(1, min(MOST_ROWS, min(MOST_BATCH, memory // 8) // width))
        sent = 0
        while True:
            try:
                for batch in file.iter_batches(rows, use_threads=False):
                    sent += 1
                    yield batch
                break
            except MemoryError:
                if sent or rows == 1:
                    raise
                rows = max(1, rows // FEWER)
        if not sent:
            yield file.schema_arrow.empty_table()


def is_text(kind: Any) -> bool:
    """Whether a column holds texts: they are read as numbers into a list of the distinct ones."""
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    return any(test(kind) for test in tests)


if __name__ == "__main__":
    main()
