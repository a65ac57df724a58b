"""Which form an Accept header asks for, and how bodies are read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.codec import bodies, negotiation
from pybernetes.control_plane.apiserver.request import Request

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PROTOBUF = "application/vnd.kubernetes.protobuf"


def request(headers: dict[bytes, bytes] | None = None, query: str = "", body: bytes = b"") -> Request:
    return Request(None, "POST", "/", query, headers or {}, body)  # type: ignore[arg-type]


def form(accept: str, query: str = "", **headers: bytes) -> negotiation.Representation:
    sent = {
        b"accept": accept.encode(),
        **{name.replace("_", "-").encode(): value for name, value in headers.items()},
    }
    return negotiation.representation(request(sent, query))


@pytest.mark.parametrize(
    ("accept", "media", "transform"),
    [
        ("", "application/json", ""),
        ("*/*", "application/json", ""),
        ("application/json", "application/json", ""),
        ("application/yaml", "application/yaml", ""),
        (f"{PROTOBUF},application/json", PROTOBUF, ""),
        (f"application/json, {PROTOBUF}", "application/json", ""),
        (f"{PROTOBUF};q=0.5, */*", "application/json", ""),
        (f"{PROTOBUF};stream=watch", PROTOBUF, ""),
        (f"{PROTOBUF};as=Table;v=v1;g=meta.k8s.io,{TABLE}", "application/json", "Table"),
        (f"{PROTOBUF};as=PartialObjectMetadata;v=v1;g=meta.k8s.io", PROTOBUF, "PartialObjectMetadata"),
        (f"{TABLE},application/json", "application/json", "Table"),
        ("application/json;as=Table;v=v9;g=meta.k8s.io,application/json", "application/json", ""),
        ("application/json;as=Table;v=v1;g=example.com,application/yaml", "application/yaml", ""),
        ("application/json;q=0.1,application/yaml;q=0.9", "application/yaml", ""),
        ("text/html,application/xml;q=0.9,*/*;q=0.8", "application/json", ""),
        ("application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", "application/json", "PartialObjectMetadataList"),
    ],
)  # fmt: skip
def test_accept(accept: str, media: str, transform: str) -> None:
    chosen = form(accept)
    assert (chosen.media, chosen.transform) == (media, transform)


@pytest.mark.parametrize(
    "accept",
    [
        "application/xml",
        f"{PROTOBUF};as=Table;v=v1;g=meta.k8s.io",
        "text/html",
        "application/json;as=Other;v=v1;g=meta.k8s.io",
    ],
)
def test_not_acceptable(accept: str) -> None:
    with pytest.raises(errors.StatusError) as error:
        form(accept)
    assert (error.value.code, error.value.reason) == (406, "NotAcceptable")


def test_pretty() -> None:
    assert form("*/*", "pretty=true").pretty and form("*/*", user_agent=b"curl/8").pretty
    assert not form("*/*").pretty and not form("*/*", "pretty=false", user_agent=b"curl/8").pretty
    assert negotiation.encode({"a": 1}, form("*/*", "pretty=1")) == b'{\n  "a": 1\n}'


@given(st.text(max_size=40))
def test_any_header_is_answered(accept: str) -> None:
    try:
        form(accept.encode("utf-8", "replace").decode("latin-1").encode("latin-1").decode("latin-1"))
    except errors.StatusError as error:
        assert error.code == 406
    except UnicodeEncodeError:
        pass


@pytest.mark.parametrize(
    ("media", "body", "value", "duplicates"),
    [
        (b"application/json", b'{"a":1}', {"a": 1}, []),
        (b"", b'{"a":{"b":1,"b":2}}', {"a": {"b": 2}}, ['duplicate field "a.b"']),
        (b"application/json; charset=utf-8", b'[{"a":1,"a":2}]', [{"a": 2}], ['duplicate field "[0].a"']),
        (b"application/yaml", b"a: 1\na: 2", {"a": 2}, ['line 2: key "a" already set in map']),
        (b"application/yaml", b'{"a":1}', {"a": 1}, []),
        (b"application/yaml", b'{"a":1,"a":2}', {"a": 2}, ['line 1: key "a" already set in map']),
    ],
)
def test_bodies(media: bytes, body: bytes, value: Any, duplicates: list[str]) -> None:
    read = bodies.read_body(request({b"content-type": media} if media else {}, body=body))
    assert read.value == value and read.complaints(1, []) == duplicates


def test_complaints_follow_the_text_and_stay_out_of_what_is_unknown() -> None:
    text = b'{"a":{"odd":{"x":1,"x":2}},"b":1,"b":2,"odd":1,"odd":2}'
    read = bodies.read_body(request({}, body=text))
    assert read.complaints(3, [((None, "a"), "odd"), (None, "odd")]) == [
        'unknown field "a.odd"',
        'duplicate field "b"',
        'unknown field "odd"',
    ]
    read = bodies.read_body(request({b"content-type": b"application/yaml"}, body=b"odd: 1\nb: 1\nb: 2"))
    assert read.complaints(1, [(None, "odd")]) == [
        'line 3: key "b" already set in map',
        'unknown field "odd"',
    ]


@pytest.mark.parametrize(
    ("media", "body", "problem", "summary"),
    [
        (
            b"application/json",
            b"",
            "json parse error: unexpected end of JSON input",
            "<empty>",
        ),
        (
            b"application/json",
            b"{]",
            "invalid character ']' looking for beginning of object key string",
            "{]",
        ),
        (b"application/json", b"x" * 40, "invalid character 'x' looking for", "78" * 30 + " ..."),
        (b"application/yaml", b"a: [\n", "error converting YAML to JSON: yaml: line 1:", "613a205b0a"),
        (PROTOBUF.encode(), b"{}", "does not appear to be a protobuf message", "{}"),
    ],
)
def test_malformed_bodies(media: bytes, body: bytes, problem: str, summary: str) -> None:
    read = bodies.read_body(request({b"content-type": media}, body=body))
    assert problem in read.problem and read.summary() == summary
    with pytest.raises(errors.StatusError) as error:
        _ = read.value
    assert error.value.code == 400


def test_unknown_media_types() -> None:
    with pytest.raises(errors.StatusError) as error:
        bodies.read_body(request({b"content-type": b"application/xml"}))
    assert error.value.code == 415 and PROTOBUF in error.value.message
