"""A server's end and new start, many watches, and two servers on one etcd."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import resource
import signal
import ssl
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.control_plane.store.etcd_server import etcd
from tests.servers import TOKEN, Server, running
from tests.support import require_program, until

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
_HEADERS = {"Authorization": f"Bearer {TOKEN}"}


def events(response: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    """Yield the events of a watch, until it ends."""
    while line := response.readline():
        yield json.loads(line)


def open_watch(
    server: Server, query: str = ""
) -> tuple[http.client.HTTPSConnection, http.client.HTTPResponse]:
    connection = server.connection()
    connection.request("GET", f"{CONFIG_MAPS}?watch=1{query}", headers=_HEADERS)
    return connection, connection.getresponse()


def test_shutdown_in_good_order(tmp_path: Path) -> None:
    """Not ready first, and still serving; then watches end, what is under way is answered, and the end is clean."""
    with running(tmp_path, "--storage-backend=memory", "--shutdown-delay-duration=2s") as server:
        watching, stream = open_watch(server)
        waiting = server.connection()
        # It waits for a version that does not come, for three seconds.
        waiting.request("GET", f"{CONFIG_MAPS}?resourceVersion=999999", headers=_HEADERS)
        assert server.call("GET", "/readyz")[0] == 200
        server.process.send_signal(signal.SIGTERM)
        until(lambda: server.call("GET", "/readyz")[0] != 200)
        assert server.call("POST", CONFIG_MAPS, {"metadata": {"name": "last"}})[0] == 201
        assert [event["object"]["metadata"]["name"] for event in events(stream)] == ["last"]
        answer = waiting.getresponse()
        assert answer.status == 504 and json.loads(answer.read())["reason"] == "Timeout"
        assert server.process.wait(60) == 0
        watching.close()
        waiting.close()


def test_killed_and_started_again(tmp_path: Path) -> None:
    """Nothing that was acknowledged is lost, versions go on, addresses are not given out twice."""
    acknowledged: dict[str, int] = {}
    with running(tmp_path) as server:
        stop = threading.Event()

        def write(writer: int) -> None:
            for number in range(10_000):
                if stop.is_set():
                    return
                name = f"c{writer}-{number}"
                try:
                    status, made = server.call("POST", CONFIG_MAPS, {"metadata": {"name": name}})
                except (OSError, http.client.HTTPException):
                    return  # the server is gone, and this one was not acknowledged
                assert status == 201
                acknowledged[name] = int(made["metadata"]["resourceVersion"])

        service = {"metadata": {"name": "first"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}}
        _, first = server.call("POST", "/api/v1/namespaces/default/services", service)
        with ThreadPoolExecutor(4) as pool:
            for writer in range(4):
                pool.submit(write, writer)
            try:
                until(lambda: len(acknowledged) >= 100)
            finally:
                server.process.kill()
                stop.set()
        server.process.wait(60)
        port = server.port
    assert len(acknowledged) >= 100
    with running(tmp_path, port=port) as server:
        assert (server.port, server.call("GET", "/readyz")[0]) == (port, 200)
        _, listed = server.call("GET", CONFIG_MAPS)
        versions = {
            item["metadata"]["name"]: int(item["metadata"]["resourceVersion"]) for item in listed["items"]
        }
        assert acknowledged.items() <= versions.items()
        assert int(listed["metadata"]["resourceVersion"]) >= max(acknowledged.values())
        _, made = server.call("POST", CONFIG_MAPS, {"metadata": {"name": "after"}})
        assert int(made["metadata"]["resourceVersion"]) > max(versions.values())
        service["metadata"] = {"name": "second"}
        _, second = server.call("POST", "/api/v1/namespaces/default/services", service)
        for field in ("clusterIP",):
            assert first["spec"][field] != second["spec"][field]
        assert first["spec"]["ports"][0]["nodePort"] != second["spec"]["ports"][0]["nodePort"]
        # A watch from before the crash goes on, or is told that its version is gone.
        oldest = min(acknowledged.values())
        connection, stream = open_watch(server, f"&resourceVersion={oldest}&timeoutSeconds=1")
        if stream.status == 200:
            seen = list(events(stream))
            if seen[0]["type"] != "ERROR":
                names = {event["object"]["metadata"]["name"] for event in seen}
                assert names >= {name for name, version in acknowledged.items() if version > oldest}
        else:
            assert stream.status == 410
        connection.close()


def test_two_servers_on_one_etcd(tmp_path: Path) -> None:
    require_program("etcd")
    with contextlib.ExitStack() as stack:
        (member,) = stack.enter_context(etcd(tmp_path / "etcd"))
        servers = []
        for name, address in (("one", "192.0.2.1"), ("two", "192.0.2.2")):
            directory = tmp_path / name
            directory.mkdir()
            flags = (f"--etcd-servers={member.address}", "--service-cluster-ip-range=10.8.0.0/24",
                     f"--advertise-address={address}")  # fmt: skip
            servers.append(stack.enter_context(running(directory, *flags)))
        one, two = servers
        for number in range(20):  # what one has acknowledged, the other shows
            writer, reader = (one, two) if number % 2 else (two, one)
            path = f"{CONFIG_MAPS}/c{number}"
            assert writer.call("POST", CONFIG_MAPS, {"metadata": {"name": f"c{number}"}})[0] == 201
            status, obj = reader.call("GET", path)
            assert status == 200
            assert reader.call("PUT", path, {**obj, "data": {"a": "1"}})[0] == 200
            status, stale = writer.call("PUT", path, {**obj, "data": {"a": "2"}})
            assert (status, stale["reason"]) == (409, "Conflict")
            assert any(
                item["metadata"]["name"] == f"c{number}"
                for item in writer.call("GET", CONFIG_MAPS)[1]["items"]
            )
        addresses, ports = _services(servers)
        assert len(addresses) == len(set(addresses)) == 80 and len(set(ports)) == 80
        connection, stream = open_watch(two, "&resourceVersion=0&timeoutSeconds=30")
        one.call("POST", CONFIG_MAPS, {"metadata": {"name": "seen-by-the-other"}})
        names = (event["object"]["metadata"]["name"] for event in events(stream))
        assert "seen-by-the-other" in names
        connection.close()
        # The endpoints of the API are the servers that there are.
        assert _endpoints(one) == ["192.0.2.1", "192.0.2.2"]
        two.stop()
        assert _endpoints(one) == ["192.0.2.1"]


def _endpoints(server: Server) -> list[str]:
    _, endpoints = server.call("GET", "/api/v1/namespaces/default/endpoints/kubernetes")
    piece = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes"
    slices = [endpoint["addresses"][0] for endpoint in server.call("GET", piece)[1]["endpoints"]]
    addresses = [address["ip"] for subset in endpoints["subsets"] for address in subset["addresses"]]
    assert addresses == slices
    return addresses


def _services(servers: list[Server]) -> tuple[list[str], list[int]]:
    """Return what services get that are made at both servers at the same time."""

    def make(number: int) -> dict[str, Any]:
        body = {"metadata": {"name": f"s{number}"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}}
        status, made = servers[number % 2].call("POST", "/api/v1/namespaces/default/services", body)
        assert status == 201, made
        return made["spec"]

    with ThreadPoolExecutor(8) as pool:
        specs = list(pool.map(make, range(80)))
    return [spec["clusterIP"] for spec in specs], [spec["ports"][0]["nodePort"] for spec in specs]


@pytest.fixture
def many_files() -> Iterator[None]:
    """Yield room for a few thousand sockets, which a server that is started now inherits."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if before[1] != resource.RLIM_INFINITY and before[1] < 4096:
        pytest.skip("the limit on open files is too low")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(before[0], 4096), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def _cost(process: int) -> tuple[float, float]:
    """Return the seconds of processor time and the megabytes that a process has used."""
    stat = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK"), pages * os.sysconf(
        "SC_PAGE_SIZE"
    ) / 2**20


def test_a_thousand_idle_watches_cost_little(tmp_path: Path, many_files: None) -> None:
    count = 1000

    async def watches(server: Server) -> None:
        context = ssl.create_default_context(cafile=str(server.authority))
        request = f"GET {CONFIG_MAPS}?watch=1&resourceVersion=0 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"

        async def connect() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port, ssl=context, limit=4096)
            writer.write(request.encode())
            await reader.readuntil(b"\r\n\r\n")
            return reader, writer

        _, before = _cost(server.process.pid)
        clients = []
        for _ in range(count // 50):
            clients += await asyncio.gather(*(connect() for _ in range(50)))
        used, memory = _cost(server.process.pid)
        changes = [asyncio.create_task(reader.readuntil(b"}\n\r\n")) for reader, _ in clients]
        told, _ = await asyncio.wait(changes, timeout=2)
        assert not told
        later, _ = _cost(server.process.pid)
        assert later - used < 0.3, "idle watches use processor time"
        assert memory - before < count * 0.1, f"{(memory - before) / count * 1024:.0f} kB for each watch"
        # All of them hear of the next change.
        status, _ = await asyncio.to_thread(server.call, "POST", CONFIG_MAPS, {"metadata": {"name": "news"}})
        assert status == 201
        heard = await asyncio.gather(*changes)
        assert len(heard) == count and all(b'"name":"news"' in frame for frame in heard)
        for _, writer in clients:
            writer.transport.abort()

    with running(tmp_path, "--storage-backend=memory") as server:
        asyncio.run(asyncio.wait_for(watches(server), 120))

        def still_open() -> list[str]:
            lines = server.call("GET", "/metrics")[1].splitlines()
            counted = (line for line in lines if line.startswith("apiserver_longrunning_requests"))
            return [line for line in counted if "configmaps" in line and float(line.rpartition(" ")[2])]

        # The server lets go of them.
        until(lambda: not still_open(), story=lambda: f"watches are still open: {still_open()}")
