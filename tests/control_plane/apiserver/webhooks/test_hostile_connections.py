"""A webhook whose HTTP is not as it should be: the write is refused in time, and what it sent is nobody else's answer."""

from __future__ import annotations

import gzip
import json
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from pybernetes.lib.tls import tls
from tests.control_plane.apiserver.admission.dynamic.registered_webhooks import create, hook, registered
from tests.hook_server import HookServer, allow
from tests.loopback_server import loopback_server, served, wrap
from tests.servers import Server

Object = dict[str, Any]
OK, CHUNKED = b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
INTERIM = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"


def sized(body: bytes, *lines: bytes) -> bytes:
    return OK + b"".join(line + b"\r\n" for line in lines) + b"Content-Length: %d\r\n\r\n" % len(body) + body


def in_chunks(body: bytes, size: int, end: bytes = b"0\r\n\r\n") -> bytes:
    parts = [body[start : start + size] for start in range(0, len(body), size)]
    return CHUNKED + b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + end


# What is sent, made from the right answer; what the client of the API gets, and in which words.
ANSWERS: dict[str, tuple[Callable[[bytes], bytes], int, str]] = {
    "as it should be": (sized, 201, ""),
    "interim answers before": (lambda body: INTERIM * 100 + sized(body), 201, ""),
    "interim answers without end": (lambda body: INTERIM * 40_000, 500, "the headers of the answer are too large"),
    "line ends without end": (lambda body: b"\r\n" * 700_000, 500, "the headers of the answer are too large"),
    "chunks of two bytes": (lambda body: in_chunks(b" " * 400_000 + body, 2), 201, ""),
    "trailers": (lambda body: in_chunks(body, 7, b"0\r\nX-Remote-Group: system:masters\r\n\r\n"), 201, ""),
    "a length among trailers": (
        lambda body: in_chunks(body, 7, b"0\r\nContent-Length: 5\r\n\r\n"), 500, "malformed HTTP response"),
    "trailers without end": (
        lambda body: in_chunks(body, 7, b"0\r\n" + b"a: b\r\n" * 200_000), 500, "the headers of the answer are too large"),
    "an end in the middle": (lambda body: sized(body)[:-5], 500, "unexpected EOF"),
    "a chunk that ends early": (lambda body: in_chunks(body, 7, b"9\r\nxy"), 500, "unexpected EOF"),
    "no end of chunks": (lambda body: in_chunks(body, 7, b""), 500, "unexpected EOF"),
    "nothing": (lambda body: b"", 500, "EOF"),
    "two lengths": (lambda body: OK + b"Content-Length: 2\r\n" + sized(body)[len(OK):], 500, "malformed HTTP response"),
    "a length and chunks": (
        lambda body: OK + b"Content-Length: 2\r\n" + in_chunks(body, 7)[len(OK):], 500, "malformed HTTP response"),
    "chunks in another encoding": (
        lambda body: in_chunks(body, 7).replace(b"chunked", b"gzip, chunked"), 500, "unsupported transfer encoding"),
    "no HTTP": (lambda body: body, 500, "malformed HTTP response"),
    "another protocol": (
        lambda body: b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n" + body, 500,
        "the server responded with the status code 101"),
    "a redirect": (
        lambda body: sized(body, b"Location: https://127.0.0.1:1/").replace(b"200 OK", b"307 Temporary Redirect"), 500,
        "the server responded with the status code 307"),
    "many headers": (lambda body: sized(body, *[b"a: b"] * 1001), 500, "there are too many headers in the answer"),
    "a packed body that nobody asked for": (
        lambda body: sized(gzip.compress(b" " * (40 << 20) + body), b"Content-Encoding: gzip"), 500, "error converting YAML"),
    "a second answer": (lambda body: sized(body) + sized(body.replace(b"true", b"false")), 201, ""),
    "both answers at once": (lambda body: sized(body.replace(b'"m"', b'"n"')) * 3, 201, ""),
    "keys that come twice": (lambda body: sized(body.replace(b"true", b'true,"allowed":false')), 400, "denied the request"),
}  # fmt: skip


class RawHooks(HookServer):
    """A webhook that sends what it is told, before it has read the review if it should."""

    say: Callable[[bytes], bytes] = staticmethod(sized)
    early = False
    slowly = False


@pytest.fixture
def raw(tmp_path: Path) -> Iterator[RawHooks]:
    authority = tls.create_authority("raw")
    pair = tls.issue(authority, "raw", names=("127.0.0.1",), server=True)
    ending = threading.Event()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            hooks.connections += 1
            if hooks.early:
                self.wfile.write(hooks.say(b'{"response":{"uid":"guessed","allowed":true}}'))
                self.wfile.flush()
                ending.wait(5)
            length = 0
            while (line := self.rfile.readline()) not in (b"\r\n", b""):
                name, _, value = line.lower().partition(b":")
                length = int(value) if name == b"content-length" else length
            if not length:
                return
            review = json.loads(self.rfile.read(length))
            try:
                said = hooks.say(json.dumps(allow(review)).encode())
                if not hooks.slowly:
                    self.wfile.write(said)
                    return
                for byte in said:
                    self.wfile.write(bytes([byte]))
                    if ending.wait(0.02):
                        return
            except OSError:
                pass  # it hung up

    handler: type[BaseHTTPRequestHandler] = Handler  # type: ignore[assignment]
    server = loopback_server(handler)
    wrap(server, tmp_path, "raw", pair)
    hooks = RawHooks(server.server_address[1], authority.certificate)
    with served(server):
        yield hooks
        ending.set()


@pytest.mark.parametrize("name", ANSWERS)
def test_answers(name: str, server: Server, raw: RawHooks, namespace: str) -> None:
    raw.say, status, text = ANSWERS[name]
    with registered(server, namespace, hook(raw, timeoutSeconds=30)):
        given, made = create(server, namespace, data={"k": "v"})
        said = json.dumps(made)
        assert (given, text in said) == (status, True), said
        # What was left on a connection answers nothing else.
        raw.say = sized
        given, made = create(server, namespace, name="after")
        assert given == 201, made
    stored = server.call("GET", f"/api/v1/namespaces/{namespace}/configmaps/m")[0]
    assert stored == (200 if status == 201 else 404)


def test_an_answer_before_the_question_is_none(server: Server, raw: RawHooks, namespace: str) -> None:
    raw.early = True
    with registered(server, namespace, hook(raw, timeoutSeconds=30)):
        given, made = create(server, namespace)
        assert given == 500 and "expected response.uid" in made["message"], made


def test_an_answer_that_drips_has_its_time(server: Server, raw: RawHooks, namespace: str) -> None:
    raw.slowly = True
    raw.say = lambda body: sized(b" " * 100_000 + body)
    with registered(server, namespace, hook(raw, timeoutSeconds=1)):
        began = time.monotonic()
        given, made = create(server, namespace)
        assert given == 500 and "context deadline exceeded" in made["message"], made
        assert time.monotonic() - began < 60
