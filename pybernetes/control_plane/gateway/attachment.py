"""Which listeners of a Gateway a route is attached to, and why not to others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pybernetes.api import selectors
from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway import hostnames
from pybernetes.control_plane.gateway.cluster_view import ClusterView
from pybernetes.control_plane.gateway.kinds import GROUP
from pybernetes.control_plane.gateway.listeners import Listener

Problem = tuple[str, str]


class Attached(NamedTuple):
    """A listener, and the host names that it has in common with the route."""

    listener: Listener
    hosts: list[str]


def refers_to(reference: Object, namespace: str, gateway: Object) -> bool:
    """Return whether a parent that a route of a namespace names is a Gateway."""
    meta = gateway["metadata"]
    return (
        reference.get("group", GROUP), reference.get("kind", "Gateway"),
        reference.get("namespace") or namespace, reference["name"],
    ) == (GROUP, "Gateway", meta["namespace"], meta["name"])  # fmt: skip


def attach(
    reference: Object, route: Object, kind: str, hosts: Sequence[str], gateway: Object, listeners: list[Listener],
    view: ClusterView,
) -> list[Attached] | Problem:  # fmt: skip
    """Return the listeners that a reference of a route leads to, or the reason why there are none."""
    section, port = reference.get("sectionName"), reference.get("port")
    named = [
        listener for listener in listeners
        if section in (None, "", listener.name) and port in (None, listener.port)
    ]  # fmt: skip
    if not named:
        return "NoMatchingParent", "the Gateway has no listener of that name and port"
    namespace, own = route["metadata"]["namespace"], gateway["metadata"]["namespace"]
    allowed = [
        listener for listener in named
        if kind in listener.kinds and _allows(listener, namespace, own, view)
    ]  # fmt: skip
    if not allowed:
        return "NotAllowedByListeners", f"no listener takes a {kind} of the namespace {namespace}"
    result = [Attached(listener, hostnames.common(listener.host, hosts)) for listener in allowed]
    result = [attached for attached in result if attached.hosts]
    if not result:
        return "NoMatchingListenerHostname", "no listener is for any of the route's host names"
    if all(attached.listener.conflict for attached in result):
        return "NotAllowedByListeners", "the listener is in conflict with another"
    return result


def _allows(listener: Listener, namespace: str, own: str, view: ClusterView) -> bool:
    namespaces = (listener.spec.get("allowedRoutes") or {}).get("namespaces") or {}
    match namespaces.get("from", "Same"):
        case "All":
            return True
        case "Selector":
            try:
                selector = selectors.from_object(namespaces.get("selector"))
            except ValueError:
                return False
            return selector.matches(view.namespace_labels(namespace))
        case _:
            return namespace == own
