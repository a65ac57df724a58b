"""Follows Services and EndpointSlices, and tells which ServicePorts changed since it was last asked. No I/O."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from pybernetes.api.resource import Object
from pybernetes.api.validation.addresses import parse_sloppy
from pybernetes.node.proxy.endpoint import PROTOCOLS
from pybernetes.node.proxy.node import Node
from pybernetes.node.proxy.service_port import ServicePort
from pybernetes.node.proxy.service_state import (
    MOST_RULES,
    NO_STATE,
    Reserved,
    ServiceState,
    rules_of,
    service_state,
)

log = logging.getLogger(__name__)
SERVICE_NAME_LABEL = "kubernetes.io/service-name"
_API_SERVERS = "default/kubernetes"


class Change(NamedTuple):
    """A ServicePort before and after; None where there is none."""

    old: ServicePort | None
    new: ServicePort | None

    @property
    def key(self) -> tuple[str, str, str, int]:
        """The key of the ServicePort that changed."""
        return (self.new or self.old).key  # type: ignore[union-attr]

    @property
    def family(self) -> int:
        """The address family of the ServicePort that changed."""
        return (self.new or self.old).family  # type: ignore[union-attr]


class ChangeTracker:
    """The Services of a cluster as one node has to treat them."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.states: dict[str, ServiceState] = {}
        self.service_changes = self.endpoint_changes = 0  # in total
        self.pending_services = self.pending_endpoints = 0
        self._services: dict[str, Object] = {}
        self._slices: dict[str, dict[str, Object]] = {}
        self._changed: set[str] = set()
        # What nobody else may claim as external addresses, those of services and the ports of API servers, and who claims which.
        self._reserved: Counter[Reserved] = Counter()
        self._claims: dict[str, set[str]] = {}

    def __bool__(self) -> bool:
        return bool(self._changed)

    def on_service(self, old: Object | None, new: Object | None) -> bool:
        """Note a Service, and return whether there is something to do."""
        key = _key(new or old or {})
        self._claim(key, self._services.get(key), new)
        if new is None:
            self._services.pop(key, None)
        else:
            self._services[key] = new
            if old is not None and _relevant(old) == _relevant(new):
                return False
        self.service_changes += 1
        self.pending_services += 1
        self._changed.add(key)
        return True

    def on_slice(self, old: Object | None, new: Object | None) -> bool:
        """Note an EndpointSlice, and return whether there is something to do."""
        old_service, new_service = _service_of(old), _service_of(new)
        name = (new or old or {})["metadata"]["name"]
        if _API_SERVERS in (old_service, new_service):
            before = self._slices.get(_API_SERVERS, {}).get(name)
            self._reserve(_ports(before), _ports(new if new_service == _API_SERVERS else None))
        if old_service and old_service != new_service:
            self._forget_slice(old_service, name)
        if new_service and new is not None:
            self._slices.setdefault(new_service, {})[name] = new
            if old is not None and old_service == new_service and _content(old) == _content(new):
                return False
            self._changed.add(new_service)
        if not old_service and not new_service:
            return False
        self.endpoint_changes += 1
        self.pending_endpoints += 1
        return True

    def _claim(self, key: str, old: Object | None, new: Object | None) -> None:
        """Note the addresses of a Service, and those that it claims."""
        for service, change in ((old, set.discard), (new, set.add)):
            for address in _external(service):
                keys = self._claims.setdefault(address, set())
                change(keys, key)
                if not keys:
                    del self._claims[address]
        self._reserve(_cluster_ips(old), _cluster_ips(new))

    def _reserve(self, old: Iterable[Reserved], new: Iterable[Reserved]) -> None:
        """Note that some addresses are reserved instead of others; who claims one of them is looked at again."""
        before, after = set(old), set(new)
        for reserved in before - after:
            self._reserved[reserved] -= 1
            if not self._reserved[reserved]:
                del self._reserved[reserved]
        self._reserved.update(after - before)
        for reserved in before ^ after:
            address = reserved if isinstance(reserved, str) else reserved[0]
            self._changed |= self._claims.get(address, set())

    def _forget_slice(self, service: str, name: str) -> None:
        slices = self._slices.get(service)
        if slices is not None:
            slices.pop(name, None)
            if not slices:
                del self._slices[service]
        self._changed.add(service)

    def on_node(self, node: Node) -> bool:
        """Note the node; if it moved to another zone, every Service has to be looked at again."""
        old, self.node = self.node, node
        if old.zone == node.zone:
            return False
        self._changed.update(self._services)
        return True

    def take(self) -> tuple[set[str], list[Change]]:
        """Return the Services that were looked at again and their ServicePorts that changed, since the last call."""
        keys, self._changed = self._changed, set()
        self.pending_services = self.pending_endpoints = 0
        changes: list[Change] = []
        for key in keys:
            old = self.states.get(key, NO_STATE)
            slices = self._slices.get(key, {}).values()
            new = service_state(self._services.get(key), slices, self.node, self._reserved)
            if new is NO_STATE:
                self._note_refusal(key)
                self.states.pop(key, None)
            else:
                self.states[key] = new
            old_ports = {port.key: port for port in old.ports}
            for port in new.ports:
                old_port = old_ports.pop(port.key, None)
                if old_port != port:
                    changes.append(Change(old_port, port))
            changes.extend(Change(port, None) for port in old_ports.values())
        return keys, changes

    def _note_refusal(self, key: str) -> None:
        """Say so if a Service is not carried out because it is too large."""
        service = self._services.get(key)
        if service is None or service["spec"].get("type") == "ExternalName":
            return
        size = rules_of(service, self._slices.get(key, {}).values())
        if size > MOST_RULES:
            log.error(
                "the Service %s is not carried out: its ports, addresses, source ranges and endpoints make %d rules, and "
                "one may have %d",
                key, size, MOST_RULES,
            )  # fmt: skip

    def service_ports(self) -> Iterator[ServicePort]:
        """Yield every ServicePort."""
        for state in self.states.values():
            yield from state.ports


def _key(obj: Object) -> str:
    meta = obj["metadata"]
    return f"{meta.get('namespace', '')}/{meta['name']}"


def _cluster_ips(service: Object | None) -> list[str]:
    spec = service["spec"] if service is not None else {}
    addresses = spec.get("clusterIPs") or [spec.get("clusterIP") or "None"]
    return [str(address) for address in map(parse_sloppy, addresses) if address is not None]


def _external(service: Object | None) -> list[str]:
    given = (service["spec"].get("externalIPs") or ()) if service is not None else ()
    return [str(address) for address in map(parse_sloppy, given) if address is not None]


def _ports(endpoint_slice: Object | None) -> set[Reserved]:
    """Return the ports of each address of a slice; an API server's machine may well have other ports for others."""
    if endpoint_slice is None:
        return set()
    ports = [
        (protocol, port["port"])
        for port in endpoint_slice.get("ports") or ()
        if (protocol := PROTOCOLS.get(port.get("protocol") or "TCP")) is not None and port.get("port")
    ]
    return {
        (str(parsed), *port)
        for endpoint in endpoint_slice.get("endpoints") or ()
        for address in endpoint.get("addresses") or ()
        if (parsed := parse_sloppy(address)) is not None
        for port in ports
    }


def _relevant(service: Object) -> tuple[Any, Any]:
    return service.get("spec"), (service.get("status") or {}).get("loadBalancer")


def _content(endpoint_slice: Object) -> tuple[Any, Any, Any]:
    return endpoint_slice.get("addressType"), endpoint_slice.get("endpoints"), endpoint_slice.get("ports")


def _service_of(endpoint_slice: Object | None) -> str:
    """Return the key of the Service that a slice belongs to."""
    if endpoint_slice is None:
        return ""
    meta = endpoint_slice["metadata"]
    name = (meta.get("labels") or {}).get(SERVICE_NAME_LABEL)
    return f"{meta.get('namespace', '')}/{name}" if name else ""
