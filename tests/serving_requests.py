"""Requests to an ASGI application, without a server."""

import asyncio
import json


async def asked(app, method, path, body=b"", headers=()):
    """Return the status and the body of the answer to one request."""
    sent, messages = [], [{"type": "http.request", "body": body, "more_body": False}]
    length = [] if b"transfer-encoding" in dict(headers) else [(b"content-length", str(len(body)).encode())]
    given = [(b"host", b"localhost"), *length, *headers]
    path, _, query = path.partition("?")
    scope = {"type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": query.encode()}
    scope |= {"headers": given, "client": ("127.0.0.1", 1), "scheme": "http", "server": ("localhost", 80)}

    async def receive():
        return messages.pop() if messages else {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    await app(scope, receive, send)
    return sent[0]["status"], b"".join(one.get("body", b"") for one in sent[1:])


def predict(app, **body):
    headers = [(b"content-type", b"application/json")]
    status, answer = asyncio.run(asked(app, "POST", "/predict", json.dumps(body).encode(), headers))
    return status, json.loads(answer)


def label(app, **body):
    headers = [(b"content-type", b"application/json")]
    status, answer = asyncio.run(asked(app, "POST", "/feedback", json.dumps(body).encode(), headers))
    return status, json.loads(answer)
