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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import compute, feather, ipc, parquet

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
        for part in unshared(batch):
            out.write(b"T")
            with ipc.new_stream(out, part.schema) as stream:
                stream.write(part)
    out.write(b"D")


def old_batches(path: str) -> Iterator[Any]:
    """The table of an Arrow file of the first version, checked."""
    table = feather.read_table(path, use_threads=False)
    table.validate(full=True)
    yield table


def unshared(batch: Any) -> Iterator[Any]:
    """A batch in which the size of a column tells what its values take; some rows at a time, where that costs memory.

    Texts that several rows may share become dictionaries; other shared values become values of every row.
    """
    batch = with_columns(batch, of_texts)
    if not any(map(is_shared, batch.schema.types)):
        yield with_columns(batch, compact)
        return
    start, rows = 0, SHARED_ROWS
    while start < max(1, len(batch)):
        part = batch[start : start + rows]
        try:
            part = with_columns(
                part, lambda column: compact(plain_column(column) if is_shared(column.type) else column)
            )
        except MemoryError:
            if rows == 1:
                raise
            rows = max(1, rows // 16)
            continue
        yield part
        start += rows


def with_columns(batch: Any, changed: Callable[[Any], Any]) -> Any:
    """A batch with its columns changed."""
    columns = [changed(column) for column in batch.columns]
    return pa.table(columns, batch.schema.names).replace_schema_metadata(batch.schema.metadata)


def chunkwise(column: Any, changed: Callable[[Any], Any]) -> Any:
    """A column changed chunk by chunk."""
    if not isinstance(column, pa.ChunkedArray):
        return changed(column)
    return pa.chunked_array([changed(chunk) for chunk in column.chunks or [pa.array([], column.type)]])


def of_texts(column: Any) -> Any:
    """A dictionary of views as one of texts."""
    if not pa.types.is_dictionary(column.type) or not is_shared(column.type.value_type):
        return column
    kind = unshared_type(column.type.value_type)
    return chunkwise(column, lambda one: pa.DictionaryArray.from_arrays(one.indices, one.dictionary.cast(kind)))


def compact(column: Any) -> Any:
    """A dictionary with no more values than its rows use, where it has many that they do not."""
    if not pa.types.is_dictionary(column.type):
        return column
    return chunkwise(column, compact_chunk)


def compact_chunk(chunk: Any) -> Any:
    if len(chunk.dictionary) <= SHARED_ROWS + 2 * len(chunk):
        return chunk
    used = compute.unique(chunk.indices.drop_null())
    return pa.DictionaryArray.from_arrays(
        compute.index_in(chunk.indices, used).cast(chunk.indices.type), chunk.dictionary.take(used)
    )


SHARED_ROWS = 4096
"""So many rows at a time, fewer where they do not fit."""
VIEWS = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}
"""Types of texts that may lie in memory once for several rows, and those that do not."""


def is_shared(kind: Any) -> bool:
    """Whether several rows of a column may share their values in memory, inner columns included."""
    if pa.types.is_dictionary(kind):
        return is_shared(kind.value_type)
    if pa.types.is_run_end_encoded(kind) or pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        return True
    return kind in VIEWS or any(is_shared(kind.field(place).type) for place in range(kind.num_fields))


def plain_column(column: Any) -> Any:
    """A column of shared values as one that shares none but in dictionaries."""
    kind = column.type
    if isinstance(column, pa.ChunkedArray):
        return chunkwise(column, plain_column)
    if kind in VIEWS:
        return column.cast(VIEWS[kind]).dictionary_encode()
    if pa.types.is_run_end_encoded(kind):
        decoded = compute.run_end_decode(column)
        return plain_column(decoded) if is_shared(decoded.type) else decoded
    if not has_list_views(kind):  # which pyarrow casts to lists that are not valid
        with suppress(pa.ArrowNotImplementedError, pa.ArrowInvalid):
            return column.cast(unshared_type(kind))
    return pa.array(column.to_pylist(), unshared_type(kind))


def has_list_views(kind: Any) -> bool:
    """Whether a type is a view of lists, or holds one."""
    views = pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind)
    return views or any(has_list_views(kind.field(place).type) for place in range(kind.num_fields))


def unshared_type(kind: Any) -> Any:
    """The type without views and, inside others, without dictionaries."""
    if pa.types.is_dictionary(kind):
        return unshared_type(kind.value_type)
    if kind in VIEWS:
        return VIEWS[kind]
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(unshared_type(field.type)) for field in kind])
    lists = (pa.types.is_list, pa.types.is_large_list, pa.types.is_list_view, pa.types.is_large_list_view)
    if any(test(kind) for test in lists):
        return pa.large_list(unshared_type(kind.value_type))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(unshared_type(kind.value_type), kind.list_size)
    return kind


def is_mapped(path: str) -> bool:
    """Whether all batches of an Arrow file are valid, lie in it as they are needed, and share no values."""
    with pa.memory_map(path) as source, ipc.open_file(source) as file:
        if any(map(is_shared, file.schema.types)):
            return False
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
