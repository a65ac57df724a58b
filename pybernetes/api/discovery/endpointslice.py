"""EndpointSlice: some of the endpoints of a service."""

from __future__ import annotations

from pybernetes.api.field import ROOT, Errors, Path
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.table import AGE, NAME
from pybernetes.api.validation import addresses, checks, declarative, meta, names
from pybernetes.api.validation.domains import fully_qualified
from pybernetes.lib.memory.bounded_cache import bounded_cache

_ADDRESS_TYPES = ("FQDN", "IPv4", "IPv6")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_MAX_ENDPOINTS, _MAX_PORTS, _MAX_ADDRESSES, _MAX_TOPOLOGY, _MAX_HINTS = 1000, 20000, 100, 16, 8
_SHOWN = 3
_MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
_CONTROLLERS = ("endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io")


def default(obj: Object) -> None:
    """Let ports be of TCP and unnamed, unless told otherwise; lists that nobody gave are null."""
    for endpoint in obj.setdefault("endpoints", None) or ():
        endpoint.setdefault("addresses", [])
        endpoint.setdefault("conditions", {})
    for port in obj.setdefault("ports", None) or ():
        port.setdefault("name", "")
        port.setdefault("protocol", "TCP")


def prepare_create(obj: Object) -> None:
    """Drop the topology that only the beta version had."""
    for endpoint in obj.get("endpoints") or ():
        endpoint.pop("deprecatedTopology", None)


def prepare_update(new: Object, old: Object) -> None:
    """Count changes of labels too, since consumers select slices by them."""
    if new["metadata"].get("labels", {}) != old["metadata"].get("labels", {}):
        new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
    if new.get("endpoints") != old.get("endpoints"):
        prepare_create(new)


def validate(obj: Object, errors: Errors) -> None:
    """Check ports and endpoints."""
    kind = obj.get("addressType", "")
    _ports(obj.get("ports") or [], Path("ports"), errors)
    endpoints = obj.get("endpoints") or []
    if len(endpoints) > _MAX_ENDPOINTS:
        errors.too_many(Path("endpoints"), len(endpoints), _MAX_ENDPOINTS)
    else:
        for index, endpoint in enumerate(endpoints):
            _endpoint(endpoint, kind, Path("endpoints")[index], errors)
    if not kind:
        errors.required(Path("addressType"))
    elif kind not in _ADDRESS_TYPES:
        errors.unsupported(Path("addressType"), kind, _ADDRESS_TYPES)


def _ports(ports: list[Object], path: Path, errors: Errors) -> None:
    if len(ports) > _MAX_PORTS:
        errors.too_many(path, len(ports), _MAX_PORTS)
        return
    seen: set[str] = set()
    for index, port in enumerate(ports):
        name, protocol = port.get("name", ""), port.get("protocol")
        if name:
            checks.name(names.dns_label, name, path[index] / "name", errors)
        if name in seen:
            errors.duplicate(path[index] / "name", name)
        seen.add(name)
        if protocol is None:
            errors.required(path[index] / "protocol")
        elif protocol not in _PROTOCOLS:
            errors.unsupported(path[index] / "protocol", protocol, _PROTOCOLS)
        if "appProtocol" in port:
            checks.name(names.qualified_name, port["appProtocol"], path[index] / "appProtocol", errors)


def _endpoint(endpoint: Object, kind: str, path: Path, errors: Errors) -> None:
    given = endpoint.get("addresses", [])
    here = path / "addresses"
    if not given:
        errors.required(here)
    elif len(given) > _MAX_ADDRESSES:
        errors.too_many(here, len(given), _MAX_ADDRESSES)
    for index, address in enumerate(given):
        if not _is_fine(address, kind):
            _address(address, kind, here, index, errors)
    if "nodeName" in endpoint:
        checks.name(names.dns_subdomain, endpoint["nodeName"], path / "nodeName", errors)
    topology = endpoint.get("deprecatedTopology")
    if topology:
        if len(topology) > _MAX_TOPOLOGY:
            errors.too_many(path / "deprecatedTopology", len(topology), _MAX_TOPOLOGY)
        meta.check_labels(topology, path / "deprecatedTopology", errors)
    if "hostname" in endpoint:
        checks.name(names.dns_label, endpoint["hostname"], path / "hostname", errors)
    if "hints" in endpoint:
        _hints(endpoint["hints"], path / "hints", errors)


@bounded_cache()
def _is_fine(address: str, kind: str) -> bool:
    """Return whether all is valid; slices repeat their addresses with every write."""
    errors = Errors()
    _address(address, kind, ROOT, 0, errors)
    return not errors


def _address(address: str, kind: str, path: Path, index: int, errors: Errors) -> None:
    if kind == "FQDN":
        fully_qualified(address, path[index], errors)
        return
    if kind not in ("IPv4", "IPv6"):
        return
    before = len(errors)
    if kind == "IPv4":
        addresses.legacy_ip(address, path[index], errors)
    else:
        addresses.strict_ip(address, path[index], errors)
    if len(errors) > before:
        return
    parsed = addresses.parse_sloppy(address)
    if parsed is not None and parsed.version != int(kind[-1]):
        errors.invalid(path, address, f"must be an {kind} address")
    addresses.endpoint_ip(address, path[index], errors)


def _hints(hints: Object, path: Path, errors: Errors) -> None:
    for key, check in (("forZones", names.label_value), ("forNodes", names.dns_subdomain)):
        items, here = hints.get(key, []), path / key
        if len(items) > _MAX_HINTS:
            errors.too_many(here, len(items), _MAX_HINTS)
            return
        seen: set[str] = set()
        for index, item in enumerate(items):
            name = item.get("name", "")
            if name in seen:
                errors.duplicate(here[index] / "name", name)
            seen.add(name)
            for problem in check(name):
                errors.invalid(here[index] / "name", name, problem)


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that the type of addresses stays."""
    declarative.immutable(new.get("addressType"), old.get("addressType"), Path("addressType"), errors)


def warnings(new: Object, old: Object | None) -> list[str]:
    """Warn about domain names and about addresses in unusual spellings that a person wrote."""
    messages = []
    if old is None and new.get("addressType") == "FQDN":
        messages.append("spec.addressType: FQDN endpoints are deprecated")
    if new["metadata"].get("labels", {}).get(_MANAGED_BY) in _CONTROLLERS:
        return messages
    for index, endpoint in enumerate(new.get("endpoints") or ()):
        for position, address in enumerate(endpoint.get("addresses", ())):
            path = (Path("endpoints")[index] / "addresses")[position]
            messages += addresses.ip_warnings(address, path)
    return messages


def _some(items: list[str]) -> str:
    text = ",".join(items[:_SHOWN])
    if len(items) > _SHOWN:
        return f"{text} + {len(items) - _SHOWN} more..."
    return text or "<unset>"


def _port_text(port: Object) -> str:
    return str(port["port"]) if "port" in port else port.get("name", "*")


RESOURCE = Resource(
    group="discovery.k8s.io",
    version="v1",
    kind="EndpointSlice",
    plural="endpointslices",
    generation=True,
    columns=(
        NAME,
        Column("AddressType", lambda obj, now: obj.get("addressType", "")),
        Column("Ports", lambda obj, now: _some([_port_text(port) for port in obj.get("ports") or ()])),
        Column(
            "Endpoints",
            lambda obj, now: _some(
                [address for item in obj.get("endpoints") or () for address in item.get("addresses", ())]
            ),
        ),
        AGE,
    ),
    default=default,
    prepare_create=prepare_create,
    prepare_update=prepare_update,
    validate=validate,
    validate_update=validate_update,
    warnings=warnings,
)
