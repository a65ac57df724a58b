"""Many small requests at once from somebody who may make them: events, leases, watches and questions for health."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from itertools import count

from bench.harness.attacked import Attack, Attacked
from bench.harness.shared_server import ADMIN

_MANY, _WATCHES = 100, 25
_EVENTS, _MAPS = "/api/v1/namespaces/default/events", "/api/v1/namespaces/default/configmaps"
_LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
_numbers = count()


def _request(server: Attacked, target: str, body: object = None, *, last: bool = False) -> bytes:
    data = b"" if body is None else json.dumps(body).encode()
    head = replace(server, token=ADMIN).head(target, "POST" if data else "GET", known=True)
    fields = f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n"
    return head + fields.encode() + (b"Connection: close\r\n" if last else b"") + b"\r\n" + data


async def _made(server: Attacked, target: str, more: dict[str, object]) -> None:
    bodies = [{"metadata": {"name": f"flood-{next(_numbers)}"}, **more} for _ in range(_MANY)]
    requests = [_request(server, target, body, last=body is bodies[-1]) for body in bodies]
    await server.send(b"".join(requests), until_end=True)


async def _events(server: Attacked) -> None:
    about = {"kind": "Pod", "namespace": "default", "name": "pod-0"}
    await _made(server, _EVENTS, {"involvedObject": about, "reason": "Flood", "message": "x" * 900})


async def _leases(server: Attacked) -> None:
    await _made(server, _LEASES, {"spec": {"holderIdentity": "somebody", "leaseDurationSeconds": 15}})


async def _watched(server: Attacked) -> None:
    """Make objects that many watch, each over a connection of its own, and leave without a word."""
    connections = [await server.connect() for _ in range(_WATCHES)]
    try:
        for _, writer in connections:
            writer.write(_request(server, f"{_MAPS}?watch=1"))
        await asyncio.gather(*(reader.read(1) for reader, _ in connections))
        await _made(server, _MAPS, {"data": {"a": "b" * 2000}})
    finally:
        for _, writer in connections:
            writer.transport.abort()


async def _health(server: Attacked) -> None:
    target = "/api/v1/componentstatuses"
    await server.send(_request(server, target) * 9 + _request(server, target, last=True), until_end=True)


ATTACKS: dict[str, Attack] = {
    "a flood of events": _events,
    "a flood of leases": _leases,
    "objects that many watch": _watched,
    "questions for the health of others": _health,
}
