"""Network policies."""

from __future__ import annotations

from datetime import datetime

from pybernetes.lib.rfc3339 import parse as parse_time
from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._writer import Writer, selector_text

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = "networking.k8s.io"

_INDENT = "    "


def describe(writer: Writer, value: Object) -> None:
    """Write a network policy."""
    metadata, spec = value["metadata"], value.get("spec") or {}
    writer.name(value)
    moment = datetime.fromtimestamp(parse_time(metadata["creationTimestamp"])).astimezone()
    writer.field("Created on", moment.strftime("%Y-%m-%d %H:%M:%S %z %Z"))
    writer.marks(value)
    writer.line("Spec:")
    selector = selector_text(spec.get("podSelector"))
    everybody = "<none> (Allowing the specific traffic to all pods in this namespace)"
    writer.put("PodSelector: ", 1)
    writer.line(everybody if selector == "<none>" else selector, 2)
    types = spec.get("policyTypes") or []
    for kind, key, peers in (("Ingress", "ingress", "From"), ("Egress", "egress", "To")):
        if kind in types:
            writer.line(f"Allowing {key} traffic:", 1)
            _rules(writer, spec.get(key) or [], key, peers)
        else:
            writer.line(f"Not affecting {key} traffic", 1)
    writer.line(f"Policy Types: {', '.join(types) or '<none>'}", 1)


def _rules(writer: Writer, rules: list[Object], key: str, peers: str) -> None:
    if not rules:
        writer.line(f"{_INDENT}<none> (Selected pods are isolated for {key} connectivity)")
    for place, rule in enumerate(rules):
        if not rule.get("ports"):
            writer.line(f"{_INDENT}To Port: <any> (traffic allowed to all ports)")
        for port in rule.get("ports") or ():
            protocol, number = port.get("protocol") or "TCP", port.get("port", "<nil>")
            if port.get("endPort") is None:
                writer.line(f"{_INDENT}To Port: {number}/{protocol}")
            else:
                writer.line(f"{_INDENT}To Port Range: {number}-{port['endPort']}/{protocol}")
        listed = rule.get(peers.lower()) or []
        if not listed:
            end = "source" if peers == "From" else "destination"
            writer.line(f"{_INDENT}{peers}: <any> (traffic not restricted by {end})")
        for peer in listed:
            _peer(writer, peer, peers)
        if place != len(rules) - 1:
            writer.line(f"{_INDENT}----------")


def _peer(writer: Writer, peer: Object, peers: str) -> None:
    writer.line(f"{_INDENT}{peers}:")
    if peer.get("namespaceSelector") is not None:
        writer.line(f"{_INDENT}NamespaceSelector: {selector_text(peer['namespaceSelector'])}", 1)
    if peer.get("podSelector") is not None:
        writer.line(f"{_INDENT}PodSelector: {selector_text(peer['podSelector'])}", 1)
    if peer.get("ipBlock"):
        writer.line(f"{_INDENT}IPBlock:", 1)
        writer.line(f"{_INDENT}CIDR: {peer['ipBlock'].get('cidr')}", 2)
        writer.line(f"{_INDENT}Except: {', '.join(peer['ipBlock'].get('except') or ())}", 2)
