"""Rows, rules and events for tests of ``rankset watch``, and what ``Stream`` answers to the same events."""

import json

import numpy as np

import rankset as rs
from commands import LABELS, LOGITS, NAMES, run

CALIBRATION, NEW = slice(0, 600), slice(600, 1000)
RULE = rs.calibrate(LOGITS[CALIBRATION].astype(float), LABELS[CALIBRATION], kind="logits", classes=NAMES)
ROWS, TRUE = LOGITS[NEW].astype(float), [NAMES[label] for label in LABELS[NEW]]


def line(**fields):
    return json.dumps(fields) + "\n"


def events(rows=ROWS, labels=TRUE, *, late=0, seed=0):
    """Rows with ids, and their labels up to ``late`` rows later, in any order, some twice and some never."""
    draws = np.random.default_rng(seed)
    due = {}
    for number, (row, label) in enumerate(zip(rows.tolist(), labels, strict=True)):
        yield {"id": f"r{number}", "scores": row}
        if draws.random() < 0.9:
            due.setdefault(number + int(draws.integers(late + 1)), []).append({"id": f"r{number}", "label": label})
        for one in draws.permutation(np.array(due.pop(number, []), dtype=object)).tolist():
            yield one
            if draws.random() < 0.05:
                yield one


def answers(stream, told):
    """The lines that a stream of Python answers to events."""
    lines = []
    for event in told:
        if "scores" in event:
            level = stream.level
            sets = stream.predict(np.array([event["scores"]]), ids=[event["id"]]).to_lists()[0]
            lines.append(line(id=event["id"], set=sets, size=len(sets), level=level))
        if "label" in event:
            stream.update([event["label"]], ids=[event["id"]])
    return "".join(lines)


def text(told):
    return "".join(line(**event) for event in told)


def watch(*arguments, stdin=""):
    return run("watch", *arguments, stdin=stdin)


def fine_watch(*arguments, stdin="", code=0):
    done = watch(*arguments, stdin=stdin)
    assert done.exit_code == code, done.output
    return done
