"""Inputs built by their rules, where mutations of bytes would rarely get past the first check."""

from __future__ import annotations

import contextlib
import io
import json
import tarfile

from hypothesis import given
from hypothesis import strategies as st

from fuzz.targets import dns, http_request, protobuf, tar_archive, websocket
from pybernetes.api.text import yaml_reader
from pybernetes.lib.http import websocket as frames
from pybernetes.node.dns import wire
from pybernetes.tools.kubectl.errors import CommandError

NAMES = st.text(st.sampled_from("abcXYZ-09"), min_size=1, max_size=12)
BODIES = st.binary(max_size=200)


@st.composite
def requests(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """Return a request as bytes, and its body: with a length, or in chunks with extensions and trailers."""
    headers = draw(st.dictionaries(NAMES.map(lambda name: f"x-{name}".lower()), NAMES, max_size=4))
    lines = [
        f"POST /{draw(NAMES)}?{draw(NAMES)}=1 HTTP/1.1",
        "Host: x",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    if draw(st.booleans()):
        body = draw(BODIES)
        return ("\r\n".join([*lines, f"Content-Length: {len(body)}"]) + "\r\n\r\n").encode() + body, body
    chunks = draw(st.lists(st.binary(min_size=1, max_size=50), max_size=4))
    ends = draw(st.sampled_from([b"", b"X-Remote-User: root\r\n", b"Host: y\r\n"]))
    coded = b"".join(
        b"%x%b\r\n%b\r\n" % (len(chunk), draw(st.sampled_from([b"", b";a=b"])), chunk) for chunk in chunks
    )
    head = ("\r\n".join([*lines, "Transfer-Encoding: chunked"]) + "\r\n\r\n").encode()
    return head + coded + b"0\r\n" + ends + b"\r\n", b"".join(chunks)


@given(st.lists(requests(), min_size=1, max_size=4), st.integers(1, 60))
def test_requests_one_after_the_other_are_read_as_they_were_written(
    sent: list[tuple[bytes, bytes]], size: int
) -> None:
    data = b"".join(request for request, _ in sent)
    got = http_request._read([data[at : at + size] for at in range(0, len(data), size)])
    assert [request[4] for request in got] == [body for _, body in sent]
    assert all(b"x-remote-user" not in request[3] and request[3][b"host"] == b"x" for request in got)
    http_request.run(data)


@given(st.lists(st.tuples(st.booleans(), BODIES), max_size=5), st.integers(1, 9), st.booleans())
def test_messages_in_parts_are_put_together(sent: list[tuple[bool, bytes]], size: int, pings: bool) -> None:
    data = b""
    for is_split, payload in sent:
        parts = [payload[: len(payload) // 2], payload[len(payload) // 2 :]] if is_split else [payload]
        for number, part in enumerate(parts):
            one = bytearray(frames.frame(frames.BINARY if number == 0 else 0, part, mask=b"mask"))
            if number < len(parts) - 1:
                one[0] &= 0x7F
            data += bytes(one)
            if pings:
                data += frames.frame(frames.PING, b"p", mask=b"abcd")
    got = websocket._read([data[at : at + size] for at in range(0, len(data), size)], True)
    assert [message for message in got if message[0] != frames.PING] == [
        (frames.BINARY, payload) for _, payload in sent
    ]


TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=["C"], exclude_characters="\u2028\u2029"), max_size=8
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


@given(JSON, st.sampled_from([None, 1, 4]))
def test_json_read_as_yaml_is_the_same_value(value: object, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    assert yaml_reader.loads(text.encode())[0] == value


@given(
    st.lists(st.binary(min_size=1, max_size=63), max_size=6), st.integers(0, 65535), st.binary(max_size=20)
)
def test_any_question_is_answered_or_dropped(labels: list[bytes], kind: int, rest: bytes) -> None:
    name = b"".join(bytes([len(label)]) + label for label in labels) + b"\0"
    dns.run(b"\0\7\1\0\0\1\0\0\0\0\0\0" + name + kind.to_bytes(2) + wire.IN + rest)


@given(
    st.lists(
        st.tuples(st.integers(1, 40), st.sampled_from([0, 1, 2, 5]), st.binary(max_size=20)), max_size=12
    )
)
def test_any_fields_are_an_object_or_refused(fields: list[tuple[int, int, bytes]]) -> None:
    raw = b""
    for number, kind, content in fields:
        raw += bytes([number << 3 & 0x7F | kind]) + {0: b"\x05", 1: bytes(8), 5: bytes(4)}.get(
            kind, bytes([len(content)]) + content
        )
    protobuf.run(protobuf._envelope(b"v1", b"Pod", raw))
    protobuf.run(protobuf._envelope(b"v1", b"Pod", protobuf._field(2, raw)))


PATHS = st.lists(st.sampled_from(["data", "..", ".", "a", "b", "", "link", "é"]), min_size=1, max_size=5).map(
    "/".join
)
KINDS = st.sampled_from(
    [tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE]
)


@given(st.lists(st.tuples(PATHS, KINDS, PATHS), max_size=5))
def test_an_archive_writes_nowhere_else(members: list[tuple[str, bytes, str]]) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, kind, link in members:
            entry = tarfile.TarInfo(f"data/{name}")
            entry.type, entry.linkname = kind, link
            tar.addfile(entry)
    with contextlib.suppress(CommandError, OSError):
        tar_archive.run(buffer.getvalue())
