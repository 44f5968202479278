"""Files of rows for tests of ``rankset triage``, and how its lines are compared with decisions of Python."""

import csv

import numpy as np
import pandas as pd

import commands
import rankset as rs

NAMES = list(rs.datasets.DATASETS["carer"].classes)
LOGITS, CODES = rs.datasets.load("carer")
PROBS = rs.softmax(LOGITS).astype(float)
LABELS = np.array(NAMES)[CODES]
SITES = np.array(["a", "b"] * 1000)
CASES = np.array([f"c{number}" for number in range(2000)])
OLD, NEW = slice(0, 1000), slice(1000, 1600)
FRAME = pd.DataFrame(PROBS, columns=NAMES).assign(answer=LABELS, site=SITES, case=CASES)
TRIAGE = rs.triage(PROBS[OLD], LABELS[OLD], classes=NAMES)
PLAIN = ("--label", "answer", "--drop", "site", "--drop", "case")


def write_files():
    """Write old and new rows, with and without labels, into the current folder."""
    for name, part in (("old", OLD), ("new", NEW)):
        FRAME[part].to_csv(f"{name}.csv", index=False)
        np.save(f"{name}.npy", PROBS[part])
        np.save(f"{name}_labels.npy", CODES[part])


def fine(*arguments, **options):
    return commands.fine("triage", *arguments, **options)


def wrong_use(*arguments):
    done = commands.run("triage", *arguments)
    assert done.exit_code == 2, done.output
    return " ".join(done.stderr.split())


def lines_of(text):
    return list(csv.DictReader(text.splitlines()))


def check_lines(lines, done):
    """Compare written lines with decisions of Python."""
    assert [line["accepted"] for line in lines] == [str(one).lower() for one in done.accepted.tolist()]
    wanted = np.where(done.accepted, done.labels.astype(str), "review")
    assert [line["decision"] for line in lines] == wanted.tolist()
    if done.confidence is None:
        assert [float(line["p_value"]) for line in lines] == done.p_values.tolist()
    else:
        assert "p_value" not in lines[0]
    assert 0 < done.n_accepted < len(done)


def judged(part, name, *, with_answers=True):
    rows = FRAME[part].assign(sure=PROBS[part].max(axis=1), fine=PROBS[part].argmax(axis=1) == CODES[part])
    columns = ["case", "sure", *(["fine"] if with_answers else [])]
    rows[columns].to_csv(f"{name}.csv", index=False)
    rows[[*NAMES, *columns]].to_csv(f"{name}_all.csv", index=False)
