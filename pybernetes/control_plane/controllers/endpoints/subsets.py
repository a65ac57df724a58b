"""The subsets of Endpoints that stand for the pods of a service. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._objects import services
from pybernetes.control_plane.controllers._objects.pods import is_ready

Port = tuple[str, int, str, str]
# Endpoints are old and grow with the service: whatever is beyond this many is only in slices.
CAPACITY = 1000
_NO_PORT: Port = ("", -1, "", "")


def address(service: Object, pod: Object) -> Object | None:
    """Return a pod as an address; None if it has none of the service's primary family."""
    spec = service["spec"]
    if spec.get("ipFamilies"):
        family = spec["ipFamilies"][0]
    elif not services.is_headless(service):
        family = services.family_of(spec["clusterIP"])
    else:
        family = services.family_of(pod["status"].get("podIP", ""))
    addresses = services.addresses(pod, family)
    if not addresses:
        return None
    meta = pod["metadata"]
    result: Object = {"ip": addresses[0]}
    if name := services.hostname(pod, service):
        result["hostname"] = name
    if pod["spec"].get("nodeName"):
        result["nodeName"] = pod["spec"]["nodeName"]
    result["targetRef"] = {
        "kind": "Pod", "namespace": meta["namespace"], "name": meta["name"], "uid": meta["uid"],
    }  # fmt: skip
    return result


def subsets(service: Object, pods: Iterable[Object]) -> list[Object]:
    """Return all subsets, in canonical order."""
    spec = service["spec"]
    unready = bool(spec.get("publishNotReadyAddresses"))
    offers: list[tuple[Port, Object, bool]] = []
    for pod in pods:
        if not services.belongs(pod, going=unready):
            continue
        pod_address = address(service, pod)
        if pod_address is None:
            continue
        ready = unready or is_ready(pod)
        if not spec.get("ports"):
            if spec.get("clusterIP") == "None":
                offers.append((_NO_PORT, pod_address, ready))
            continue
        for port in spec["ports"]:
            number = services.find_port(pod, port)
            if number is not None:
                offers.append((_port(port, number), pod_address, ready))
    return _packed(offers)


def repacked(given: Iterable[Object] | None) -> list[Object]:
    """Return subsets in canonical order, so that they can be compared."""
    offers: list[tuple[Port, Object, bool]] = []
    for subset in given or ():
        ports = [_port(port, port["port"]) for port in subset.get("ports") or ()] or [_NO_PORT]
        for port in ports:
            offers += [(port, _plain(address), True) for address in subset.get("addresses") or ()]
            offers += [(port, _plain(address), False) for address in subset.get("notReadyAddresses") or ()]
    return _packed(offers)


def _plain(address: Object) -> Object:
    """Return an address without the resourceVersion of its pod."""
    target = address.get("targetRef")
    if not target or "resourceVersion" not in target:
        return address
    return {
        **address,
        "targetRef": {name: value for name, value in target.items() if name != "resourceVersion"},
    }


def _port(port: Object, number: int) -> Port:
    return port.get("name") or "", number, port.get("protocol") or "TCP", port.get("appProtocol") or ""


def _packed(offers: Iterable[tuple[Port, Object, bool]]) -> list[Object]:
    """Group addresses that offer the same ports, each address once; not ready on a port beats ready."""
    addresses: dict[tuple[str, str], Object] = {}
    by_port: dict[Port, dict[tuple[str, str], bool]] = {}
    for port, pod_address, ready in offers:
        key = (pod_address["ip"], (pod_address.get("targetRef") or {}).get("uid") or "")
        addresses.setdefault(key, pod_address)
        states = by_port.setdefault(port, {})
        states[key] = states.get(key, True) and ready
    groups: dict[tuple[tuple[tuple[str, str], bool], ...], list[Port]] = {}
    for port, states in by_port.items():
        groups.setdefault(tuple(sorted(states.items())), []).append(port)
    result = []
    for members, ports in sorted(groups.items(), key=lambda group: sorted(group[1])):
        subset: Object = {}
        if ready_ones := [addresses[place] for place, ready in members if ready]:
            subset["addresses"] = ready_ones
        if others := [addresses[place] for place, ready in members if not ready]:
            subset["notReadyAddresses"] = others
        if written := [_written(port) for port in sorted(ports) if port != _NO_PORT]:
            subset["ports"] = written
        result.append(subset)
    return result


def _written(port: Port) -> Object:
    name, number, protocol, application = port
    result: Object = {"name": name} if name else {}
    result |= {"port": number, "protocol": protocol}
    if application:
        result["appProtocol"] = application
    return result


def count(given: Iterable[Object] | None) -> int:
    """Return how many addresses there are in subsets."""
    return sum(
        len(subset.get("addresses") or ()) + len(subset.get("notReadyAddresses") or ())
        for subset in given or ()
    )


def truncated(given: list[Object]) -> list[Object]:
    """Cut subsets to the capacity, ready addresses first, each subset keeping its share."""
    if count(given) <= CAPACITY:
        return given
    ready = sum(len(subset.get("addresses") or ()) for subset in given)
    kind = "addresses" if ready > CAPACITY else "notReadyAddresses"
    total = ready if ready > CAPACITY else count(given) - ready
    room = left = CAPACITY if ready > CAPACITY else CAPACITY - ready
    result = []
    for subset in given:
        own = subset.get(kind) or []
        share = min(math.ceil(len(own) / total * room), left)
        changed = {**subset, kind: own[:share]}
        if kind == "addresses":
            changed.pop("notReadyAddresses", None)
        if not changed[kind]:
            del changed[kind]
        left -= len(own[:share])
        result.append(changed)
    return result
