"""Follows Services and EndpointSlices, and says which portals changed since it was last asked. No I/O."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from pybernetes.node.proxy.service_port import (
    NOTHING,
    SERVICE_NAME_LABEL,
    Node,
    ServicePort,
    ServiceState,
    service_state,
)

Object = dict[str, Any]


class Change(NamedTuple):
    """A portal before and after; None where there is none."""

    old: ServicePort | None
    new: ServicePort | None


class ChangeTracker:
    """The Services of a cluster as one node has to see to them."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.views: dict[str, ServiceState] = {}
        self.service_changes = self.endpoint_changes = 0  # in all
        self.pending_services = self.pending_endpoints = 0
        self._services: dict[str, Object] = {}
        self._slices: dict[str, dict[str, Object]] = {}
        self._changed: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._changed)

    def on_service(self, old: Object | None, new: Object | None) -> bool:
        """Takes note of a Service; whether there is something to do."""
        key = _key(new or old or {})
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
        """Takes note of an EndpointSlice; whether there is something to do."""
        before, after = _owner(old), _owner(new)
        name = (new or old or {})["metadata"]["name"]
        if before and before != after:
            self._forget(before, name)
        if after and new is not None:
            self._slices.setdefault(after, {})[name] = new
            if old is not None and before == after and _content(old) == _content(new):
                return False
            self._changed.add(after)
        if not before and not after:
            return False
        self.endpoint_changes += 1
        self.pending_endpoints += 1
        return True

    def _forget(self, service: str, name: str) -> None:
        held = self._slices.get(service)
        if held is not None:
            held.pop(name, None)
            if not held:
                del self._slices[service]
        self._changed.add(service)

    def on_node(self, node: Node) -> bool:
        """Takes note of the node; every Service is looked at again if it moved to another zone."""
        old, self.node = self.node, node
        if old.zone == node.zone:
            return False
        self._changed.update(self._services)
        return True

    def take(self) -> tuple[set[str], list[Change]]:
        """The Services that were looked at again and their portals that changed, since the last call."""
        keys, self._changed = self._changed, set()
        self.pending_services = self.pending_endpoints = 0
        changes: list[Change] = []
        for key in keys:
            old = self.views.get(key, NOTHING)
            new = service_state(self._services.get(key), self._slices.get(key, {}).values(), self.node)
            if new is NOTHING:
                self.views.pop(key, None)
            else:
                self.views[key] = new
            before = {each.key: each for each in old.portals}
            for portal in new.portals:
                held = before.pop(portal.key, None)
                if held != portal:
                    changes.append(Change(held, portal))
            changes.extend(Change(each, None) for each in before.values())
        return keys, changes

    def portals(self) -> Iterator[ServicePort]:
        """Every portal."""
        for each in self.views.values():
            yield from each.portals


def _key(obj: Object) -> str:
    meta = obj["metadata"]
    return f"{meta.get('namespace', '')}/{meta['name']}"


def _relevant(service: Object) -> tuple[Any, Any]:
    return service.get("spec"), (service.get("status") or {}).get("loadBalancer")


def _content(item: Object) -> tuple[Any, Any, Any]:
    return item.get("addressType"), item.get("endpoints"), item.get("ports")


def _owner(item: Object | None) -> str:
    """The Service that a slice belongs to."""
    if item is None:
        return ""
    meta = item["metadata"]
    name = (meta.get("labels") or {}).get(SERVICE_NAME_LABEL)
    return f"{meta.get('namespace', '')}/{name}" if name else ""
