"""Clients in the process of the API server, which share its loop."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.inprocess.transport import InProcessTransport
from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.http.messages import Response

JSON = b"application/json"


async def test_large_answers_are_read_beside_the_loop(monkeypatch: Any) -> None:
    """A parser holds the loop for tens of milliseconds with an object of megabytes."""
    sizes: list[int] = []
    real = off_loop.beside

    def noted(function: Any, *args: Any) -> Awaitable[Any]:
        sizes.extend(len(value) for value in args if isinstance(value, bytes))
        return real(function, *args)

    monkeypatch.setattr(off_loop, "beside", noted)
    answers = {
        "/small": Response(b'{"a": 1}', 200, JSON),
        "/large": Response(b'{"a": [' + b"1, " * 100_000 + b"2]}", 200, JSON),
        "/refusal": Response(b'{"reason": "NotFound", "message": "' + b"x" * (300 << 10) + b'"}', 404, JSON),
        "/text": Response(b"ok", 200, b"text/plain"),
        "/empty": Response(b"", 200, JSON),
    }
    transport = InProcessTransport(lambda request: answers[request.path], User("somebody"))
    assert await transport.send("GET", "/small") == (200, {"a": 1})
    assert await transport.send("GET", "/text") == (200, "ok")
    assert await transport.send("GET", "/empty") == (200, None)
    assert not sizes
    assert await transport.send("GET", "/large") == (200, {"a": [1] * 100_000 + [2]})
    status, refusal = await transport.send("GET", "/refusal")
    assert status == 404 and refusal["reason"] == "NotFound"
    assert sizes == [len(answers["/large"].body), len(answers["/refusal"].body)]
