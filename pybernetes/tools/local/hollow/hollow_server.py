"""The kubelets of hollow nodes: logs, exec, what is used, and what a hollow pod cannot do.

Inside of the API server's process there is no port: a connection to the kubelet of a hollow node is a pair of sockets inside of this process, which nobody
but its API server has an end of.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable

import orjson

from pybernetes.api.errors import StatusError
from pybernetes.api.resource import Object
from pybernetes.client import errors
from pybernetes.client.client import Client
from pybernetes.client.refs import PODS
from pybernetes.lib.http import websocket
from pybernetes.lib.http.dialer import Dialer, P
from pybernetes.lib.http.duplex import Duplex
from pybernetes.lib.http.messages import JSON, TEXT, Response
from pybernetes.lib.http.pulled_stream import PulledStream
from pybernetes.lib.http.server import Server
from pybernetes.lib.http.server_connection import Answer
from pybernetes.lib.http.upgrade import Upgrade, switching_protocols, upgraded
from pybernetes.lib.http.websocket_connection import WebSocket
from pybernetes.lib.metrics.exposition import negotiated
from pybernetes.node.kubelet.server.auth import KubeletAuth
from pybernetes.node.kubelet.server.request import HttpError, Request
from pybernetes.node.kubelet.stats import resource_metrics
from pybernetes.tools.local.addons.system_pods import LABEL as SHOWN
from pybernetes.tools.local.hollow import container_output
from pybernetes.tools.local.hollow.usage import HollowUsage

_PROTOCOLS = (b"v5.channel.k8s.io", b"v4.channel.k8s.io")
_STDOUT, _ERROR = 1, 3
_CANNOT = {
    "attach": "nothing runs in a hollow pod: there is no process to attach to",
    "portForward": "nothing runs in a hollow pod: no port of it can be reached",
    "run": "nothing runs in a hollow pod: only exec answers, for commands that a hollow pod understands",
}


class HollowDialer(Dialer):
    """Reach the kubelets of hollow nodes inside of this process, and others as another dialer does."""

    def __init__(self, others: Dialer, server: Server, addresses: set[str]) -> None:
        super().__init__()
        self._others, self._server = others, server
        self._addresses = addresses  # of the nodes that there are; others change it

    async def __call__(
        self,
        factory: Callable[[], P],
        host: str,
        port: int,
        *,
        context: ssl.SSLContext | None = None,
        server_name: str | None = None,
    ) -> P:
        """Return the protocol of a connection that stands."""
        if host not in self._addresses:
            return await self._others(factory, host, port, context=context, server_name=server_name)
        ours, theirs = socket.socketpair()
        await self._server.adopt(theirs)
        _, protocol = await asyncio.get_running_loop().create_connection(factory, sock=ours)
        return protocol


def server(
    client: Callable[[], Client], usage: HollowUsage, *, node: str = "", gate: KubeletAuth | None = None
) -> Server:
    """Return what answers for all kubelets of hollow nodes, or for one; pods are asked for with the client.

    Which of the nodes is asked what it uses is known by the address that a request is for. ``gate`` says who may ask; without
    one everybody who has a connection.
    """

    async def answer(request: Request) -> Answer:
        try:
            if gate is not None:
                await gate.check(request)
            if request.path_parts[0] in ("metrics", "stats"):
                asked = node or usage.node_at(request.header(b"host").rpartition(":")[0])
                return _figures(usage, asked, request)
            return await _answer(client(), request, node)
        except HttpError as error:
            return Response(error.message.encode(), error.status, TEXT)
        except StatusError as error:
            return Response(orjson.dumps(error.body()), error.code, JSON)

    return Server(answer, request_class=Request)


def _figures(usage: HollowUsage, node: str | None, request: Request) -> Response:
    """Return what a node and its pods use."""
    path = request.path.rstrip("/")
    if node is None or path not in ("/metrics/resource", "/stats/summary"):
        raise StatusError(404, "NotFound", f"a hollow node has nothing at {request.path}")
    summary = usage.summary(node)
    if path == "/stats/summary":
        return Response(orjson.dumps(summary))
    text = negotiated(request.header(b"accept"))
    resource_metrics.write(text, summary, usage.now())
    return Response(text.render(), content_type=text.content_type)


async def _answer(client: Client, request: Request, node: str) -> Answer:
    what, *parts = request.path_parts
    if what == "healthz":
        return Response(b"ok", content_type=b"text/plain")
    if what in _CANNOT:
        raise StatusError(501, "NotImplemented", _CANNOT[what])
    if what not in ("containerLogs", "exec") or len(parts) not in (3, 4):
        raise StatusError(404, "NotFound", f"a hollow node has nothing at {request.path}")
    try:
        pod = await client.get(PODS, parts[1], parts[0])
    except errors.NotFound as error:
        raise StatusError(404, "NotFound", str(error)) from None
    if node and pod["spec"].get("nodeName") != node:  # whoever may ask this node may not ask others
        raise StatusError(404, "NotFound", f'pod "{parts[1]}" is not on {node}')
    container = next((item for item in _containers(pod) if item["name"] == parts[-1]), None)
    if container is None:
        raise StatusError(404, "NotFound", f'container "{parts[-1]}" not found in pod "{parts[1]}"')
    if SHOWN in (pod["metadata"].get("labels") or {}):
        raise StatusError(
            501,
            "NotImplemented",
            f"{parts[-1]} is no container: it runs in the control plane, whose log pyb logs shows",
        )
    if what == "exec":
        return _exec(request, pod, container)
    return PulledStream(_log(client, request, pod, container))


def _containers(pod: Object) -> list[Object]:
    return [*pod["spec"]["containers"], *(pod["spec"].get("initContainers") or ())]


async def _log(client: Client, request: Request, pod: Object, container: Object) -> AsyncIterator[bytes]:
    """Return the log of a container; one that is followed ends with the container."""
    yield container_output.log(
        pod,
        container,
        tail=_number(request.parameter("tailLines")),
        limit=_number(request.parameter("limitBytes")),
        timestamps=request.flag("timestamps"),
    )
    if not request.flag("follow") or not _runs(pod, container["name"]):
        return
    meta = pod["metadata"]
    version = str(meta["resourceVersion"])
    async for event in client.watch(PODS, meta["namespace"], name=meta["name"], resource_version=version):
        if event.type == "DELETED" or not _runs(event.object, container["name"]):
            return


def _runs(pod: Object, container: str) -> bool:
    status = pod.get("status", {})
    statuses = [*(status.get("containerStatuses") or ()), *(status.get("initContainerStatuses") or ())]
    if status.get("phase") in ("Succeeded", "Failed"):
        return False
    return not any(item["name"] == container and "terminated" in item.get("state", {}) for item in statuses)


def _number(text: str) -> int | None:
    return int(text[:18]) if text.isdecimal() else None


def _exec(request: Request, pod: Object, container: Object) -> Upgrade:
    """Answer a command as far as a hollow pod understands it."""
    command = request.query.get("command", [])
    if not command:
        raise StatusError(400, "BadRequest", "you must specify at least one command for the container")
    if not _runs(pod, container["name"]):
        raise StatusError(400, "BadRequest", f"cannot exec in a stopped container: {container['name']}")
    offered = websocket.offered_protocols(request.headers) if request.upgrade == "websocket" else []
    protocol = next((known for known in _PROTOCOLS if known in offered), None)
    key = request.headers.get(b"sec-websocket-key")
    if protocol is None or not key:
        known = ", ".join(name.decode() for name in _PROTOCOLS)
        raise StatusError(400, "BadRequest", f"a hollow pod takes exec over WebSockets alone, as {known}")
    result = container_output.executed(pod, container, command)

    async def serve(client: Duplex) -> None:
        connection = WebSocket(client, protocol.decode(), client=False)
        try:
            if result.seconds:
                await asyncio.sleep(result.seconds)
            if result.output and request.flag("output"):
                await connection.send(bytes((_STDOUT,)) + result.output.encode())
            await connection.send(bytes((_ERROR,)) + orjson.dumps(result.status))
        finally:
            connection.close()

    return upgraded(switching_protocols(websocket.accept_headers(key, protocol)), serve)
