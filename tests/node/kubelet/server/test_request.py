"""Requests to the kubelet."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.node.kubelet.server.request import Request


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", False),
        ("follow=true", True),
        ("follow=True", True),
        ("follow=1", True),
        ("follow=yes", True),
        ("follow=", True),
        ("follow=false", False),
        ("follow=False", False),
        ("follow=0", False),
        ("other=true", False),
    ],
)
def test_flag(query: str, expected: bool) -> None:
    connection: Any = None
    assert Request(connection, "GET", "/", query, {}, b"").flag("follow") is expected
