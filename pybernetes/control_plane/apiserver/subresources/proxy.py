"""proxy: any HTTP request passed on to a node, a pod or a service."""

from __future__ import annotations

import random
from typing import Any

from pybernetes.api import errors
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver import nodes, writes
from pybernetes.control_plane.apiserver.api import Api
from pybernetes.control_plane.apiserver.http.connection import Answer
from pybernetes.control_plane.apiserver.http.messages import Request, Response
from pybernetes.control_plane.apiserver.http.relay import Target
from pybernetes.control_plane.apiserver.kinds import Kind


async def handle(api: Api, request: Request, kind: Kind) -> Answer:
    """Passes the request on; what follows ``proxy/`` is the path there."""
    await api.fresh()
    attributes = writes.attributes("CONNECT", kind, request, None, None, False)
    await api.admission.mutate(attributes)
    await api.admission.validate(attributes)
    finders = {"nodes": _node, "pods": _pod, "services": _service}
    target = finders[kind.resource.plural](api, request, kind)
    if not request.info.rest and not request.path.endswith("/"):
        # Relative links of the page behind the proxy need the slash.
        location = nodes.with_query(request.path + "/", request.query_text)
        return Response(b"", 301, headers=((b"Location", location.encode()),))
    return await nodes.pass_on(request, target)


def _path(request: Request) -> str:
    base = request.path.partition("/proxy/")[2]
    return nodes.with_query("/" + base, request.query_text)


def _parts(name: str) -> tuple[str, str, str]:
    """``[scheme:]name[:port]`` as scheme, name and port."""
    pieces = name.split(":")
    if len(pieces) == 3:
        return pieces[0], pieces[1], pieces[2]
    if len(pieces) == 2:
        return "", pieces[0], pieces[1]
    return "", name, ""


def _found(api: Api, kind: Kind, namespace: str, name: str) -> Object:
    record = api.store.get(kind.key(namespace, name))
    if record is None:
        raise errors.not_found("", kind.resource.plural, name)
    return kind.object(record)


def _node(api: Api, request: Request, kind: Kind) -> Target:
    scheme, name, port = _parts(request.info.name)
    if port and port != str(nodes.KUBELET_PORT):
        node = _found(api, kind, "", name)
        address = nodes.preferred_address(node, api.nodes.address_types)
        context = nodes.unverified() if scheme == "https" else None
        return Target(address, _number(port), _path(request), context)
    return nodes.kubelet(api, name, _path(request))


def _pod(api: Api, request: Request, kind: Kind) -> Target:
    scheme, name, port = _parts(request.info.name)
    pod = _found(api, kind, request.info.namespace, name)
    address = pod.get("status", {}).get("podIP", "")
    if not address:
        raise errors.bad_request(f"address not allowed: pod {name} has no address")
    number = _number(port) if port else _first_port(pod)
    return Target(address, number, _path(request), nodes.unverified() if scheme == "https" else None)


def _first_port(pod: Object) -> int:
    for container in pod["spec"].get("containers", ()):
        for port in container.get("ports", ()):
            return port["containerPort"]
    return 80


def _number(port: str) -> int:
    if not port.isdigit() or not 0 < int(port) < 65536:
        raise errors.bad_request(f"invalid port {port!r}")
    return int(port)


def _service(api: Api, request: Request, kind: Kind) -> Target:
    scheme, name, port = _parts(request.info.name)
    service = _found(api, kind, request.info.namespace, name)
    port_name = _port_name(service, port)
    slices = api.kinds.find("discovery.k8s.io", "endpointslices")
    candidates: list[tuple[str, int]] = []
    for record in api.store.list(slices.collection(request.info.namespace)).records:
        if slices.labels(record).get("kubernetes.io/service-name") == name:
            candidates += _endpoints(slices.object(record), port_name)
    if not candidates:
        raise errors.unavailable(f'no endpoints available for service "{name}"')
    address, number = random.choice(candidates)
    return Target(address, number, _path(request), nodes.unverified() if scheme == "https" else None)


def _port_name(service: Object, wanted: str) -> str:
    """The name of the service's port that is meant by its name or number, or the first one."""
    ports = service.get("spec", {}).get("ports", [])
    for port in ports:
        if not wanted or wanted in (port.get("name"), str(port["port"])):
            return port.get("name", "")
    raise errors.unavailable(f'no service port "{wanted}" found for service "{service["metadata"]["name"]}"')


def _endpoints(piece: Object, port_name: str) -> list[tuple[str, Any]]:
    numbers = [
        port["port"]
        for port in piece.get("ports", ())
        if port.get("name", "") == port_name and "port" in port
    ]
    return [
        (address, number)
        for endpoint in piece.get("endpoints", ())
        if endpoint.get("conditions", {}).get("ready", True)
        for address in endpoint.get("addresses", ())[:1]
        for number in numbers
    ]
