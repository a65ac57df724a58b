"""What the API server says to a request that could not even be read."""

from __future__ import annotations

import json

import pytest

from pybernetes.control_plane.apiserver.pipeline import failures


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
