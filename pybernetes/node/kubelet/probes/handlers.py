"""Probes a container once: a command, an HTTP request, a connection or a gRPC health check."""

from __future__ import annotations

import asyncio

from pybernetes.api.resource import Object
from pybernetes.lib.grpc.channel import Channel, RpcError, StatusCode
from pybernetes.lib.http.client_connection import ClientConnection
from pybernetes.node.kubelet.cri.client import CriClient, CriError
from pybernetes.node.kubelet.probes import http

_OUTPUT_LIMIT = 10 * 1024
_SERVING = 1


class Failed(Exception):
    """The probe failed."""


class Unknown(Exception):
    """The probe could not be made, for a reason that says nothing about the container."""


def port_of(value: int | str, container: Object) -> int:
    """Return a port by number or by its name among the container's."""
    if isinstance(value, int):
        return value
    if value.isdigit():
        return int(value)
    for port in container.get("ports", ()):
        if port.get("name") == value:
            return port["containerPort"]
    raise Failed(f"couldn't find port: {value} for container {container['name']}")


def url_of(action: Object, container: Object, address: str) -> str:
    """Return the URL of an HTTP action."""
    scheme = action.get("scheme", "HTTP").lower()
    host = action.get("host") or address
    path = action.get("path") or "/"
    if ":" in host:
        host = f"[{host}]"
    return f"{scheme}://{host}:{port_of(action['port'], container)}{path if path.startswith('/') else '/' + path}"


def header_list(action: Object) -> list[tuple[str, str]]:
    """Return the headers of an HTTP action."""
    return [(header["name"], header.get("value", "")) for header in action.get("httpHeaders", ())]


async def run_probe(cri: CriClient, probe: Object, container: Object, run: str, address: str) -> str:
    """Probe a container once: return nothing or a warning if it is well, raise Failed if it is not."""
    seconds = float(probe.get("timeoutSeconds") or 1)
    try:
        async with asyncio.timeout(seconds + (10 if "exec" in probe else 0)):
            if "exec" in probe:
                return await _exec(cri, probe["exec"], run, seconds)
            if "httpGet" in probe:
                return await _http(probe["httpGet"], container, address)
            if "tcpSocket" in probe:
                return await _tcp(probe["tcpSocket"], container, address)
            if "grpc" in probe:
                return await _grpc(probe["grpc"], address)
    except TimeoutError:
        where = url_of(probe["httpGet"], container, address) if "httpGet" in probe else ""
        text = f'Get "{where}": context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
        raise Failed(text if where else f"timeout: health did not answer within {seconds:g}s") from None
    raise Failed("missing probe handler for container")


async def _exec(cri: CriClient, action: Object, run: str, seconds: float) -> str:
    try:
        code, output, errors = await cri.exec_sync(run, action.get("command", ()), seconds, _OUTPUT_LIMIT)
    except CriError as error:
        if error.code == "DEADLINE_EXCEEDED" or "timeout" in error.message or "deadline" in error.message:
            raise Failed(
                f"command timed out: {' '.join(action.get('command', ()))!r} timed out after {seconds:g}s"
            ) from None
        raise Unknown(error.message) from None
    if code:
        raise Failed((output + errors)[:_OUTPUT_LIMIT].decode(errors="replace"))
    return ""


async def _http(action: Object, container: Object, address: str) -> str:
    try:
        answer = await http.get(url_of(action, container, address), header_list(action))
    except OSError as error:
        raise Failed(str(error)) from None
    if answer.elsewhere:
        return f"Probe terminated redirects, Response body: {answer.body.decode(errors='replace')}"
    if 200 <= answer.status < 400:
        return ""
    raise Failed(f"HTTP probe failed with statuscode: {answer.status}")


async def _tcp(action: Object, container: Object, address: str) -> str:
    host, port = action.get("host") or address, port_of(action["port"], container)
    try:
        connection = await http.dial(ClientConnection, host, port)
    except (OSError, ValueError) as error:  # a name may be none
        reason = "connect: connection refused" if isinstance(error, ConnectionRefusedError) else str(error)
        raise Failed(f"dial tcp {host}:{port}: {reason}") from None
    connection.close()
    return ""


def health_request(service: str) -> bytes:
    """Return the question of grpc.health.v1: one field, a text."""
    text = service.encode()
    length, size = len(text), bytearray()
    while length > 127:
        size.append(length & 127 | 128)
        length >>= 7
    return b"\x0a" + bytes((*size, length)) + text if text else b""


async def _grpc(action: Object, address: str) -> str:
    request = health_request(action.get("service") or "")
    host = f"[{address}]" if ":" in address else address
    channel = Channel(f"{host}:{action['port']}", most_bytes=_OUTPUT_LIMIT)
    try:
        answer = await channel.unary_unary("/grpc.health.v1.Health/Check", bytes, bytes)(request)
    except RpcError as error:
        if error.code is StatusCode.UNIMPLEMENTED:
            raise Failed(
                "error: this server does not implement the grpc health protocol (grpc.health.v1.Health)"
            ) from None
        raise Failed(f"error: health rpc failed: {error.details}") from None
    finally:
        await channel.close()
    # The response is one field: 1 is SERVING.
    if len(answer) >= 2 and answer[0] == 0x08 and answer[1] == _SERVING:
        return ""
    raise Failed('service unhealthy (responded with "NOT_SERVING")')
