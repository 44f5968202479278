"""The process that reads parquet and Arrow files, so that a damaged or hostile file ends this process and no other.

``columnar`` runs this file as a script. It must import nothing but pyarrow, so it is one file.

Every line on standard input is a request: a JSON object with ``path``, ``kind`` and ``memory`` (bytes the process may
take beyond what it has). The answer on standard output starts with one letter. ``T``: a table follows as an Arrow
stream; there may be several. ``D``: no more tables. ``C``: the Arrow file is valid and can be mapped as it is.
``M``: reading takes more memory. ``E``: the length of an error text (four bytes) and the text follow.
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

IDLE_SECONDS = 30
"""The process ends after so many seconds without a request."""
FEATHER_1 = b"FEA1"
"""First bytes of a Feather file of version 1."""
ARROW_STREAM = b"\xff\xff\xff\xff"
"""First bytes of an Arrow stream, which Hugging Face datasets write in place of an Arrow file."""
MAX_BATCH, MAX_ROWS = 128 << 20, 1 << 16
FEWER = 256
"""If a batch does not fit, reading is tried again with this many times fewer rows."""
MAX_COPIED = 1 << 20
"""An Arrow file is mapped only if reading its batches allocates no more bytes than this."""
SHARED_ROWS = 4096
"""Rows whose shared values are copied at once; fewer where they do not fit."""
VIEWS = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}
"""Types of texts that several rows may share in memory, and the types that do not share."""


def main() -> None:
    """Answer requests until there are no more."""
    with suppress(ValueError, AttributeError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one ends it
    out = sys.stdout.buffer
    while _has_request(sys.stdin) and (line := sys.stdin.buffer.readline()):
        request = json.loads(line)
        try:
            mapped = 2 * Path(request["path"]).stat().st_size  # a mapped file counts, though it takes no memory
            with limit_memory(request["memory"] + mapped):
                answer(out, **request)
        except MemoryError:
            out.write(b"M")
        except BrokenPipeError:
            return
        except Exception as error:  # noqa: BLE001 - a damaged file can make anything go wrong
            text = (" ".join(str(error).split())[:500] or type(error).__name__).encode("utf-8", "replace")
            out.write(b"E" + len(text).to_bytes(4, "little") + text)
        out.flush()


def _has_request(stream: Any) -> bool:
    """Wait for a request; return whether one came in time."""
    try:
        return bool(select.select([stream], [], [], IDLE_SECONDS)[0])
    except OSError:  # Windows cannot wait for pipes
        return True


@contextmanager
def limit_memory(memory: int) -> Iterator[None]:
    """Make allocations beyond ``memory`` more bytes fail inside, where the system has such a limit."""
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
    """Write the answer to one request."""
    if kind == "parquet":
        batches = parquet_batches(path, memory)
    else:
        with open(path, "rb") as file:  # noqa: PTH123
            start = file.read(4)
        batches = {FEATHER_1: feather_1_batches, ARROW_STREAM: stream_batches}.get(start, arrow_batches)(path)
        if start not in (FEATHER_1, ARROW_STREAM) and can_be_mapped(path):
            out.write(b"C")
            return
    for batch in batches:
        for part in without_shared_values(batch):
            out.write(b"T")
            with ipc.new_stream(out, part.schema) as stream:
                stream.write(part)
    out.write(b"D")


def feather_1_batches(path: str) -> Iterator[Any]:
    """Yield the table of a Feather file of version 1, validated."""
    table = feather.read_table(path, use_threads=False)
    table.validate(full=True)
    yield table


def arrow_batches(path: str) -> Iterator[Any]:
    """Yield the batches of an Arrow file, validated: pyarrow takes its offsets into memory as they are."""
    with pa.memory_map(path) as source, ipc.open_file(source) as file:
        if file.num_record_batches == 0:
            yield file.schema.empty_table()
        for number in range(file.num_record_batches):
            batch = file.get_batch(number)
            batch.validate(full=True)
            yield batch


def stream_batches(path: str) -> Iterator[Any]:
    """Yield the batches of an Arrow stream, validated."""
    with pa.memory_map(path) as source, ipc.open_stream(source) as stream:
        sent = False
        for batch in stream:
            batch.validate(full=True)
            sent = True
            yield batch
        if not sent:
            yield stream.schema.empty_table()


def can_be_mapped(path: str) -> bool:
    """Whether all batches of an Arrow file are valid, need no decompression, and share no values."""
    with pa.memory_map(path) as source, ipc.open_file(source) as file:
        if any(map(is_shared, file.schema.types)):
            return False
        taken = size = 0
        for number in range(file.num_record_batches):
            before = pa.total_allocated_bytes()
            batch = file.get_batch(number)
            taken += pa.total_allocated_bytes() - before
            if taken > MAX_COPIED:
                return False
            batch.validate(full=True)
            size += batch.nbytes
            del batch  # or the next batch would seem to allocate nothing
    return taken <= size // 8


def parquet_batches(path: str, memory: int) -> Iterator[Any]:
    """Yield the rows of a parquet file in batches; the sizes it states are only hints for how many rows to take."""
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
        rows = max(1, min(MAX_ROWS, min(MAX_BATCH, memory // 8) // width))
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
    """Whether a column holds texts; parquet columns of texts are read as dictionaries."""
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    return any(test(kind) for test in tests)


def without_shared_values(batch: Any) -> Iterator[Any]:
    """Yield a batch as tables whose columns have the size that their values take, some rows at a time.

    Texts that several rows share become dictionaries; other shared values are copied for every row.
    """
    batch = map_columns(batch, dictionary_of_texts)
    if not any(map(is_shared, batch.schema.types)):
        yield map_columns(batch, compact)
        return
    start, rows = 0, SHARED_ROWS
    while start < max(1, len(batch)):
        part = batch[start : start + rows]
        try:
            part = map_columns(part, lambda column: compact(unshare(column) if is_shared(column.type) else column))
        except MemoryError:
            if rows == 1:
                raise
            rows = max(1, rows // 16)
            continue
        yield part
        start += rows


def map_columns(batch: Any, change: Callable[[Any], Any]) -> Any:
    """Table of a batch with every column changed."""
    columns = [change(column) for column in batch.columns]
    return pa.table(columns, batch.schema.names).replace_schema_metadata(batch.schema.metadata)


def map_chunks(column: Any, change: Callable[[Any], Any]) -> Any:
    """Column with every chunk changed."""
    if not isinstance(column, pa.ChunkedArray):
        return change(column)
    return pa.chunked_array([change(chunk) for chunk in column.chunks or [pa.array([], column.type)]])


def dictionary_of_texts(column: Any) -> Any:
    """A dictionary of views as a dictionary of texts; other columns as they are."""
    if not pa.types.is_dictionary(column.type) or not is_shared(column.type.value_type):
        return column
    kind = unshared_type(column.type.value_type)
    return map_chunks(column, lambda one: pa.DictionaryArray.from_arrays(one.indices, one.dictionary.cast(kind)))


def compact(column: Any) -> Any:
    """A dictionary without the values that no row uses, where these are many; other columns as they are."""
    return map_chunks(column, _compact_chunk) if pa.types.is_dictionary(column.type) else column


def _compact_chunk(chunk: Any) -> Any:
    if len(chunk.dictionary) <= SHARED_ROWS + 2 * len(chunk):
        return chunk
    used = compute.unique(chunk.indices.drop_null())
    indices = compute.index_in(chunk.indices, used).cast(chunk.indices.type)
    return pa.DictionaryArray.from_arrays(indices, chunk.dictionary.take(used))


def is_shared(kind: Any) -> bool:
    """Whether rows of a column of this type may share their values in memory, nested columns included."""
    if pa.types.is_dictionary(kind):
        return is_shared(kind.value_type)
    if pa.types.is_run_end_encoded(kind) or pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        return True
    return kind in VIEWS or any(is_shared(kind.field(place).type) for place in range(kind.num_fields))


def unshare(column: Any) -> Any:
    """Copy of a column that shares values in dictionaries only."""
    kind = column.type
    if isinstance(column, pa.ChunkedArray):
        return map_chunks(column, unshare)
    if kind in VIEWS:
        return column.cast(VIEWS[kind]).dictionary_encode()
    if pa.types.is_run_end_encoded(kind):
        decoded = compute.run_end_decode(column)
        return unshare(decoded) if is_shared(decoded.type) else decoded
    if not has_list_views(kind):  # which pyarrow casts to lists that are not valid
        with suppress(pa.ArrowNotImplementedError, pa.ArrowInvalid):
            return column.cast(unshared_type(kind))
    return pa.array(column.to_pylist(), unshared_type(kind))


def has_list_views(kind: Any) -> bool:
    """Whether a type is a view of lists, or contains one."""
    is_view = pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind)
    return is_view or any(has_list_views(kind.field(place).type) for place in range(kind.num_fields))


def unshared_type(kind: Any) -> Any:
    """The same type without views, and without dictionaries inside other types."""
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


if __name__ == "__main__":
    main()
