"""Numbers of a server in the text format of Prometheus. Names of labels come from the server, never from clients."""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rankset.serving.ledger import Ledger
from rankset.serving.monitor import SIZES

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper ends of times that are counted together."""
RECENT = 10.0
"""Seconds over which requests per second are counted."""


class Requests(NamedTuple):
    """How many requests were answered, and how many per second in the last seconds."""

    per_second: float
    total: int


class Metrics:
    """What is counted at every request."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        self._times: dict[str, list[int]] = {}
        self._seconds: Counter[str] = Counter()
        self.rows: Counter[str] = Counter()
        self.feedback: Counter[str] = Counter()
        self.reloads: Counter[str] = Counter({"done": 0, "failed": 0})
        self.in_flight = self.listeners = 0
        self._recent: deque[float] = deque(maxlen=100_000)
        self._started = time.monotonic()

    def count(self, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self.requests[route, status] += 1
        if route == "/events":  # it lasts as long as somebody looks
            return
        times = self._times.setdefault(route, [0] * (len(SECONDS) + 1))
        times[next((place for place, end in enumerate(SECONDS) if seconds <= end), len(SECONDS))] += 1
        self._seconds[route] += seconds  # type: ignore[assignment]
        self._recent.append(time.monotonic())
        self._forget()

    def per_second(self) -> float:
        """Return the number of requests per second in the last seconds."""
        self._forget()
        return len(self._recent) / max(1.0, min(RECENT, time.monotonic() - self._started))

    def _forget(self) -> None:
        """Drop the times of requests that are not recent."""
        end = time.monotonic() - RECENT
        while self._recent and self._recent[0] < end:
            self._recent.popleft()

    def lines(self) -> list[str]:
        """Return the numbers of requests; call it where requests are counted."""
        return list(self._of_requests())

    def now(self) -> Requests:
        """Return the numbers of requests for the live page; call it where requests are counted."""
        return Requests(self.per_second(), sum(self.requests.values()))

    def _of_requests(self) -> Iterator[str]:
        yield from _counter(
            "requests_total",
            "Requests that were answered.",
            (({"route": route, "status": str(status)}, count) for (route, status), count in self.requests.items()),
        )
        yield from _head("request_seconds", "histogram", "Seconds until requests were answered.")
        for route, times in self._times.items():
            yield from _buckets("request_seconds", SECONDS, times, self._seconds[route], {"route": route})
        rows = (({"route": route}, count) for route, count in self.rows.items())
        yield from _counter("rows_total", "Rows that were sent.", rows)
        answers = (({"answer": answer}, count) for answer, count in self.feedback.items())
        yield from _counter("feedback_total", "Labels that were sent, by what they were.", answers)
        reloads = (({"result": result}, count) for result, count in self.reloads.items())
        yield from _counter("reloads_total", "How often the rule was loaded anew.", reloads)
        yield from _gauge("requests_in_flight", "Requests that are worked on now.", [({}, self.in_flight)])
        yield from _gauge("listeners", "Live pages that are open.", [({}, self.listeners)])


def text_of(requests: list[str], ledger: Ledger, store_bytes: int) -> str:
    """Return all numbers: the lines of requests, and those of rows, labels, alarms and the store."""
    return "\n".join([*requests, *_of_ledger(ledger, store_bytes), ""])


def _of_ledger(ledger: Ledger, store_bytes: int) -> Iterator[str]:
    monitor, store = ledger.monitor, ledger.store
    with monitor.lock:
        alarms, sizes = monitor.watching.alarms, list(monitor.sizes)
        ever = monitor.ever.copy()
    yield from _head("set_size", "histogram", "Labels of sets at the usual alpha, also before the last restart.")
    yield from _buckets("set_size", SIZES, sizes, ever.size_sum, {})
    yield from _counter("labels_total", "Labels of rows at the usual alpha.", [({}, ever.labels)])
    yield from _counter("misses_total", "Labels that were not in their sets.", [({}, ever.misses)])
    decided = {"yes": ever.accepted, "no": ever.decided - ever.accepted}
    yield from _counter("accepted_total", "Rows by triage.", (({"accepted": k}, v) for k, v in decided.items()))
    yield from _counter("accepted_labels_total", "Labels of rows that triage accepted.", [({}, ever.checked)])
    yield from _counter("accepted_wrong_total", "Accepted rows whose label is another one.", [({}, ever.wrong)])
    logs = [({"alarm": one.name}, one.log_wealth) for one in alarms]
    yield from _gauge("alarm_log_wealth", "Natural logarithm of the evidence of alarms.", logs)
    limits = [({"alarm": one.name}, -math.log(one.delta)) for one in alarms]
    yield from _gauge("alarm_log_limit", "Evidence at which alarms are raised.", limits)
    yield from _gauge("alarm_raised", "1 if an alarm is raised.", [({"alarm": a.name}, int(a.raised)) for a in alarms])
    if store is not None:
        yield from _counter("store_lost_total", "Rows that could not be stored.", [({}, store.lost)])
        for name, value in (("bytes", store_bytes), ("rows", store.rows), ("labels", store.labels)):
            yield from _gauge(f"store_{name}", f"{name.capitalize()} of the store.", [({}, value)])


def _head(name: str, kind: str, about: str) -> Iterator[str]:
    yield f"# HELP rankset_{name} {about}"
    yield f"# TYPE rankset_{name} {kind}"


def _counter(name: str, about: str, values: Iterable[tuple[dict[str, str], float]]) -> Iterator[str]:
    yield from _head(name, "counter", about)
    yield from (_line(name, labels, value) for labels, value in values)


def _gauge(name: str, about: str, values: Iterable[tuple[dict[str, str], float]]) -> Iterator[str]:
    yield from _head(name, "gauge", about)
    yield from (_line(name, labels, value) for labels, value in values)


def _buckets(
    name: str, ends: Iterable[float], counts: list[int], total: float, labels: dict[str, str]
) -> Iterator[str]:
    so_far = 0
    for end, count in zip((*ends, math.inf), counts, strict=True):
        so_far += count
        yield _line(f"{name}_bucket", {**labels, "le": "+Inf" if end == math.inf else f"{end:g}"}, so_far)
    yield _line(f"{name}_sum", labels, total)
    yield _line(f"{name}_count", labels, so_far)


def _line(name: str, labels: dict[str, str], value: float) -> str:
    told = ",".join(f'{key}="{text}"' for key, text in labels.items())
    return f"rankset_{name}{{{told}}} {value:.12g}" if told else f"rankset_{name} {value:.12g}"
