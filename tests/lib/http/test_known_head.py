"""A head like the one before means what the parser would say, whatever came before it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pybernetes.lib.http.known_head import LONGEST, known_head
from pybernetes.lib.http.limits import Limits
from pybernetes.lib.http.messages import Request
from pybernetes.lib.http.request_parser import RequestParser

HEADERS = (
    b"Host: a\r\n",
    b"Host: a\r\nAuthorization: Bearer x\r\n",
    b"Host: a\r\nImpersonate-User: b\r\n",
    b"Host: a\r\nA: 1\r\nA: 2\r\n",
    b"Host: a\r\nConnection: close\r\n",
    b"Host: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n",
    b"Host: a\r\nContent-Length: 0\r\n",
    b"Host: a\r\nContent-Length: 2\r\n",
    b"Host: a\r\nContent-Length: 5\r\n",
    b"Host: a\r\ncontent-length:  2\r\nImpersonate-User: b\r\n",
    b"Host: a\r\ncontent-length:  28\r\nImpersonate-User: b\r\n",
    b"Host: a\r\nContent-Length: 02\r\n",
    b"Host: a\r\nContent-Length: 2\r\nContent-Length: 2\r\n",
    b"Host: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n",
    b"Host: a\r\nTransfer-Encoding: chunked\r\n",
    b"",
)


class Reading(RequestParser):
    """Notes what was read."""

    def __init__(self) -> None:
        server = SimpleNamespace(limits=Limits(), request_class=Request)
        super().__init__(server)  # type: ignore[arg-type]
        self.transport = SimpleNamespace(write=lambda data: None)  # type: ignore[assignment]
        self.seen: list[Any] = []
        self._begin()

    def received(self, request: Request) -> None:
        self.seen.append(
            (request.method, request.path, request.query_text, dict(request.headers), request.repeated,
             request.body, request.keep_alive, request.wire, self._target)
        )  # fmt: skip
        request.headers.clear()  # as those do who act in another's name

    def refuse(self, status: int, message: str) -> None:
        self._closing = True
        self.seen.append((status, message))

    @property
    def is_over(self) -> bool:
        return self._closing or self._upgrading or self._receiving or not self._keep_alive


TARGETS = st.one_of(
    st.sampled_from([b"/", b"/a", b"/a?b=c", b"/a%2Fb", b"/a#b", b"//a", b"*", b"a:1", b"http://b/c", b"/a b", b""]),
    st.binary(max_size=8).map(lambda text: b"/" + text),
)  # fmt: skip
MESSAGES = st.tuples(
    st.sampled_from([b"GET", b"DELETE", b"HEAD", b"POST", b"CONNECT", b"get"]),
    TARGETS,
    st.sampled_from([b"HTTP/1.1", b"HTTP/1.0"]),
    st.sampled_from(HEADERS),
    st.sampled_from([b"", b"", b"", b"xy", b"0\r\n\r\n", b"GET /b HTTP/1.1\r\nHost: a\r\n\r\n"]),
)


@given(messages=st.lists(MESSAGES, min_size=2, max_size=6))
@example([(b"GET", b"/a", b"HTTP/1.1", HEADERS[2], b""), (b"GET", b"/b", b"HTTP/1.1", HEADERS[2], b"")])
@example(
    [
        (b"POST", b"/a", b"HTTP/1.1", HEADERS[9], b"xy"),
        (b"POST", b"/b", b"HTTP/1.1", HEADERS[10], b"GET /b HTTP/1.1\r\nHost: a\r\n\r\n"),
        (b"POST", b"/c%20", b"HTTP/1.1", HEADERS[10], b"xy"),
    ]
)
@example(
    [
        (b"POST", b"/a", b"HTTP/1.1", HEADERS[7], b"xy"),
        (b"POST", b"/b", b"HTTP/1.1", HEADERS[8], b"0\r\n\r\n"),
        (b"GET", b"/b", b"HTTP/1.1", HEADERS[0], b""),
        (b"POST", b"/c", b"HTTP/1.1", HEADERS[7], b"xyz"),
    ]
)
def test_what_is_read_is_what_a_parser_reads_that_knows_nothing(messages: list[tuple[bytes, ...]]) -> None:
    knowing = Reading()
    for method, target, version, headers, rest in messages:
        data = method + b" " + target + b" " + version + b"\r\n" + headers + b"\r\n" + rest
        anew = Reading()
        knowing.seen.clear()
        knowing.data_received(data)
        anew.data_received(data)
        assert knowing.seen == anew.seen
        assert knowing.is_over == anew.is_over
        if anew.is_over:
            return


def counted(monkeypatch: pytest.MonkeyPatch) -> tuple[Reading, list[bytes | memoryview]]:
    """Return what reads requests, and the parts of them that its parser gets."""
    reading, parsed = Reading(), list[bytes | memoryview]()
    feed = reading._feed

    def counting(part: bytes | memoryview) -> None:
        parsed.append(part)
        feed(part)

    monkeypatch.setattr(reading, "_feed", counting)
    return reading, parsed


def test_heads_that_are_alike_are_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, parsed = counted(monkeypatch)
    for number in range(3):
        reading.data_received(b"GET /pods/%d?a=b HTTP/1.1\r\nHost: a\r\nImpersonate-User: b\r\n\r\n" % number)
    assert len(parsed) == 1
    assert [(path, query) for _, path, query, *_ in reading.seen] == [(f"/pods/{n}", "a=b") for n in range(3)]
    assert all(headers == {b"host": b"a", b"impersonate-user": b"b"} for _, _, _, headers, *_ in reading.seen)


def test_heads_of_bodies_that_are_alike_are_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, parsed = counted(monkeypatch)
    for number in (8, 9, 10):
        body = b'{"a": %d}' % number
        head = b"POST /pods/%d HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\nB: c\r\n\r\n" % (
            number,
            len(body),
        )
        reading.data_received(head + body)
        assert reading.seen.pop()[1:6] == (
            f"/pods/{number}", "", {b"host": b"a", b"content-length": b"%d" % len(body), b"b": b"c"}, None, body
        )  # fmt: skip
        if number == 9:  # what has no body is known beside it
            reading.data_received(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            reading.data_received(b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
    assert len(parsed) == 3  # head and body of the first, and the first without a body


def test_what_is_known_has_a_bound() -> None:
    def known(size: int, limits: Limits = Limits()) -> bool:  # noqa: B008
        data = b"GET / HTTP/1.1\r\nHost: " + b"a" * size + b"\r\n\r\n"
        return known_head(data, b"GET", b"/", {b"host": b"a" * size}, limits) is not None

    assert known(10)
    assert not known(LONGEST)
    assert not known(10, Limits(head=LONGEST - 1))
    assert not known(10, Limits(target=LONGEST - 1))
