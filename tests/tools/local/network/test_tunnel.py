"""Which ports are forwarded to which services."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from pybernetes.tools.local.network import tunnel
from pybernetes.tools.local.network.tunnel import Forward, NothingToForward, find, forwards
from tests.support import eventually


def service(name: str, *ports: int, namespace: str = "default", **spec: Any) -> dict[str, Any]:
    entries = [{"port": port, "protocol": "TCP"} for port in ports]
    return {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"type": "LoadBalancer", "ports": entries, **spec},
    }


SERVICES = [
    service("web", 80, 8443),
    service("other", 8443, namespace="apps"),
    service("inside", 8080, type="ClusterIP"),
    service("names", ports=[{"port": 53, "protocol": "UDP"}]),
]


def test_what_is_forwarded() -> None:
    web = Forward("default", "web", (":80", "8443:8443"))  # low ports are not for everybody
    assert forwards(SERVICES) == [web, Forward("apps", "other", (":8443",))]  # nor is one there twice
    assert forwards(SERVICES, ["web"]) == [web]
    assert forwards(SERVICES, namespace="apps") == [Forward("apps", "other", ("8443:8443",))]


@pytest.mark.parametrize("names", [["nobody"], ["inside"], ["names"], ["web", "nobody"]])
def test_what_there_is_not(names: list[str]) -> None:
    with pytest.raises(NothingToForward, match=names[-1]):
        forwards(SERVICES, names)
    with pytest.raises(NothingToForward):
        forwards([])


async def test_whoever_sees_one_namespace_names_it(tmp_path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        status, value = (
            403,
            {"kind": "Status", "code": 403, "reason": "Forbidden", "message": "services is forbidden"},
        )
        if head.startswith(b"GET /api/v1/namespaces/apps/services?"):
            status, value = (
                200,
                {"kind": "ServiceList", "metadata": {}, "items": [service("web", 8443, namespace="apps")]},
            )
        body = json.dumps(value).encode()
        writer.write(
            b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
            % (status, len(body), body)
        )
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        file = tmp_path / "config"
        file.write_text(json.dumps({
            "clusters": [{"name": "c", "cluster": {"server": address}}], "users": [{"name": "u", "user": {}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}], "current-context": "x",
        }))  # fmt: skip
        assert await find(file, (), "apps") == [Forward("apps", "web", ("8443:8443",))]
        with pytest.raises(NothingToForward, match="services is forbidden"):
            await find(file, (), "")


async def test_each_line_says_whose_port_it_speaks_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = "import signal, sys; print('Forwarding from', sys.argv[-1], flush=True); signal.pause()"
    monkeypatch.setattr(tunnel, "pyb", lambda *arguments: [sys.executable, "-c", program, *arguments])
    targets = [Forward("default", "web", ("8443:8443",)), Forward("apps", "other", (":80",))]

    async def those(*_: object) -> list[Forward]:
        return targets

    monkeypatch.setattr(tunnel, "find", those)
    said: set[str] = set()

    def all_are_there() -> bool:
        said.update(capsys.readouterr().out.splitlines())
        return len(said) == len(targets)

    running = asyncio.create_task(tunnel.run(tmp_path / "config", (), "", "127.0.0.1"))
    try:
        await eventually(all_are_there)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    assert said == {"default/web: Forwarding from 8443:8443", "apps/other: Forwarding from :80"}
