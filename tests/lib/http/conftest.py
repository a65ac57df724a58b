"""A server for a test."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from pybernetes.lib.http.limits import Limits
from pybernetes.lib.http.server import Server
from pybernetes.lib.http.server_connection import Application
from pybernetes.lib.tls import tls
from tests.lib.http.services import QUICK, Service, refusal


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    return tls.ensure_serving(tmp_path_factory.mktemp("certificates"), ["127.0.0.1"])


@pytest.fixture
def serve(certificates: tuple[Path, Path, Path]) -> Callable[..., Any]:
    certificate, key, authority = certificates

    @asynccontextmanager
    async def running(application: Application, limits: Limits = QUICK) -> AsyncIterator[Service]:
        server = Server(application, refusal, limits)
        port = await server.start("127.0.0.1", 0, tls.server_context(certificate, key))
        try:
            yield Service(server, port, ssl.create_default_context(cafile=str(authority)))
        finally:
            await server.drain(1)

    return running
