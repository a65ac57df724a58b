"""Nothing that somebody without any right sends takes long: at its limit, each input takes some milliseconds."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from pybernetes.api import selectors
from pybernetes.control_plane.apiserver import request_info
from pybernetes.control_plane.apiserver.codec import negotiation
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.flags import duration
from pybernetes.lib.http import accept
from pybernetes.lib.http.limits import Limits
from pybernetes.lib.http.request_parser import RequestParser
from pybernetes.lib.http.server import Server

LIMITS = Limits()
# Generous: each takes a few milliseconds of a quiet processor, and took seconds or minutes before.
_SECONDS = 0.15


def _attributes(query: str) -> object:
    return request_info.attributes(_request(query))


def _accepted(text: bytes) -> object:
    request = Request(None, "GET", "/api/v1/pods", "", {b"accept": text}, b"")  # type: ignore[arg-type]
    return negotiation.for_errors(request)


def _query(query: str) -> object:
    request = Request(None, "GET", "/", query, {}, b"")  # type: ignore[arg-type]
    return request.parameter("timeout")


def _head(head: bytes) -> object:
    class Reading(RequestParser):
        def received(self, request: object) -> None:
            pass

        def refuse(self, status: int, message: str) -> None:
            self._closing, self._receiving = True, False

    parser = Reading(Server(lambda request: None))  # type: ignore[arg-type, return-value]
    parser._begin()
    for start in range(0, len(head), 65536):
        parser.data_received(head[start : start + 65536])
    return parser


_GET = b"GET / HTTP/1.1\r\nHost: a\r\n"
CASES: dict[str, tuple[Callable[..., object], str | bytes]] = {
    "digits of a timeout": (duration, "1" * LIMITS.target),
    "a timeout of many parts": (duration, "1s" * 1000 + "x"),
    "parts of a timeout": (duration, "1." * (LIMITS.target // 2)),
    "requirements of labels": (_attributes, "labelSelector=" + "a," * (LIMITS.target // 2 - 20)),
    "values of a label": (_attributes, "labelSelector=a+in+(" + "," * (LIMITS.target - 40) + ")"),
    "escapes of fields": (_attributes, "fieldSelector=" + "a%3D%5C%5C" * (LIMITS.target // 10 - 4)),
    "backslashes of fields": (_attributes, "fieldSelector=" + "\\" * (LIMITS.target - 40)),
    "media types": (_accepted, b"a;q=0.1," * (LIMITS.value // 8)),
    "parameters of a media type": (_accepted, b"a" + b";a=b" * (LIMITS.value // 4)),
    "segments of a path": (lambda path: request_info.parse("GET", path, False), "/api/v1" + "/a" * (LIMITS.target // 2)),
    "query parameters": (_query, "a=%41&" * LIMITS.parameters),
    "escapes of a query": (_query, "a=" + "%41" * (LIMITS.target // 3 - 1)),
    "bad escapes of a query": (_query, "a=" + "%" * (LIMITS.target - 2)),
    "a header again and again": (_head, _GET + (b"X: " + b"a" * 1000 + b"\r\n") * 1000 + b"\r\n"),
    "many headers": (_head, _GET + b"".join(b"X-%d: a\r\n" % number for number in range(80_000)) + b"\r\n"),
    "one header again and again": (_head, _GET + b"X:a\r\n" * 200_000 + b"\r\n"),
    "requests without an end": (_head, (_GET + b"\r\n") * 2000),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_inputs_at_their_limits(name: str) -> None:
    take, text = CASES[name]
    best = float("inf")
    for _ in range(3):
        start = time.thread_time()
        try:
            take(text)
        except ValueError:
            pass
        best = min(best, time.thread_time() - start)
        if best < _SECONDS:
            return
    raise AssertionError(f"{best:.3f} s")


def test_long_selectors_narrow_nothing() -> None:
    """Authorization looks at short ones only; what is long counts as no selector, and the verb refuses it."""
    short = request_info.attributes(_request("fieldSelector=metadata.name%3Da&labelSelector=b"))
    assert (short.name, short.fields) == ("a", (("metadata.name", "a", True),)) and short.labels
    long = request_info.attributes(_request("fieldSelector=metadata.name%3Da," + "c%3Dd," * 2000))
    assert (long.name, long.fields) == ("", ())
    for parse in (selectors.parse_labels, selectors.parse_fields):
        with pytest.raises(selectors.SelectorError, match="no more than 16384 characters"):
            parse("a=b," * 5000)


def _request(query: str) -> Request:
    request = Request(None, "GET", "/api/v1/pods", query, {}, b"")  # type: ignore[arg-type]
    request.request_info = request_info.parse("GET", "/api/v1/pods", False)
    return request


def test_long_lists_of_media_types_are_not_acceptable() -> None:
    assert accept.parse("a/b," * 5000) == () and not accept.etag_matches('"a",' * 5000, '"a"')
    assert negotiation._accepted(b"application/yaml," * 1000) is None
