"""Whoever asks how the control plane is holds nobody up."""

from __future__ import annotations

import ssl

import pytest

from pybernetes.control_plane.apiserver.virtual_resources import componentstatuses


async def test_questions_read_no_authorities(monkeypatch: pytest.MonkeyPatch) -> None:
    """To read those of the system takes 16 ms on the event loop, for each part that is asked."""
    read: list[ssl.SSLContext] = []
    monkeypatch.setattr(ssl.SSLContext, "load_default_certs", lambda self, *_: read.append(self))
    for _ in range(2):
        healthy, message = await componentstatuses._probe("127.0.0.1", 1)
        assert not healthy and message.endswith("connect: connection refused")
    assert read == []
