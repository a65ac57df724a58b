"""Streams through our API server to a kubelet that the test plays."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import orjson
import pytest

from pybernetes.client import Client, StatusError, pod_streams
from pybernetes.client.pod_streams import ERROR, STDERR, STDOUT
from pybernetes.client.refs import NODES, PODS
from pybernetes.lib.http import websocket
from pybernetes.lib.tls import tls
from tests.cluster import Cluster, pod


class Kubelet:
    """Plays a kubelet: echoes standard input, in capitals to standard error; logs count to three."""

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        target = head.split(b" ")[1].decode()
        lines = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
        headers = {name.lower(): value for name, value in lines.items()}
        try:
            if target.startswith("/containerLogs"):
                writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                for number in (b"1\n", b"2\n", b"3\n"):
                    writer.write(b"2\r\n%b\r\n" % number)
                    await writer.drain()
                writer.write(b"0\r\n\r\n")
                return
            offered = [protocol.strip() for protocol in headers[b"sec-websocket-protocol"].split(b",")]
            accept = websocket.accept_of(headers[b"sec-websocket-key"])
            writer.write(
                b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                b"Sec-WebSocket-Accept: %b\r\nSec-WebSocket-Protocol: %b\r\n\r\n" % (accept, offered[0])
            )
            serve = self.forward if target.startswith("/portForward") else self.process
            await serve(reader, writer, target)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def process(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, target: str) -> None:
        def send(channel: int, data: bytes) -> None:
            writer.write(websocket.frame(2, bytes((channel,)) + data))

        if "command=fail" in target:
            causes = [{"reason": "ExitCode", "message": "7"}]
            status = {"status": "Failure", "reason": "NonZeroExitCode", "details": {"causes": causes}}
            send(ERROR, orjson.dumps(status))
            return
        if "command=missing" in target:
            send(
                ERROR,
                orjson.dumps(
                    {"kind": "Status", "status": "Failure", "message": "no such program", "code": 500}
                ),
            )
            return
        parser = websocket.Parser(masked=True)
        while data := await reader.read(65536):
            parser.feed(data)
            for opcode, message in iter(parser.next, None):
                if opcode == 2 and message[:1] == b"\0":
                    send(STDOUT, message[1:])
                    send(STDERR, message[1:].upper())
                elif opcode == 2 and message == b"\xff\0":
                    send(ERROR, orjson.dumps({"status": "Success"}))
                    writer.write(websocket.frame(8, b"\x03\xe8"))
                    return

    async def forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, target: str) -> None:
        for channel in (0, 1):
            writer.write(websocket.frame(2, bytes((channel,)) + (80).to_bytes(2, "little")))
        if "port=81" in target or "ports=81" in target:
            writer.write(websocket.frame(2, b"\x01nobody listens there"))
        parser = websocket.Parser(masked=True)
        while data := await reader.read(65536):
            parser.feed(data)
            for opcode, message in iter(parser.next, None):
                if opcode == 2:
                    writer.write(websocket.frame(2, b"\0" + message[1:][::-1]))


@asynccontextmanager
async def running(transport: str, tmp_path: Path) -> AsyncIterator[Client]:
    certificate, key, _ = tls.ensure_serving(tmp_path, ["127.0.0.1"])
    listener = await asyncio.start_server(Kubelet(), "127.0.0.1", 0, ssl=tls.server_context(certificate, key))
    port = listener.sockets[0].getsockname()[1]
    async with Cluster() as cluster:
        client = cluster.rest_client() if transport == "rest" else cluster.client
        status = {
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
        }
        await client.create(NODES, {"metadata": {"name": "n1"}, "status": status})
        await client.create(PODS, {**pod("web"), "spec": {**pod("web")["spec"], "nodeName": "n1"}})
        yield client
        listener.close()


@pytest.mark.parametrize("transport", ["rest", "local"])
async def test_streams(transport: str, tmp_path: Path) -> None:
    async with running(transport, tmp_path) as client:
        log = b"".join([part async for part in pod_streams.logs(client, "web", "default", follow=True)])
        assert log == b"1\n2\n3\n"
        async with await pod_streams.execute(client, "web", "default", ["cat"], stdin=True) as process:
            assert await process.communicate(b"hello") == (b"hello", b"HELLO")
            assert process.exit_code == 0
        async with await pod_streams.attach(client, "web", "default", stdin=True) as process:
            assert process.exit_code is None
            await process.resize(80, 25)
            await process.write(b"one")
            assert await process.read() == (STDOUT, b"one")
            assert await process.read() == (STDERR, b"ONE")
        async with await pod_streams.execute(client, "web", "default", ["fail"]) as process:
            assert await process.communicate() == (b"", b"") and process.exit_code == 7
        async with await pod_streams.execute(client, "web", "default", ["missing"]) as process:
            await process.communicate()
            with pytest.raises(StatusError, match="no such program"):
                _ = process.exit_code
        with pytest.raises(StatusError, match="container nope is not valid for pod web"):
            await pod_streams.execute(client, "web", "default", ["x"], container="nope")


@pytest.mark.parametrize("transport", ["rest", "local"])
async def test_port_forward(transport: str, tmp_path: Path) -> None:
    async with running(transport, tmp_path) as client:
        forward = await pod_streams.port_forward(client, "web", "default", 80)
        await forward.write(b"abc")
        assert await forward.read() == b"cba"
        forward.close()
        refused = await pod_streams.port_forward(client, "web", "default", 81)
        with pytest.raises(StatusError, match="nobody listens there"):
            await refused.read()
        refused.close()
        forwarder = pod_streams.Forwarder(client, "web", "default", 80)
        reader, writer = await asyncio.open_connection("127.0.0.1", await forwarder.start())
        writer.write(b"12345")
        assert await reader.readexactly(5) == b"54321"
        writer.close()
        await forwarder.stop()
