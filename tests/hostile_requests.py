"""Requests that try to break a server: damaged bodies, wrong types, huge numbers, wrong tokens, broken connections."""

import contextlib
import io
import json
import random
import socket
import struct
import time

import numpy as np

NUMBERS = ["1e999", "-1e999", "1e-999", "9" * 400, "-" + "9" * 400, "0.1" + "1" * 500, "-0", "1E5", "NaN", "Infinity"]
NUMBERS += ["9007199254740993", "18446744073709551616", "0.3333333333333333", "1e308", "-1e308", "01", "+1", ".5", "1."]
TEXTS = ['"\\ud800"', '"\\u0000"', '"' + "x" * 300 + '"', '"' + "é" * 50 + '"', '"a\\nb"', '"7.0"', '""', '"\u202e"']
OTHERS = ["null", "true", "false", "[]", "{}", "[[]]", "[[[[1]]]]", "[{}]", "{}", '{"a": [1]}', "[null]", "[[null]]"]
PATHS = [
    "/predict",
    "/predict",
    "/predict",
    "/feedback",
    "/triage",
    "/rule",
    "/healthz",
    "/session",
    "/nothing",
    "/%00",
]
TYPES = ["application/json"] * 8 + ["application/x-npy", "text/plain", "", "application/json; charset=utf-8", "é"]
TOKENS = ["", "Bearer", "Bearer ", "Bearer wrong", "Basic d3Jvbmc6d3Jvbmc=", "bearer " + "x" * 2000, "Bearer \x00"]


class Hostile:
    """Makes requests by a seed, for a rule of some classes."""

    def __init__(self, seed, classes, token=None):
        self.random = random.Random(seed)  # noqa: S311
        self.classes, self.token = list(classes), token
        self.count = 0

    def number(self):
        one = self.random
        return one.choice([f"{one.uniform(-5, 5):.6g}", str(one.randrange(-3, 9)), one.choice(NUMBERS)])

    def value(self, depth=0):
        """Any JSON, and what looks like it."""
        kind = self.random.randrange(7 if depth < 3 else 4)
        if kind < 2:
            return self.number()
        if kind == 2:
            return self.random.choice(TEXTS)
        if kind == 3:
            return self.random.choice(OTHERS)
        many = range(self.random.randrange(5))
        if kind == 4:
            return "{" + ",".join(f"{self.name()}:{self.value(depth + 1)}" for _ in many) + "}"
        return "[" + ",".join(self.value(depth + 1) for _ in many) + "]"

    def name(self):
        return json.dumps(self.random.choice([*self.classes, "rows", "ids", "alpha", "x"]))

    def row(self):
        return [round(self.random.uniform(-5, 5), 4) for _ in self.classes]

    def valid(self, path):
        """A body that is right."""
        n = self.random.randrange(1, 4)
        self.count += n
        ids = [f"{id(self)}-{self.count + place}" for place in range(n)]
        body = {"ids": ids}
        if path == "/feedback":
            return body | {"labels": [self.random.choice(self.classes) for _ in range(n)]}
        rows = [self.row() for _ in range(n)]
        forms = [rows, [dict(zip(self.classes, row, strict=True)) for row in rows]]
        forms.append({name: [row[place] for row in rows] for place, name in enumerate(self.classes)})
        more = {"error": 0.05} if path == "/triage" else {"alpha": 0.1}
        return body | {"rows": self.random.choice(forms)} | more

    def body(self, path):
        """A body with something wrong in it; sometimes nothing."""
        right = self.valid(path)
        way = self.random.randrange(7)
        if way == 0:
            return json.dumps(right).encode()
        if way == 1:
            return self.changed(json.dumps(right).encode())
        if way == 2:
            member = self.random.choice([*right, "groups", "error", "labels", "rows", "other"])
            texts = {name: json.dumps(value) for name, value in right.items()} | {member: self.value()}
            return ("{" + ",".join(f'"{name}":{text}' for name, text in texts.items()) + "}").encode()
        if way == 3:
            return self.value().encode("utf-8", "surrogatepass")
        if way == 4:
            return self.changed(self.npy())
        if way == 5:
            depth = self.random.choice([5, 500, 5000])
            return b'{"rows":' + b"[" * depth + b"]" * self.random.choice([0, depth]) + b"}"
        return self.random.randbytes(self.random.randrange(300))

    def npy(self):
        file = io.BytesIO()
        kind = self.random.choice(["<f4", "<f8", ">f8", "<i8", "<f2", "<U3", "<c16"])
        shape = self.random.choice([(2, len(self.classes)), (2,), (0, 3), (1, 1, 1), (2, 3)])
        np.save(file, np.full(shape, 0.1).astype(kind))
        return file.getvalue()

    def changed(self, body):
        """The same with some bytes changed, left out, repeated or added."""
        changed = bytearray(body)
        for _ in range(self.random.randrange(1, 6)):
            place = self.random.randrange(len(changed) + 1)
            way = self.random.randrange(4)
            if way == 0:
                changed[place : place + 1] = bytes([self.random.randrange(256)])
            elif way == 1:
                del changed[place : place + self.random.randrange(1, 10)]
            elif way == 2:
                changed[place:place] = changed[place : place + 20]
            else:
                changed[place:place] = self.random.choice([b"[", b"]", b"{", b'"', b",", b"1e999", b"null", b"\xff"])
        return bytes(changed)

    def request(self):
        """The bytes of a request."""
        path = self.random.choice(PATHS)
        method = self.random.choice(["POST"] * 8 + ["GET", "PUT", "DELETE", "HEAD", "OPTIONS", "BREW"])
        body = self.body(path)
        query = self.random.choice(["", "", "", "?alpha=2", "?alpha=nan&id=a", "?alpha=" + "9" * 400, "?%ff=%00"])
        lines = [f"{method} {path}{query} HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}"]
        lines.append(f"Content-Type: {self.random.choice(TYPES)}")
        if self.token is not None:
            right = self.random.random() < 0.8
            lines.append(f"Authorization: {'Bearer ' + self.token if right else self.random.choice(TOKENS)}")
        if self.random.random() < 0.05:
            lines.append(
                self.random.choice(["X: " + "a" * 20_000, "Cookie: rankset_session=x; \x01", "Expect: 100-continue"])
            )
        return "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogatepass") + body


class Client:
    """A connection that is opened again when it was closed."""

    def __init__(self, port, seconds=30):
        self.port, self.seconds = port, seconds
        self.socket = self.stream = None

    def open(self):
        self.close()
        self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=self.seconds)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.stream = self.socket.makefile("rb")

    def close(self):
        for one in (self.stream, self.socket):
            if one is not None:
                with contextlib.suppress(OSError):
                    one.close()
        self.socket = self.stream = None

    def ask(self, request):
        """Send a request, and return status and body of the answer; None if there was none."""
        if self.socket is None:
            self.open()
        with contextlib.suppress(OSError):  # an answer may have come before
            self.socket.sendall(request)
        try:
            return self.answer(is_head=request.startswith(b"HEAD"))
        except OSError:
            self.close()
            return None, b""

    def answer(self, *, is_head=False):
        status = 100
        while status == 100:
            line = self.stream.readline()
            if not line:
                self.close()
                return None, b""
            status, headers = int(line.split(b" ", 2)[1]), {}
            while line := self.stream.readline().strip():
                name, _, value = line.partition(b":")
                headers[name.lower()] = value.strip()
        length = 0 if is_head or status in (204, 304) else int(headers.get(b"content-length", 0))
        body = self.stream.read(length)
        if headers.get(b"connection") == b"close":
            self.close()
        return status, body


def misbehave(port, hostile, seconds=5.0):
    """Open a connection and do something wrong with it; return the bytes that came back."""
    request = hostile.request()
    part = request[: hostile.random.randrange(len(request))]
    way = hostile.random.randrange(4)
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as connection, contextlib.suppress(OSError):
        if way == 0:  # half a request, then the end of this side
            connection.sendall(part)
            connection.shutdown(socket.SHUT_WR)
            return connection.recv(200)
        if way == 1:  # reset in the middle
            connection.sendall(part)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return b""
        if way == 2:  # a whole request, and nobody reads
            connection.sendall(request)
            return b""
        end = time.monotonic() + seconds / 2  # slowly
        for place in range(len(request)):
            if time.monotonic() > end:
                break
            connection.sendall(request[place : place + 1])
            time.sleep(0.02)
        return b""
    return b""
