"""Which slices a service should have, given its pods and the slices that it has. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.api.validation.names import dns_subdomain
from pybernetes.client.refs import SERVICES, Kindlike
from pybernetes.control_plane.controllers._objects import services
from pybernetes.control_plane.controllers._objects.deletion import is_being_deleted
from pybernetes.control_plane.controllers._objects.pods import is_ready
from pybernetes.runtime.owned_objects import owner_reference

MANAGER = "endpointslice-controller.k8s.io"
SERVICE_NAME = "kubernetes.io/service-name"
MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
ZONE = "topology.kubernetes.io/zone"
_RESERVED = (SERVICE_NAME, MANAGED_BY, services.HEADLESS)
Key = tuple[Any, ...]


@dataclass
class Plan:
    """What to do for one family of addresses. New slices have no name, changed ones are copies."""

    create: list[Object] = field(default_factory=list)
    update: list[Object] = field(default_factory=list)
    delete: list[Object] = field(default_factory=list)
    unchanged: list[Object] = field(default_factory=list)
    missing_nodes: set[str] = field(default_factory=set)


def families(service: Object) -> list[str]:
    """Return the address families of a service's endpoints."""
    spec = service["spec"]
    if spec.get("ipFamilies"):
        return spec["ipFamilies"]
    if not services.is_headless(service):
        return [services.family_of(spec["clusterIP"])]
    return ["IPv4", "IPv6"]


def endpoint(pod: Object, node: Object | None, service: Object, family: str) -> Object:
    """Return a pod as an endpoint of a service."""
    meta, spec = pod["metadata"], pod["spec"]
    serving, going = is_ready(pod), is_being_deleted(pod)
    result: Object = {
        "addresses": sorted(services.addresses(pod, family)),
        "conditions": {
            # Not ready while it goes, unless the service wants addresses whatever they are.
            "ready": bool(service["spec"].get("publishNotReadyAddresses")) or (serving and not going),
            "serving": serving,
            "terminating": going,
        },
        "targetRef": {
            "kind": "Pod",
            "namespace": meta["namespace"],
            "name": meta["name"],
            "uid": meta["uid"],
        },
    }
    if spec.get("nodeName"):
        result["nodeName"] = spec["nodeName"]
    zone = (node["metadata"].get("labels") or {}).get(ZONE) if node is not None else None
    if zone:
        result["zone"] = zone
    if name := services.hostname(pod, service):
        result["hostname"] = name
    return result


def ports(service: Object, pod: Object) -> list[Object]:
    """Return the ports that a pod has for a service."""
    result = []
    for port in service["spec"].get("ports") or ():
        number = services.find_port(pod, port)
        if number is None:
            continue
        endpoint_port: Object = {
            "name": port.get("name", ""),
            "port": number,
            "protocol": port.get("protocol", "TCP"),
        }
        if "appProtocol" in port:
            endpoint_port["appProtocol"] = port["appProtocol"]
        result.append(endpoint_port)
    return result


def ports_key(given: Iterable[Object] | None) -> Key:
    """Return a key that is equal for equal lists of ports."""
    return tuple(
        sorted(
            (port.get("name") or "", port.get("port") or 0, port.get("protocol") or "", port.get("appProtocol") or "")
            for port in given or ()
        )
    )  # fmt: skip


def endpoint_key(slice_endpoint: Object) -> Key:
    """Return a key that is equal for the same endpoint, whatever state it is in."""
    target = slice_endpoint.get("targetRef") or {}
    return (
        tuple(sorted(slice_endpoint["addresses"])),
        slice_endpoint.get("hostname") or "",
        target.get("namespace") or "",
        target.get("name") or "",
    )


def _state(slice_endpoint: Object) -> Key:
    conditions, target = slice_endpoint.get("conditions") or {}, slice_endpoint.get("targetRef") or {}
    return (
        slice_endpoint.get("nodeName"),
        slice_endpoint.get("zone"),
        conditions.get("ready"),
        conditions.get("serving"),
        conditions.get("terminating"),
        target.get("uid"),
        target.get("kind"),
    )


def labels(service: Object) -> dict[str, str]:
    """Return the labels of a service's slices: the service's own, and those that name service and controller."""
    result = _plain(service)
    if services.is_headless(service):
        result[services.HEADLESS] = ""
    return {**result, SERVICE_NAME: service["metadata"]["name"], MANAGED_BY: MANAGER}


def _plain(obj: Object) -> dict[str, str]:
    own = obj["metadata"].get("labels") or {}
    return {name: value for name, value in own.items() if name not in _RESERVED}


def name_prefix(service: str) -> str:
    """Return how the names of a service's slices begin."""
    return f"{service}-" if not dns_subdomain(f"{service}-x") else service


def new_slice(service: Object, family: str, slice_ports: list[Object]) -> Object:
    """Return an empty slice."""
    return empty_slice(service, SERVICES, family, slice_ports, {"labels": labels(service)})


def empty_slice(
    owner: Object, kind: Kindlike, family: str, slice_ports: list[Object], metadata: Object
) -> Object:
    """Return a slice without endpoints of a service or of Endpoints, with this metadata and what belongs to every slice."""
    meta = owner["metadata"]
    return {
        "metadata": {
            "generateName": name_prefix(meta["name"]),
            "namespace": meta["namespace"],
            **metadata,
            "ownerReferences": [owner_reference(owner, kind)],
        },
        "addressType": family,
        "endpoints": [],
        "ports": slice_ports,
    }


def service_keys(slice_: Object, manager: str) -> tuple[str, ...]:
    """Return the key of the service that a slice belongs to, if the slice is a manager's."""
    meta = slice_["metadata"]
    own = meta.get("labels") or {}
    if own.get(MANAGED_BY) != manager or not own.get(SERVICE_NAME):
        return ()
    return (f"{meta['namespace']}/{own[SERVICE_NAME]}",)


def is_owned(slice_: Object, service: Object) -> bool:
    """Return whether a slice belongs to this service, not to a former one of the same name."""
    uid = service["metadata"]["uid"]
    return any(
        reference["uid"] == uid and reference["kind"] == "Service"
        for reference in slice_["metadata"].get("ownerReferences") or ()
    )


def plan(
    service: Object,
    family: str,
    pods: Iterable[Object],
    node_of: Callable[[str], Object | None],
    existing: list[Object],
    maximum: int,
) -> Plan:
    """Plan the changes to a service's slices of one family."""
    result = Plan()
    groups: dict[Key, list[Object]] = {}
    for slice_ in existing:
        if is_owned(slice_, service):
            groups.setdefault(ports_key(slice_.get("ports")), []).append(slice_)
        else:
            result.delete.append(slice_)
    wanted = _wanted(service, family, pods, node_of, result.missing_nodes)
    for key, (pod_ports, endpoints) in wanted.items():
        _fill(service, family, pod_ports, endpoints, groups.pop(key, []), maximum, result)
    for slices in groups.values():
        result.delete += slices
    if len(result.delete) == len(existing) and not result.create:
        _placeholder(service, family, result)
    _reuse(service, result)
    return result


def _wanted(
    service: Object,
    family: str,
    pods: Iterable[Object],
    node_of: Callable[[str], Object | None],
    missing: set[str],
) -> dict[Key, tuple[list[Object], dict[Key, Object]]]:
    """Group ports and endpoints by the ports: pods that name their ports may differ in them."""
    unready = bool(service["spec"].get("publishNotReadyAddresses"))
    wanted: dict[Key, tuple[list[Object], dict[Key, Object]]] = {}
    for pod in pods:
        if not services.belongs(pod, going=True):
            continue
        pod_ports = ports(service, pod)
        group = wanted.setdefault(ports_key(pod_ports), (pod_ports, {}))[1]
        name = pod["spec"].get("nodeName", "")
        node = node_of(name) if name else None
        if node is None and not unready:
            missing.add(name)
            continue
        pod_endpoint = endpoint(pod, node, service, family)
        if pod_endpoint["addresses"]:
            group[endpoint_key(pod_endpoint)] = pod_endpoint
    return wanted


def _fill(
    service: Object,
    family: str,
    slice_ports: list[Object],
    endpoints: dict[Key, Object],
    existing: list[Object],
    maximum: int,
    result: Plan,
) -> None:
    """Put the endpoints of one list of ports into slices, changing as few of them as possible."""
    right, plain = labels(service), _plain(service)
    update: list[Object] = []
    unchanged: list[Object] = []
    for slice_ in existing:
        before = slice_.get("endpoints") or []
        kept, changed = [], False
        for endpoint in before:
            desired = endpoints.pop(endpoint_key(endpoint), None)
            if desired is not None:
                same = _state(desired) == _state(endpoint)
                kept.append(endpoint if same else desired)
                changed = changed or not same
        if changed or len(kept) != len(before):
            if kept:
                update.append(_copy(slice_, kept, right))
            else:
                result.delete.append(slice_)
        elif _plain(slice_) != plain:
            update.append(_copy(slice_, kept, right))
        else:
            unchanged.append(slice_)
    rest = list(endpoints.values())
    for slice_ in sorted(update, key=lambda slice_: -len(slice_["endpoints"])):
        room = max(0, maximum - len(slice_["endpoints"]))
        slice_["endpoints"] += rest[:room]
        rest = rest[room:]
    while rest:
        target = _closest(unchanged, len(rest), maximum) if len(rest) < maximum else None
        if target is not None:
            unchanged.remove(target)
            target = _copy(target, list(target.get("endpoints") or []), right)
            update.append(target)
        else:
            target = new_slice(service, family, slice_ports)
            result.create.append(target)
        room = maximum - len(target["endpoints"])
        target["endpoints"] += rest[:room]
        rest = rest[room:]
    result.update += update
    result.unchanged += unchanged


def _copy(slice_: Object, endpoints: list[Object], own_labels: Object) -> Object:
    meta = {**slice_["metadata"], "labels": own_labels}
    return {**slice_, "metadata": meta, "endpoints": endpoints}


def _closest(slices: list[Object], count: int, maximum: int) -> Object | None:
    """Return the slice that is fullest after taking so many more."""
    fitting = [slice_ for slice_ in slices if len(slice_.get("endpoints") or []) + count <= maximum]
    return max(fitting, key=lambda slice_: len(slice_.get("endpoints") or []), default=None)


def _placeholder(service: Object, family: str, result: Plan) -> None:
    """Plan the one empty slice of a service without endpoints."""
    empty = new_slice(service, family, [])
    if len(result.delete) == 1:
        only = result.delete[0]
        if (
            is_owned(only, service)
            and not only.get("endpoints")
            and not only.get("ports")
            and only["metadata"].get("labels") == empty["metadata"]["labels"]
        ):
            result.delete.clear()
            result.unchanged.append(only)
            return
    result.create.append(empty)


def _reuse(service: Object, result: Plan) -> None:
    """Turn slices that would be deleted into those that would be created."""
    for slice_ in list(result.delete):
        if not result.create:
            return
        if is_owned(slice_, service):
            fresh = result.create.pop()
            meta = {
                **fresh["metadata"], "name": slice_["metadata"]["name"],
                "resourceVersion": slice_["metadata"]["resourceVersion"], "uid": slice_["metadata"]["uid"],
            }  # fmt: skip
            meta.pop("generateName")
            result.delete.remove(slice_)
            result.update.append({**fresh, "metadata": meta})
