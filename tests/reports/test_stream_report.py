"""``rs.report_stream``: the numbers of the page are those of the stream."""

import json
import math
import re
import sys
from html import unescape
from unittest import mock

import numpy as np
import pytest

import rankset as rs
from rankset.errors import FileError, KindError, PackageError, silent
from refusals import refused

pytest.importorskip("plotly")

LOGITS, LABELS = rs.datasets.load("carer")
RULE = rs.calibrate(LOGITS[:300], LABELS[:300], kind="logits")
DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', flags=re.DOTALL)


def followed(stop=1300, **options):
    stream = rs.Stream(RULE, **({"alpha": 0.1} | options))
    for start in range(300, stop, 50):
        stream.predict(LOGITS[start : start + 50])
        stream.update(LABELS[start : start + 50])
    return stream


def told(stream):
    return rs.reports.study_stream(stream).data


def test_the_file_holds_the_numbers_of_the_stream(tmp_path):
    stream = followed()
    made = rs.report_stream(stream, tmp_path / "stream.html", title="After a <b>year</b>")
    html = made.path.read_text(encoding="utf-8")
    assert html == made.html
    assert "<h1>After a &lt;b&gt;year&lt;/b&gt;</h1>" in html
    data = json.loads(DATA.search(html)[1])
    assert data == made.study.data
    assert (data["rows"], data["labels"], data["misses"]) == (1000, 1000, stream.misses)
    assert data["miss_rate"] == stream.miss_rate
    assert data["bound"] == stream.bound
    assert (data["level"], data["window"], data["waiting"], data["delay"]) == (stream.level, 1000, 0, 49)
    assert data["size"] == pytest.approx(stream.history["sizes"].sum() / 1000)
    assert (data["method"], data["bounded"], data["restarted"]) == ("Adaptive()", True, None)
    assert repr(made) == f"Report('After a <b>year</b>', 1,000 rows, Rank(), path={str(made.path)!r})"


def test_blocks_add_up_to_the_stream():
    stream = followed()
    blocks = told(stream)["blocks"]
    assert len(blocks["row"]) == 20
    assert sum(blocks["rows"]) == blocks["row"][-1] == stream.n_rows
    assert sum(blocks["misses"]) == stream.misses
    assert blocks["running"][-1] == pytest.approx(1 - stream.miss_rate)
    assert blocks["level"][-1] == stream.level
    for alarm in stream.alarms:
        assert blocks["evidence"][alarm.name][-1] == pytest.approx(alarm.log_wealth / math.log(10))
    assert blocks["below"] == sum(np.array(blocks["coverage"]) < np.array(blocks["low"]))


def test_alarms_are_told_with_what_to_do():
    stream = rs.Stream(RULE, alpha=0.1, outputs=LOGITS[:300])
    stream.predict(LOGITS[300:500])
    stream.predict(LOGITS[500:1000] / 4)
    outputs = {one["name"]: one for one in told(stream)["alarms"]}["outputs"]
    alarm = stream.alarms.outputs
    assert outputs["raised"] is alarm.raised is True
    assert (outputs["at"], outputs["since"], outputs["rows"]) == (alarm.at, alarm.since, 700)
    assert (outputs["advice"], outputs["delta"]) == (alarm.advice, 0.025)
    assert float(outputs["chance"]) == pytest.approx(alarm.chance, rel=0.05)
    stream.restart_alarms()
    stream.predict(LOGITS[1000:1100])
    data = told(stream)
    assert data["restarted"] == 700
    assert not any(one["raised"] for one in data["alarms"])


@pytest.mark.parametrize("level", [rs.Fixed(), rs.Experts(), rs.Decaying(), rs.Adaptive(0.02)], ids=repr)
def test_only_some_levels_have_a_bound(level):
    data = told(followed(level=level))
    assert data["bounded"] == (data["bound"] is not None) == isinstance(level, rs.Adaptive | rs.Decaying)
    assert data["method"] == (repr(level) if level == rs.Adaptive(0.02) else f"{type(level).__name__}()")


def test_streams_without_rows_without_labels_and_with_one_block():
    stream = rs.Stream(RULE, alpha=0.1)
    data = told(stream)
    assert data["blocks"]["row"] == []
    assert data["miss_rate"] is data["bound"] is data["size"] is None
    stream.predict(LOGITS[300:340])
    data = told(stream)
    assert data["blocks"]["coverage"] == data["blocks"]["low"] == data["blocks"]["running"] == [None]
    assert (data["waiting"], data["labels"]) == (40, 0)
    stream.update(LABELS[300:340])
    data = told(stream)
    assert data["blocks"]["coverage"] == [pytest.approx(1 - stream.miss_rate)]
    for html in (rs.report_stream(rs.Stream(RULE, alpha=0.1)).html, rs.report_stream(stream).html):
        assert "NaN" not in DATA.search(html)[1]


def test_a_stream_of_a_file_has_the_same_page(tmp_path):
    stream = followed()
    stream.predict(LOGITS[1300:1310])
    stream.save(tmp_path / "stream.rankset")
    assert told(rs.Stream.load(tmp_path / "stream.rankset")) == told(stream)


def test_levels_outside_zero_and_one():
    stream = rs.Stream(RULE, alpha=0.4, level=rs.Adaptive(0.9))
    for row in range(300, 570):
        stream.predict(LOGITS[row])
        stream.update([LABELS[row]])
    stream.predict(LOGITS[570])
    stream.update([int(LOGITS[570].argmin())])
    data = told(stream)
    assert max(data["blocks"]["level"]) > 1 or min(data["blocks"]["level"]) < 0


def test_as_many_blocks_as_there_can_be():
    stream = rs.Stream(RULE, alpha=0.1)
    rows, labels = np.tile(LOGITS, (10, 1)), np.tile(LABELS, 10)
    for start in range(0, 20_000, 50):
        stream.predict(rows[start : start + 50])
        stream.update(labels[start : start + 50])
    data = told(stream)
    assert len(data["blocks"]["row"]) == 400
    stream.predict(rows[:50])
    assert len(told(stream)["blocks"]["row"]) == 201


def test_dropped_rows_and_groups_are_told():
    with silent():
        rule = rs.calibrate(
            LOGITS[:300], LABELS[:300], kind="logits", condition=rs.PerGroup(), groups=np.arange(300) % 2
        )
        stream = rs.Stream(rule, alpha=0.1, waiting=10, window=None)
        stream.predict(LOGITS[300:400], groups=np.arange(100) % 2)
    data = told(stream)
    assert (data["dropped"], data["most_waiting"], data["most_window"]) == (90, 10, None)
    assert data["condition"] == "per group"


def test_notebooks_show_the_page_and_other_things_are_refused(tmp_path):
    made = rs.report_stream(followed(600), title='a "title" </script>')
    frame = made._repr_html_()
    assert unescape(frame.split('"')[1]) == made.html
    assert "</script></h1>" not in made.html
    with refused(KindError.argument("stream", "a Stream", RULE)):
        rs.report_stream(RULE)
    with refused(FileError.report_suffix("x.txt")):
        rs.report_stream(followed(400), "x.txt")
    with mock.patch.dict(sys.modules, {"plotly.offline": None}), pytest.raises(PackageError):
        rs.report_stream(None, tmp_path / "x.html")
