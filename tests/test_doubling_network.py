"""Whatever comes over a connection is handled in linear time, as ``test_doubling`` says it of what is in a body.

Heads and queries of clients; the answers of webhooks, servers behind this one, kubelets and pods. Limits are lifted where
they would end the work before its growth shows. Pages that are changed on their way have theirs in ``proxy/test_links.py``.
"""

from __future__ import annotations

import asyncio
import gzip
import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import orjson
import pytest

from pybernetes.client.rest_transport import RestEvents
from pybernetes.control_plane.apiserver import request_info
from pybernetes.control_plane.apiserver.aggregation import documents
from pybernetes.control_plane.apiserver.codec import negotiation
from pybernetes.control_plane.apiserver.custom_resources import conversion_webhook
from pybernetes.control_plane.apiserver.proxy.pages import PageBody
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.options import list_options
from pybernetes.control_plane.apiserver.webhooks import review_responses
from pybernetes.lib.http import accept, spdy, websocket
from pybernetes.lib.http.client_connection import ClientConnection, Disconnected, request_bytes
from pybernetes.lib.http.inflation import Unpacker
from pybernetes.lib.http.limits import Limits
from pybernetes.lib.http.messages import Reply
from pybernetes.lib.http.request_parser import RequestParser
from pybernetes.lib.http.server import Server
from tests.doubling import MOST_GROWTH, Input, growth

_PIECE = 1 << 16
_UNLIMITED = Limits(
    head=1 << 30, target=1 << 30, value=1 << 30, headers=1 << 30, parameters=1 << 30, body=1 << 30
)


class _Reading(RequestParser):
    """The reading half of a connection, without anybody to answer."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(Server(lambda request: None, limits=limits))  # type: ignore[arg-type, return-value]
        self._begin()

    def received(self, request: object) -> None:
        pass

    def refuse(self, status: int, message: str) -> None:
        self._closing, self._receiving = True, False


def _pieces(data: bytes, size: int = _PIECE) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


def _read(data: bytes, limits: Limits = _UNLIMITED, size: int = _PIECE) -> None:
    reading = _Reading(limits)
    for piece in _pieces(data, size):
        reading.data_received(piece)


_GET = b"GET /api/v1/pods HTTP/1.1\r\nHost: a\r\n"
_POST = b"POST /api/v1/pods HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
HEADS = [
    Input("headers", lambda size: _GET + b"".join(b"X-%d: a\r\n" % n for n in range(size)) + b"\r\n", _read),
    Input("headers that are too many", lambda size: _GET + b"".join(b"X-%d: a\r\n" % n for n in range(size)) + b"\r\n", partial(_read, limits=Limits())),
    Input("one header again and again", lambda size: _GET + b"X: a\r\n" * size + b"\r\n", _read),
    Input("headers of groups", lambda size: _GET + b"Impersonate-Group: a\r\n" * size + b"\r\n", _read),
    Input("a long header", lambda size: _GET + b"X: " + b"a" * 16 * size + b"\r\n\r\n", _read),
    Input("a long name of a header", lambda size: _GET + b"X" * 16 * size + b": a\r\n\r\n", _read),
    Input("a head without an end", lambda size: _GET + b"X: " + b"a" * 16 * size, _read),
    Input("a head in small pieces", lambda size: _GET + b"X: a\r\n" * size + b"\r\n", partial(_read, size=16)),
    Input("a long path", lambda size: b"GET /" + b"a/" * 16 * size + _GET[16:] + b"\r\n", partial(_read, limits=Limits())),
    Input("spaces", lambda size: _GET + b"X:" + b" " * 16 * size + b"\r\n\r\n", _read),
    Input("requests", lambda size: (_GET + b"\r\n") * size, _read),
    Input("chunks", lambda size: _POST + b"1\r\na\r\n" * size + b"0\r\n\r\n", _read),
    Input("chunks in small pieces", lambda size: _POST + b"1\r\na\r\n" * size + b"0\r\n\r\n", partial(_read, size=5)),
    Input("extensions of chunks", lambda size: _POST + b"1;" + b"a" * 16 * size + b"\r\na\r\n0\r\n\r\n", _read),
    Input("trailers", lambda size: _POST + b"0\r\n" + b"X: a\r\n" * size + b"\r\n", _read),
]  # fmt: skip


def _asked(query: str = "", **headers: str) -> Request:
    sent = {name.encode(): value.encode() for name, value in headers.items()}
    request = Request(None, "GET", "/api/v1/pods", query, sent, b"")  # type: ignore[arg-type]
    request.request_info = request_info.parse("GET", "/api/v1/pods", False)
    return request


def _listed(query: str) -> None:
    request = _asked(query)
    request_info.attributes(request)
    list_options(request, watch=True)


_number = itertools.count()


def _accepted(part: str) -> Callable[[int], str]:
    """Return what makes a text that nobody has read before: what was is remembered."""
    return lambda size: f"a/b{next(_number)}" + part * size


def _negotiated(text: str) -> None:
    for kind in (True, False):
        negotiation.representation(_asked(accept=text), kind)
    accept.best(text, ("text/plain", "application/json"))


def _tagged(text: str) -> None:
    accept.etag_matches(text, '"b"')


@pytest.fixture(autouse=True)
def _no_limit_of_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (accept, negotiation):
        monkeypatch.setattr(module, "LONGEST", 1 << 30)


QUERIES = [
    Input("parameters", lambda size: "&".join(f"a{number}=%41" for number in range(size)), _listed),
    Input("one parameter again and again", lambda size: "labelSelector=a&" * size, _listed),
    Input("a long parameter", lambda size: "continue=" + "a" * 16 * size, _listed),
    Input("escapes", lambda size: "fieldSelector=" + "%41" * size, _listed),
    Input("bad escapes", lambda size: "fieldSelector=" + "%" * size, _listed),
    Input("digits", lambda size: "timeoutSeconds=" + "1" * size, _listed),
    Input("digits of a version", lambda size: "resourceVersion=" + "1" * size, _listed),
    Input("signs without names", lambda size: "&=" * size, _listed),
    Input("segments of a path", lambda size: "/api/v1" + "/a" * size, lambda path: request_info.parse("GET", path, False)),
    Input("media types", _accepted(",a/b;q=0.1"), _negotiated),
    Input("parameters of a media type", _accepted(";a=b"), _negotiated),
    Input("entity tags", lambda size: '"a",' * size, _tagged),
]  # fmt: skip


class _Transport(asyncio.Transport):
    """Takes what is written, and cannot be paused."""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        pass

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    def abort(self) -> None:
        pass


_LOOP = asyncio.new_event_loop()
_ASKED = request_bytes("GET", "/", [(b"Host", b"a")])


async def _said(data: bytes, size: int, streamed: bool) -> None:
    connection = ClientConnection(lenient=True)
    connection.connection_made(_Transport())
    answering = asyncio.ensure_future((connection.open if streamed else connection.request)(_ASKED))
    await asyncio.sleep(0)
    for piece in _pieces(data, size):
        connection.data_received(piece)
        if streamed and answering.done() and connection.has_much_unread:
            await connection.read()
    connection.connection_lost(None)
    try:
        await answering
    except Disconnected:
        pass


def _answered(data: bytes, size: int = _PIECE, *, streamed: bool = False) -> None:
    _LOOP.run_until_complete(_said(data, size, streamed))


_OK = b"HTTP/1.1 200 OK\r\n"
_CHUNKED = _OK + b"Transfer-Encoding: chunked\r\n\r\n"
ANSWERS = [
    Input("headers", lambda size: _OK + b"X: a\r\n" * size + b"Content-Length: 0\r\n\r\n", _answered),
    Input("a long header", lambda size: _OK + b"X: " + b"a" * 8 * size + b"\r\nContent-Length: 0\r\n\r\n", _answered),
    Input("interim answers", lambda size: b"HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n" * size + _OK + b"Content-Length: 0\r\n\r\n", _answered),
    Input("chunks", lambda size: _CHUNKED + b"1\r\na\r\n" * size + b"0\r\n\r\n", _answered),
    Input("chunks in small pieces", lambda size: _CHUNKED + b"1\r\na\r\n" * size + b"0\r\n\r\n", partial(_answered, size=7)),
    Input("chunks that are passed on", lambda size: _CHUNKED + b"1\r\na\r\n" * size + b"0\r\n\r\n", partial(_answered, streamed=True)),
    Input("a body in small pieces", lambda size: _OK + b"\r\n" + b"a" * 16 * size, partial(_answered, size=16)),
    Input("trailers", lambda size: _CHUNKED + b"0\r\n" + b"X: a\r\n" * size + b"\r\n", _answered),
    Input("second answers", lambda size: (_OK + b"Content-Length: 0\r\n\r\n") * size, _answered),
]  # fmt: skip


def _frames(
    payload: bytes, *, mask: bytes | None = None, opcode: int = websocket.BINARY
) -> Callable[[int], bytes]:
    return lambda size: websocket.frame(opcode, payload, mask=mask) * size


def _fed(data: bytes, *, masked: bool = False, size: int = _PIECE) -> None:
    parser = websocket.Parser(masked=masked, limit=1 << 30)
    for piece in _pieces(data, size):
        parser.feed(piece)
        while parser.next() is not None:
            pass


def _in_parts(size: int) -> bytes:
    first, part = websocket.frame(websocket.BINARY, b"a"), websocket.frame(0, b"a")
    return bytes([first[0] & 0x7F]) + first[1:] + (bytes([part[0] & 0x7F]) + part[1:]) * size + part


def _spdy(data: bytes, size: int = _PIECE) -> None:
    parser = spdy.FrameParser()
    for piece in _pieces(data, size):
        parser.feed(piece)


def _unpacked(data: bytes) -> None:
    unpacker = Unpacker(b"gzip")
    for piece in _pieces(data):
        for _ in unpacker.feed(piece):
            pass


def _page(data: bytes) -> None:
    page = PageBody("/proxy", "a", b"gzip")
    for piece in _pieces(data):
        for _ in page.feed(piece):
            pass
    page.finish()


def _watched(data: bytes) -> None:
    events = RestEvents(None, None)  # type: ignore[arg-type]
    for piece in _pieces(data, 64):
        events._split(piece)


STREAMS = [
    Input("frames", _frames(b"a"), _fed),
    Input("frames of nothing", _frames(b""), _fed),
    Input("frames of a client", _frames(b"abc", mask=b"1234"), partial(_fed, masked=True)),
    Input("pings", _frames(b"a", opcode=websocket.PING), _fed),
    Input("frames in small pieces", _frames(b"a" * 30), partial(_fed, size=5)),
    Input("a large frame in small pieces", lambda size: websocket.frame(websocket.BINARY, b"a" * 16 * size), partial(_fed, size=64)),
    Input("a large frame of a client", lambda size: websocket.frame(websocket.BINARY, b"a" * 64 * size, mask=b"1234"), partial(_fed, masked=True)),
    Input("a message in parts", _in_parts, _fed),
    Input("SPDY frames", lambda size: spdy.data_frame(1, b"a") * size, _spdy),
    Input("a large SPDY frame in small pieces", lambda size: spdy.data_frame(1, b"a" * 16 * size), partial(_spdy, size=64), largest=1 << 19),
    Input("a long event of a watch in small pieces", lambda size: b"a" * 16 * size + b"\n", _watched),
    Input("a packed body", lambda size: gzip.compress(b"".join(b"%d," % n for n in range(size))), _unpacked),
    Input("packed bodies in a row", lambda size: gzip.compress(b"a") * size, _unpacked),
    Input("a packed page", lambda size: gzip.compress(b"".join(b'<a href="/%d">' % n for n in range(size))), _page),
]  # fmt: skip


def _said_of(read: Callable[..., Any], document: Any) -> None:
    try:
        documents._answered(Reply(200, [], orjson.dumps(document)), 1 << 30, read)
    except documents.Unusable:
        pass


def _row(number: int) -> dict[str, Any]:
    return {
        "name": f"r{number}",
        "singularName": "",
        "namespaced": True,
        "kind": f"K{number}",
        "verbs": ["get", "list"],
    }


def _aggregated(size: int) -> dict[str, Any]:
    rows = [
        {"resource": f"r{n}", "responseKind": {"kind": "K"}, "scope": "Namespaced", "verbs": ["get"]}
        for n in range(size)
    ]
    return {"items": [{"metadata": {"name": "g"}, "versions": [{"version": "v1", "resources": rows}]}]}


def _groups(size: int) -> dict[str, Any]:
    return {
        "items": [
            {"metadata": {"name": f"g{n}"}, "versions": [{"version": "v1", "resources": []}]}
            for n in range(size)
        ]
    }


_LIST = partial(documents._from_list, group="g", version="v1")
_TABLE = partial(documents._from_aggregated, group="g", version="v1")
_METHOD = {"get": {"responses": {"200": {"description": "OK"}}}}
BEHIND = [
    Input("a list of resources", lambda size: {"resources": [_row(n) for n in range(size)]}, partial(_said_of, _LIST)),
    Input(
        "a list of subresources",
        lambda size: {"resources": [_row(0), *({**_row(0), "name": f"r0/s{n}"} for n in range(size))]},
        partial(_said_of, _LIST),
    ),
    Input(
        "subresources of many",
        lambda size: {"resources": [row for n in range(size) for row in (_row(n), {**_row(n), "name": f"r{n}/s"})]},
        partial(_said_of, _LIST),
    ),
    Input("aggregated discovery", _aggregated, partial(_said_of, _TABLE)),
    Input("groups of aggregated discovery", _groups, partial(_said_of, _TABLE)),
    Input("paths of OpenAPI", lambda size: {"paths": {f"/{n}": _METHOD for n in range(size)}}, partial(_said_of, documents._mergeable)),
    Input(
        "definitions of OpenAPI",
        lambda size: {"definitions": {f"d{n}": {"type": "object", "properties": {"a": {"type": "string"}}} for n in range(size)}},
        partial(_said_of, documents._mergeable),
    ),
]  # fmt: skip
_REVIEW = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": {"uid": "u"}}
_CONVERSION = {"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1", "request": {"uid": "u"}}
_OBJECT = {"apiVersion": "g/v1", "kind": "K", "metadata": {"name": "x", "namespace": "n", "uid": "1"}}


def _reviewed(review: dict[str, Any], **response: Any) -> bytes:
    answer = {
        "kind": review["kind"],
        "apiVersion": review["apiVersion"],
        "response": {"uid": "u", **response},
    }
    return orjson.dumps(answer)


def _decoded(body: bytes, review: dict[str, Any] = _REVIEW) -> Any:
    return review_responses.decoded(Reply(200, [], body), review)


def _refused(body: bytes) -> None:
    try:
        review_responses.decoded(Reply(500, [(b"content-type", b"text/plain")], body), _REVIEW)
    except review_responses.Unreadable:
        pass


def _converted(body: bytes) -> None:
    for after in conversion_webhook._answer(_decoded(body, _CONVERSION), "u", "v1"):
        conversion_webhook._restored(_OBJECT, after, "g/v1")


def _labelled(size: int) -> bytes:
    labels = {f"l{number}": "v" for number in range(size)}
    after = {**_OBJECT, "metadata": {**_OBJECT["metadata"], "labels": labels}}  # type: ignore[dict-item]
    return _reviewed(_CONVERSION, convertedObjects=[after], result={"status": "Success"})


WEBHOOKS = [
    Input("warnings", lambda size: _reviewed(_REVIEW, allowed=True, warnings=["w"] * size), _decoded),
    Input("notes", lambda size: _reviewed(_REVIEW, allowed=True, auditAnnotations={f"a{n}": "" for n in range(size)}), _decoded),
    Input("a patch", lambda size: _reviewed(_REVIEW, allowed=True, patchType="JSONPatch", patch="W10K" * size), _decoded),
    Input("causes", lambda size: _reviewed(_REVIEW, status={"details": {"causes": [{"message": "m"}] * size}}), _decoded),
    Input("a page in place of an answer", lambda size: b'"\n' * size, _refused),
    Input(
        "converted objects",
        lambda size: _reviewed(_CONVERSION, convertedObjects=[_OBJECT] * size, result={"status": "Success"}),
        _converted,
    ),
    Input("converted labels", _labelled, _converted),
]  # fmt: skip
INPUTS = {
    "heads": HEADS, "queries": QUERIES, "answers": ANSWERS, "streams": STREAMS, "servers behind": BEHIND, "webhooks": WEBHOOKS,
}  # fmt: skip


@pytest.mark.parametrize(
    "input_",
    [pytest.param(row, id=f"{area}: {row.name}") for area, rows in INPUTS.items() for row in rows],
)
def test_twice_as_much_takes_at_most_twice_the_time(input_: Input) -> None:
    assert growth(input_) <= MOST_GROWTH
