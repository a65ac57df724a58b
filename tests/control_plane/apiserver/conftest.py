"""One API server per storage backend, shared by the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.control_plane.store.etcd_server import etcd
from tests.servers import Server, running
from tests.support import require_program


@pytest.fixture(scope="session", params=["memory", "sqlite", "etcd"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A running API server on each of the backends."""
    directory = tmp_path_factory.mktemp(f"apiserver-{request.param}")
    with ExitStack() as stack:
        flags = [f"--storage-backend={request.param}"]
        if request.param == "sqlite":
            flags.append(f"--data-dir={directory / 'data'}")
        if request.param == "etcd":
            require_program("etcd")
            (member,) = stack.enter_context(etcd(tmp_path_factory.mktemp("etcd")))
            flags = [f"--etcd-servers={member.address}"]
        yield stack.enter_context(running(directory, *flags))


@pytest.fixture
def namespace(server: Server, request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace of the test's own."""
    status, made = server.call("POST", "/api/v1/namespaces", {"metadata": {"generateName": "test-"}})
    assert status == 201, made
    name = made["metadata"]["name"]
    yield name
    server.call("DELETE", f"/api/v1/namespaces/{name}")
