"""What the API server says to a request that could not even be read."""

from __future__ import annotations

import json

import pytest

from pybernetes.control_plane.apiserver.pipeline import failures
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.store.protocol import NoSpace, Unanswered, Unavailable


@pytest.mark.parametrize(
    ("status", "message", "text"),
    [
        (400, "bad", "bad"),
        (413, "limit is 1", "Request entity too large: limit is 1"),
        (431, "the headers are too large", "the headers are too large"),
    ],
)
def test_a_refusal_is_a_status(status: int, message: str, text: str) -> None:
    answer = failures.refusal(status, message)
    body = json.loads(answer.body)
    assert answer.status == status and answer.content_type == b"application/json"
    assert (body["kind"], body["code"], body["message"]) == ("Status", status, text)


@pytest.mark.parametrize(
    ("method", "error", "status", "retry"),
    [
        # Nothing has happened: whoever asks again does no harm.
        ("GET", Unanswered("no quorum"), 503, b"1"),
        ("GET", Unavailable("the store is not open"), 503, b"1"),
        ("POST", Unavailable("the store is not open"), 503, b"1"),
        # It may have happened, and a client must not take it for undone.
        ("PUT", Unanswered("no quorum"), 504, b"1"),
        ("DELETE", Unanswered("no quorum"), 504, b"1"),
        ("POST", NoSpace(), 500, None),
    ],
)
def test_a_store_that_cannot_be_reached_says_when_to_ask_again(
    method: str, error: Exception, status: int, retry: bytes | None
) -> None:
    answer = failures.failure(error, Request(object(), method, "/api/v1/nodes", "", {}, b""))  # type: ignore[arg-type]
    assert answer.status == status
    assert dict(answer.headers).get(b"Retry-After") == retry
