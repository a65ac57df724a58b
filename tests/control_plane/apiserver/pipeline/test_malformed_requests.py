"""Requests that the API server does not even read to their end."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

from tests.lib.http import malformed_requests
from tests.servers import running


def test_malformed_requests(tmp_path: Path) -> None:
    with running(tmp_path, "--storage-backend=memory") as server:
        context = ssl.create_default_context(cafile=str(server.authority))
        asyncio.run(malformed_requests.check(server.port, context))
