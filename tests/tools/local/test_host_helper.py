"""What the control plane may have done on the host, and what not."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pybernetes.lib.http.dialer import RangeDialer
from pybernetes.tools.local.host_client import HostClient
from pybernetes.tools.local.host_helper import HostHelper
from pybernetes.tools.local.network.host_balancers import HostBalancers
from tests.lib.http.test_dialer import ADDRESS, Greeted, _greet, namespace
from tests.support import require_root, until

__all__ = ["namespace"]  # a fixture


def _helper(folder: Path, where: Path | None = None) -> HostHelper:
    return HostHelper(
        lambda: where,
        "10.77.0.0/16,10.96.0.0/16",
        folder / "volumes",
        HostBalancers("no-such-bridge", "172.30.9.0/24", folder / "balancers.json"),
        {"a": {"address": "172.30.9.2"}}.get,
    )


def _answer(helper: HostHelper, question: Any) -> Any:
    answer = helper.answer(question if isinstance(question, bytes) else json.dumps(question).encode())
    assert isinstance(answer, dict)
    return answer


@pytest.mark.parametrize(
    "question",
    [
        b"", b"[]", b"{}", b"null", b"[" * 4000, b'{"do": ["socket"]}', {"do": "exec", "command": "id"},
        {"do": "socket", "host": "127.0.0.1", "port": 22},
        {"do": "socket", "host": "169.254.169.254", "port": 80},
        {"do": "socket", "host": "::ffff:10.77.0.1", "port": 80},
        {"do": "socket", "host": "10.77.0.1", "port": "80"},
        {"do": "socket", "host": 172, "port": 80},
        {"do": "balance", "address": "8.8.8.8", "owner": "a", "ports": [], "nodes": []},
        {"do": "balance", "address": "172.30.9.200"}, {"do": "unbalance", "address": ["172.30.9.200"]},
        {"do": "balancer", "address": "172.30.9.200"}, {"do": "instance", "name": ["a"]}, {"do": "process", "name": 7},
        {"do": "make-volume", "name": "../pvc-1"}, {"do": "make-volume", "name": "pvc-/../../x"},
        {"do": "remove-volume", "name": ".."}, {"do": "remove-volume", "name": ""},
        {"do": "remove-volume", "name": "pvc-\0"}, {"do": "remove-volume", "name": None},
    ],
)  # fmt: skip
def test_what_a_cluster_does_not_need_is_refused(tmp_path: Path, question: Any) -> None:
    assert "error" in _answer(_helper(tmp_path), question)
    assert list(tmp_path.iterdir()) == []


def test_without_a_node_there_is_no_socket(tmp_path: Path) -> None:
    assert _answer(_helper(tmp_path), {"do": "socket", "host": "10.77.0.1", "port": 80}) == {}


def test_folders_of_volumes(tmp_path: Path) -> None:
    helper, folder = _helper(tmp_path), tmp_path / "volumes" / "pvc-1_n_c"
    for _ in range(2):
        assert _answer(helper, {"do": "make-volume", "name": folder.name}) == {}
    assert folder.stat().st_mode & 0o777 == 0o777
    (folder / "link").symlink_to(tmp_path)
    for _ in range(2):
        assert _answer(helper, {"do": "remove-volume", "name": folder.name}) == {}
    assert not folder.exists() and tmp_path.exists()


@pytest.fixture
def client(tmp_path: Path, namespace: Path) -> Iterator[HostClient]:
    helper, path = _helper(tmp_path, namespace), tmp_path / "host.sock"
    threading.Thread(target=helper.serve, args=(path, 1_900_000_002), daemon=True).start()
    until(path.exists)
    yield HostClient(path)


async def test_a_socket_to_a_pod_comes_through_the_helper(client: HostClient, namespace: Path) -> None:
    import asyncio

    from pybernetes.lib.network.network_namespace import socket_in

    listener = socket_in(namespace, socket.AF_INET)
    listener.bind((ADDRESS, 0))
    listener.listen()
    server = await asyncio.start_server(_greet, sock=listener)
    dialer = RangeDialer(("10.77.0.0/16",), client.connecting)
    connection = await dialer(Greeted, ADDRESS, listener.getsockname()[1])
    assert await connection.text == b"hello"
    with pytest.raises(ConnectionRefusedError):
        await dialer(Greeted, ADDRESS, 1)
    with socket_in(namespace, socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind((ADDRESS, 0))
        made = await dialer.datagrams(ADDRESS, receiver.getsockname()[1])
        assert made is not None and await dialer.datagrams("192.0.2.1", 53) is None
        with made:
            made.send(b"hello")
        assert await asyncio.get_running_loop().sock_recv(receiver, 9) == b"hello"
    with pytest.raises(PermissionError):
        await client.connecting("127.0.0.1", 22)
    with pytest.raises(PermissionError):
        await client.balance({"owner": "a", "address": "8.8.8.8"})
    assert await client.balancers() == {}
    assert await client.instance("a") == {"address": "172.30.9.2"} and await client.instance("b") is None
    server.close()


@pytest.mark.parametrize(
    ("user", "answered"), [(1_900_000_002, True), (1_900_000_003, False), (65534, False)]
)
def test_nobody_else_is_answered(client: HostClient, tmp_path: Path, user: int, answered: bool) -> None:
    require_root()
    code = (
        "import os, socket, sys; s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); os.chdir(sys.argv[1]);"
        f"os.setgid({user}); os.setuid({user}); s.connect('host.sock'); s.send(b'{{}}'); print(len(s.recv(99)))"
    )
    os.chmod(tmp_path, 0o755)
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (done.stdout.strip() not in ("", "0")) is answered, done.stderr
