"""Readers of score files and rules under atheris: an answer or one of our errors, whatever the bytes.

`python3 run.py fuzz` runs it for a minute; `-max_total_time=3600` and a folder to keep the corpus in may follow.
"""

import gzip
import io
import json
import sys
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["rankset", "numpy.lib.format", "zipfile", "safetensors"]):
    import numpy as np
    import openpyxl
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow import feather

    import rankset as rs
    from rankset.io import class_counts, read_file
    from rankset.io.events import EventReader
    from rankset.io.layout import Layout
    from rankset.io.memory_budget import Budget
    from rankset.io.readers.lines import lines_of, parse_line

PROBS = np.random.default_rng(0).dirichlet(np.ones(3), 4)
TABLE = pa.table({name: PROBS[:, place] for place, name in enumerate("abc")})
LINES = "".join(json.dumps(row) + "\n" for row in TABLE.to_pylist()).encode()
FOLDER = Path(tempfile.mkdtemp(prefix="rankset-fuzz-"))


def saved(write):
    data = io.BytesIO()
    write(data)
    return data.getvalue()


def workbook(file):
    book = openpyxl.Workbook()
    for row in (["a", "b"], [0.5, 0.5], ["x", "=A2"]):
        book.active.append(row)
    book.save(file)


def rule():
    rs.calibrate(PROBS, [0, 1, 2, 0]).save(FOLDER / "seed.rankset")
    return (FOLDER / "seed.rankset").read_bytes()


def take_events(data):
    """Give lines of JSON to a stream, as ``rankset watch`` does; some are refused, none goes wrong."""
    stream, read = rs.Stream(RULE, 0.1), io.BytesIO(data).read1
    reader = EventReader(stream.spec.classes, stream.kind, stream.spec.groups, Layout(), needs_groups=False)
    for _, line in lines_of(read, 1 << 16):
        with suppress(rs.RanksetError):
            event = reader.event(parse_line(line, Budget("-", 1 << 24)))
            name = stream.n_rows if event.identity is None else event.identity
            if event.scores is not None:
                stream.predict(event.scores, ids=[name])
            if event.label is not None:
                stream.update([event.label], ids=[name])
    stream.save(FOLDER / "stream.rankset")
    assert rs.Stream.load(FOLDER / "stream.rankset").n_rows == stream.n_rows


RULE = rs.calibrate(PROBS, ["a", "b", "c", "a"], classes=["a", "b", "c"])
EVENTS = b'{"id": "x", "scores": [0.5, 0.25, 0.25]}\n{"id": "x", "label": "b"}\n{"scores": {"c": 1}, "label": 1}\n'
WHOLE = {
    ".npy": saved(lambda file: np.save(file, PROBS)),
    ".npz": saved(lambda file: np.savez_compressed(file, x=PROBS)),
    ".csv": ("a,b,c\n" + "".join(f"{a},{b},{c}\n" for a, b, c in PROBS.tolist())).encode(),
    ".tsv": "a\tb\n0,5\t0,5\n".encode("utf-16"),
    ".xlsx": saved(workbook),
    ".jsonl": LINES,
    ".jsonl.gz": gzip.compress(LINES, mtime=0),
    ".csv.gz": gzip.compress(b"a,b\n0.5,0.5\n", mtime=0),
    ".parquet": saved(lambda file: pq.write_table(TABLE, file)),
    ".feather": saved(lambda file: feather.write_feather(TABLE, file)),
    ".rankset": rule(),
    ".counts.csv": b'class;count\ncat;12\n"owl; old";3\n',
    ".counts.json": b'{"cat": 12, "owl": 3.5}',
    ".events": LINES + EVENTS,
}
KINDS = list(WHOLE)


def read(data):
    """The first byte chooses the kind of file."""
    if not data:
        return
    kind = KINDS[data[0] % len(KINDS)]
    path = FOLDER / f"scores{kind}"
    path.write_bytes(data[1:])
    with suppress(rs.RanksetError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == ".rankset":
            rs.load(path).predict(PROBS, 0.1)
            return
        if kind == ".events":
            take_events(data[1:])
            return
        if kind.startswith(".counts"):
            class_counts.read_class_counts(str(path))
            return
        matrix, _ = read_file.read_file(str(path)).scores()
        rs.calibrate(matrix, np.zeros(len(matrix), dtype=int), kind="decision")


if __name__ == "__main__":
    corpus = FOLDER / "corpus"
    corpus.mkdir()
    for number, (kind, content) in enumerate(WHOLE.items()):
        (corpus / kind.strip(".")).write_bytes(bytes([number]) + content)
    atheris.Setup([*sys.argv, str(corpus)], read)
    atheris.Fuzz()
