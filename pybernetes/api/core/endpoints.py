"""Endpoints: the addresses behind a service, the older form of EndpointSlice."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.table import AGE, NAME
from pybernetes.api.validation import addresses, checks, names

_SUBSETS = Path("subsets")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_SHOWN = 3
_ADDRESS_LISTS = ("addresses", "notReadyAddresses")


def default(obj: Object) -> None:
    """Let ports speak TCP unless they say otherwise."""
    for subset in obj.get("subsets", ()):
        for port in subset.get("ports", ()):
            if not port.get("protocol"):
                port["protocol"] = "TCP"


def validate(obj: Object, errors: Errors) -> None:
    """Check the addresses and ports of every subset."""
    for index, subset in enumerate(obj.get("subsets", ())):
        path = _SUBSETS[index]
        if not any(subset.get(key) for key in _ADDRESS_LISTS):
            errors.required(path, "must specify `addresses` or `notReadyAddresses`")
        for key in _ADDRESS_LISTS:
            for position, address in enumerate(subset.get(key, ())):
                _address(address, (path / key)[position], errors)
        ports = subset.get("ports", ())
        for position, port in enumerate(ports):
            _port(port, len(ports) > 1, (path / "ports")[position], errors)


def _address(address: Object, path: Path, errors: Errors) -> None:
    ip = address.get("ip", "")
    addresses.legacy_ip(ip, path / "ip", errors)
    if address.get("hostname"):
        checks.name(names.dns_label, address["hostname"], path / "hostname", errors)
    if "nodeName" in address:
        checks.name(names.dns_subdomain, address["nodeName"], path / "nodeName", errors)
    addresses.endpoint_ip(ip, path / "ip", errors)


def _port(port: Object, name_required: bool, path: Path, errors: Errors) -> None:
    name, number, protocol = port.get("name", ""), port.get("port", 0), port.get("protocol", "")
    if name:
        checks.name(names.dns_label, name, path / "name", errors)
    elif name_required:
        errors.required(path / "name")
    checks.name(names.port_number, number, path / "port", errors)
    if not protocol:
        errors.required(path / "protocol")
    elif protocol not in _PROTOCOLS:
        errors.unsupported(path / "protocol", protocol, _PROTOCOLS)
    if "appProtocol" in port:
        checks.name(names.qualified_name, port["appProtocol"], path / "appProtocol", errors)


def warnings(obj: Object, old: Object | None) -> list[str]:
    """Warn about addresses in unusual spellings."""
    messages: list[str] = []
    labels = obj["metadata"].get("labels") or {}
    if labels.get("endpoints.kubernetes.io/managed-by") == "endpoint-controller":
        return messages
    for index, subset in enumerate(obj.get("subsets", ())):
        for key in _ADDRESS_LISTS:
            for position, address in enumerate(subset.get(key, ())):
                messages += addresses.ip_warnings(
                    address.get("ip", ""), (_SUBSETS[index] / key)[position] / "ip"
                )
    return messages


def _endpoints(obj: Object, now: float) -> str:
    shown: list[str] = []
    count = 0
    subsets = obj.get("subsets", ())
    if not subsets:
        return "<none>"
    for subset in subsets:
        ips = [address.get("ip", "") for address in subset.get("addresses", ())]
        for suffix in [f":{port.get('port', 0)}" for port in subset.get("ports", ())] or [""]:
            count += len(ips)
            for ip in ips[: _SHOWN - len(shown)]:
                shown.append((f"[{ip}]" if ":" in ip and suffix else ip) + suffix)
    text = ",".join(shown)
    return f"{text} + {count - _SHOWN} more..." if count > _SHOWN else text


RESOURCE = Resource(
    group="",
    version="v1",
    kind="Endpoints",
    plural="endpoints",
    singular="endpoints",
    short_names=("ep",),
    storage_path="services/endpoints",
    create_on_update=True,
    columns=(NAME, Column("Endpoints", _endpoints), AGE),
    default=default,
    validate=validate,
    warnings=warnings,
    deprecated="v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
)
