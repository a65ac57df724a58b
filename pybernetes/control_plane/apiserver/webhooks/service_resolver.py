"""Where the server dials a service: at one of its endpoints, since cluster addresses belong to the nodes."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.context import ServerContext

_SERVICE_NAME = "kubernetes.io/service-name"


class Unresolved(Exception):
    """The service cannot be reached; the text says why."""


def resolve(context: ServerContext, namespace: str, name: str, port: int) -> tuple[str, int]:
    """Return the address and port of one of the endpoints behind a service's port."""
    services = context.kinds.find("", "services")
    record = context.store.get(services.key(namespace, name))
    if record is None:
        raise Unresolved(f"service {go_format.quote(name)} not found")
    service = services.shared(record)
    wanted = _port(service, port)
    if service["spec"].get("type") == "ExternalName":
        return service["spec"]["externalName"], port
    slices = context.kinds.find("discovery.k8s.io", "endpointslices")
    records = context.store.list(slices.collection(namespace)).records
    endpoints = list(
        candidates(
            (slices.shared(record) for record in records if slices.labels(record).get(_SERVICE_NAME) == name),
            wanted,
        )
    )
    if not endpoints:
        raise Unresolved(f"no endpoints available for service {go_format.quote(name)}")
    return random.choice(endpoints)


def _port(service: Object, number: int) -> str:
    """Return the name of the service's port with a number."""
    for port in service["spec"].get("ports", ()):
        if port["port"] == number:
            return port.get("name", "")
    raise Unresolved(
        f"no service port {number} found for service {go_format.quote(service['metadata']['name'])}"
    )


def candidates(slices: Iterable[Object], port_name: str) -> Iterator[tuple[str, int]]:
    """Return the addresses of all endpoints that are ready, with the port of a name."""
    for piece in slices:
        numbers = [
            port["port"]
            for port in piece.get("ports") or ()
            if port.get("name", "") == port_name and "port" in port
        ]
        for endpoint in piece.get("endpoints") or ():
            if endpoint.get("conditions", {}).get("ready", True):
                for number in numbers:
                    yield endpoint["addresses"][0], number
