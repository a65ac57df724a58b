"""One API server per storage backend, shared by the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.control_plane.apiserver.authn.credentials import ACCOUNTS, World
from tests.control_plane.store.etcd_server import etcd
from tests.servers import Server, longest_turn, running
from tests.support import require_program

# Processor time that no turn of an event loop takes, whatever the tests do, on a machine that is busy with others.
_LONGEST_TURN = 2.0


@pytest.fixture(scope="session", params=["memory", "sqlite", "etcd"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Yield a running API server on each of the backends."""
    directory = tmp_path_factory.mktemp(f"apiserver-{request.param}")
    with ExitStack() as stack:
        flags = [f"--storage-backend={request.param}"]
        if request.param == "sqlite":
            flags.append(f"--data-dir={directory / 'data'}")
        if request.param == "etcd":
            require_program("etcd")
            (member,) = stack.enter_context(etcd(tmp_path_factory.mktemp("etcd")))
            flags = [f"--etcd-servers={member.address}"]
        running_server = stack.enter_context(running(directory, *flags, "--event-loop-watchdog=100ms"))
        yield running_server
        code = running_server.process.poll()
        assert code is None, f"the server ended with {code}: {(directory / 'log').read_text()[-3000:]}"
        seconds, function = longest_turn(running_server)
        assert seconds < _LONGEST_TURN, f"the event loop was held for {seconds} s: {function}"


@pytest.fixture
def namespace(server: Server, request: pytest.FixtureRequest) -> Iterator[str]:
    """Yield a namespace of the test's own."""
    status, made = server.call("POST", "/api/v1/namespaces", {"metadata": {"generateName": "test-"}})
    assert status == 201, made
    name = made["metadata"]["name"]
    yield name
    server.call("DELETE", f"/api/v1/namespaces/{name}")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Yield a server that trusts several authorities, with two service accounts."""
    directory = tmp_path_factory.mktemp("authn")
    made = World(directory)
    kubelet = made.certificate("clients", "apiserver-kubelet-client", "system:masters")
    flags = (
        "--storage-backend=memory",
        f"--client-ca-file={directory / 'clients.crt'}",
        f"--requestheader-client-ca-file={directory / 'proxies.crt'}",
        "--requestheader-allowed-names=front-proxy-client",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        "--enable-bootstrap-token-auth",
        "--service-account-max-token-expiration=48h",
        f"--kubelet-certificate-authority={directory / 'kubelets.crt'}",
        *map(
            "=".join,
            zip(("--kubelet-client-certificate", "--kubelet-client-key"), map(str, kubelet), strict=True),
        ),
    )
    with running(directory, *flags) as server:
        made.server = server
        for name in ("robot", "other"):
            status, answer = server.call("POST", ACCOUNTS, {"metadata": {"name": name}})
            assert status == 201, answer
        yield made
