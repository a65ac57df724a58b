"""The keys of a provider that takes its time."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from pybernetes.control_plane.apiserver.authn.jwt.key_set import Fetcher, KeySet, Unavailable
from pybernetes.control_plane.apiserver.authn.jwt.settings import JwtSettings, Mapping
from pybernetes.lib.http.client import HttpClient
from tests.control_plane.apiserver.authn.jwt.openid_provider import providing


async def test_a_provider_that_is_slow(tmp_path: Path) -> None:
    """Whoever waits for its keys is told when its time is over; later it is asked again, once for all who wait."""
    now = 0.0
    https = HttpClient()
    with providing(tmp_path) as provider:
        provider.waits = threading.Event()
        settings = JwtSettings(provider.url, ("a",), Mapping(), authority=provider.authority.read_text())
        keys = KeySet(settings, Fetcher(settings, https, seconds=0.2), lambda: now)
        waiting = [keys.find("first", "RS256") for _ in range(3)]
        for result in await asyncio.gather(*waiting, return_exceptions=True):
            assert isinstance(result, Unavailable) and "is not healthy" in str(result)
        assert len(provider.calls) <= 1, "all wait for one question"
        provider.waits.set()
        with pytest.raises(Unavailable):
            await keys.find("first", "RS256")  # it was asked just now
        now = 10.0
        patient = KeySet(settings, Fetcher(settings, https, seconds=60.0), lambda: now)
        assert len(await patient.find("first", "RS256")) == 1
    https.close()
