"""NetworkPolicy: which traffic pods may have."""

from __future__ import annotations

from collections.abc import Iterator

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.table import AGE, NAME, format_selector, get
from pybernetes.api.validation import addresses, checks, names
from pybernetes.api.validation.selectors import validate_label_selector

_SPEC = Path("spec")
_TYPES = ("Ingress", "Egress")
_PROTOCOLS = ("TCP", "UDP", "SCTP")
_DIRECTIONS = (("ingress", "from"), ("egress", "to"))


def default(obj: Object) -> None:
    """Let ports be of TCP, and derive the types from the rules."""
    spec = obj.setdefault("spec", {})
    spec.setdefault("podSelector", {})
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
    for direction, peers in _DIRECTIONS:
        for rule in spec.get(direction, ()):
            for port in rule.get("ports", ()):
                port.setdefault("protocol", "TCP")
            for peer in rule.get(peers, ()):
                if "ipBlock" in peer:
                    peer["ipBlock"].setdefault("cidr", "")


def validate(obj: Object, errors: Errors) -> None:
    """Check selectors, ports and peers."""
    spec = obj.get("spec", {})
    validate_label_selector(spec.get("podSelector"), _SPEC / "podSelector", errors)
    for direction, peers in _DIRECTIONS:
        for index, rule in enumerate(spec.get(direction, ())):
            here = (_SPEC / direction)[index]
            for position, port in enumerate(rule.get("ports", ())):
                _port(port, (here / "ports")[position], errors)
            for position, peer in enumerate(rule.get(peers, ())):
                _peer(peer, (here / peers)[position], errors)
    types = spec.get("policyTypes", [])
    if len(types) > len(_TYPES):
        errors.invalid(_SPEC / "policyTypes", types, "may not specify more than two policyTypes")
        return
    for index, kind in enumerate(types):
        if kind not in _TYPES:
            errors.unsupported((_SPEC / "policyTypes")[index], kind, _TYPES)


def _port(entry: Object, path: Path, errors: Errors) -> None:
    protocol, port, end = entry.get("protocol"), entry.get("port"), entry.get("endPort")
    if protocol is not None and protocol not in _PROTOCOLS:
        errors.unsupported(path / "protocol", protocol, _PROTOCOLS)
    if isinstance(port, int):
        checks.name(names.port_number, port, path / "port", errors)
        if end is not None:
            if end < port:
                errors.invalid(path / "endPort", end, "must be greater than or equal to `port`")
            checks.name(names.port_number, end, path / "endPort", errors)
        return
    if end is not None:
        why = "not specified" if port is None else "non-numeric"
        errors.invalid(path / "endPort", end, f"may not be specified when `port` is {why}")
    if port is not None:
        checks.name(names.port_name, port, path / "port", errors)


def _peer(peer: Object, path: Path, errors: Errors) -> None:
    for key in ("podSelector", "namespaceSelector"):
        if key in peer:
            validate_label_selector(peer[key], path / key, errors)
    if "ipBlock" in peer:
        _block(peer["ipBlock"], path / "ipBlock", errors)
    if not peer:
        errors.required(path, "must specify a peer")
    elif len(peer) > 1 and "ipBlock" in peer:
        errors.forbidden(path, "may not specify both ipBlock and another peer")


def _block(block: Object, path: Path, errors: Errors) -> None:
    cidr = block.get("cidr", "")
    if not cidr:
        errors.required(path / "cidr")
        return
    addresses.legacy_cidr(cidr, path / "cidr", errors)
    network = addresses.parse_cidr_sloppy(cidr)
    if network is None:
        return
    for index, text in enumerate(block.get("except", ())):
        here = (path / "except")[index]
        addresses.legacy_cidr(text, here, errors)
        inner = addresses.parse_cidr_sloppy(text)
        if inner is None:
            continue
        if inner.network_address not in network or network.prefixlen >= inner.prefixlen:
            errors.invalid(here, text, "must be a strict subset of `cidr`")


def _cidrs(obj: Object) -> Iterator[tuple[str, Path]]:
    for direction, peers in _DIRECTIONS:
        for index, rule in enumerate(get(obj, f".spec.{direction}", ())):
            for position, peer in enumerate(rule.get(peers, ())):
                if "ipBlock" in peer:
                    path = ((_SPEC / direction)[index] / peers)[position] / "ipBlock"
                    yield peer["ipBlock"].get("cidr", ""), path / "cidr"
                    for number, text in enumerate(peer["ipBlock"].get("except", ())):
                        yield text, (path / "except")[number]


def warnings(new: Object, old: Object | None) -> list[str]:
    """Warn about CIDRs in unusual spellings."""
    return [text for cidr, path in _cidrs(new) for text in addresses.cidr_warnings(cidr, path)]


RESOURCE = Resource(
    group="networking.k8s.io",
    version="v1",
    kind="NetworkPolicy",
    plural="networkpolicies",
    short_names=("netpol",),
    generation=True,
    columns=(
        NAME,
        Column("Pod-Selector", lambda obj, now: format_selector(get(obj, ".spec.podSelector", {}))),
        AGE,
    ),
    default=default,
    validate=validate,
    warnings=warnings,
)
