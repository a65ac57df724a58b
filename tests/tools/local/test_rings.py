"""What is done with is freed at once: garbage that has lived for long is hardly ever collected, and may be large."""

from __future__ import annotations

import asyncio
import gc
import ssl
from collections import Counter
from pathlib import Path

import pytest
import uvloop

from bench.harness import rounds
from pybernetes.cmd import kube_apiserver, kube_controller_manager
from pybernetes.lib.http import websocket
from pybernetes.tools.local.control_plane import ControlPlane
from tests.support import eventually

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
REQUESTS = (
    f"{CONFIG_MAPS}?watch=1",
    f"{CONFIG_MAPS}?watch=1&fieldSelector=metadata.name%3Dx",
    f"{CONFIG_MAPS}?watch=1&timeoutSeconds=1",
    f"{CONFIG_MAPS}?watch=1&resourceVersion=999999999&timeoutSeconds=1",
    f"{CONFIG_MAPS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
    CONFIG_MAPS,
    "/openapi/v2",
    "/apis/none.example/v1/nothing",
    "/api/v1/nodes/none/proxy/",
    "/api/v1/namespaces/default/pods/none/log",
    "/" + "a" * 100_000,
)
SOCKET = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n"
)
PINGS = websocket.frame(websocket.PING, b"", mask=b"abcd") * 3000  # too many at once
UPGRADES = (f"{CONFIG_MAPS}?watch=1", "/api/v1/namespaces/default/pods/none/exec?command=a")


async def left_by(plane: ControlPlane, token: str) -> Counter[str]:
    """Return what garbage there is after connections of every sort have come and gone, by type."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    connections = plane.server.http.connections

    async def ask(target: str, more: str = "", then: bytes = b"", *, hangs_up: bool) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", plane.server.port, ssl=context)
        writer.write(
            f"GET {target} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n{more}\r\n".encode()
        )
        await reader.read(1)
        writer.write(then)
        if hangs_up:
            writer.transport.abort()
        else:
            writer.close()

    await ask(CONFIG_MAPS, hangs_up=True)  # what is made once stays
    await asyncio.gather(rounds.once(plane.client("tester", "system:masters"), 0))
    await eventually(lambda: not connections)
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    await asyncio.gather(
        *(ask(target, hangs_up=way) for target in REQUESTS for way in (True, False)),
        *(ask(target, SOCKET, then, hangs_up=way) for target in UPGRADES for then in (b"", PINGS) for way in (True, False)),
    )  # fmt: skip
    await rounds.once(plane.client("tester", "system:masters"), 1)
    await eventually(lambda: not connections)
    await asyncio.sleep(0)
    gc.collect()
    names = (f"{type(obj).__module__}.{type(obj).__qualname__}" for obj in gc.garbage)
    return Counter(name for name in names if name.startswith("pybernetes."))


@pytest.mark.slow
def test_connections_and_objects_that_come_and_go_leave_no_rings(tmp_path: Path) -> None:
    (tmp_path / "tokens.csv").write_text('secret,admin,1,"system:masters"\n')
    flags = ["--bind-address=127.0.0.1", "--secure-port=0", f"--cert-dir={tmp_path}", "--storage-backend=memory",
             f"--token-auth-file={tmp_path}/tokens.csv"]  # fmt: skip

    async def test() -> Counter[str]:
        plane = ControlPlane(
            kube_apiserver.parser().parse_args(flags),
            kube_controller_manager.parser().parse_args(["--secure-port=0"]),
            hollow=1,
        )
        await plane.start()
        try:
            async with asyncio.timeout(120):
                return await left_by(plane, "secret")
        finally:
            gc.set_debug(0)
            gc.garbage.clear()
            await plane.stop()

    gc.disable()
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            assert runner.run(test()) == {}
    finally:
        gc.enable()
