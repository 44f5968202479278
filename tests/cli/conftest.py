"""Files of rows in every format, for tests of commands."""

import gzip
import json

import numpy as np
import pytest

from commands import FRAME, LABELS, LOGITS, TEST, VAL


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, part in (("val", VAL), ("test", TEST)):
        np.save(f"{name}_logits.npy", LOGITS[part])
        np.save(f"{name}_labels.npy", LABELS[part])
        np.savez(f"{name}.npz", logits=LOGITS[part], labels=LABELS[part])
        FRAME[part].to_csv(f"{name}.csv", index=False)
        FRAME[part].to_csv(f"{name}.tsv", index=False, sep="\t")
        FRAME[part].to_csv(f"{name}.csv.gz", index=False)
        FRAME[part].to_parquet(f"{name}.parquet")
        FRAME[part].to_feather(f"{name}.feather")
        lines = "".join(json.dumps(row) + "\n" for row in FRAME[part].to_dict("records"))
        (tmp_path / f"{name}.jsonl").write_text(lines)
        (tmp_path / f"{name}.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    return tmp_path
