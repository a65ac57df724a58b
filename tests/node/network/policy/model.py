"""What policies mean, word by word as the API says it: slow, without any index, and apart from the code."""

from __future__ import annotations

import ipaddress
from typing import Any

Object = dict[str, Any]
_WORDS = {"ingress": "from", "egress": "to"}


def selects(selector: Object, labels: dict[str, str]) -> bool:
    if any(labels.get(key) != value for key, value in selector.get("matchLabels", {}).items()):
        return False
    for expression in selector.get("matchExpressions", ()):
        key, values = expression["key"], expression.get("values", ())
        holds = {
            "In": key in labels and labels[key] in values,
            "NotIn": key not in labels or labels[key] not in values,
            "Exists": key in labels,
            "DoesNotExist": key not in labels,
        }[expression["operator"]]
        if not holds:
            return False
    return True


class Model:
    """A cluster: objects as the API has them."""

    def __init__(
        self, pods: list[Object], namespaces: list[Object], policies: list[Object], cluster: list[Object]
    ) -> None:
        self.pods, self.policies, self.cluster = pods, policies, cluster
        self.namespaces = {one["metadata"]["name"]: one["metadata"].get("labels", {}) for one in namespaces}

    def owner(self, address: str) -> Object | None:
        return next((pod for pod in self.pods if address in self.addresses(pod)), None)

    def addresses(self, pod: Object) -> list[str]:
        if pod["spec"].get("hostNetwork") or pod["status"].get("phase") in ("Succeeded", "Failed"):
            return []
        return [entry["ip"] for entry in pod["status"].get("podIPs", ())]

    def allowed(self, source: str, destination: str, protocol: str, port: int) -> bool:
        """Return whether a connection may be made: what sends must let it out, what gets it must let it in."""
        if source == destination:
            return True
        return all(
            self.direction(direction, source, destination, protocol, port)
            for direction in ("egress", "ingress")
        )

    def direction(self, direction: str, source: str, destination: str, protocol: str, port: int) -> bool:
        own = self.owner(source if direction == "egress" else destination)
        if own is None:
            return True
        packet = (direction, source, destination, protocol, port)
        for tier in ("Admin", "Network", "Baseline"):
            if tier == "Network":
                decision = self.network(own, packet)
            else:
                decision = self.tier(tier, own, packet)
            if decision is not None:
                return decision
        return True

    def network(self, own: Object, packet: tuple[str, str, str, str, int]) -> bool | None:
        direction = packet[0]
        mine = [
            policy
            for policy in self.policies
            if policy["metadata"]["namespace"] == own["metadata"]["namespace"]
            and selects(policy["spec"]["podSelector"], own["metadata"].get("labels", {}))
            and direction.capitalize() in policy["spec"]["policyTypes"]
        ]
        if not mine:
            return None
        return any(
            self.rule(rule, policy["metadata"]["namespace"], packet)
            for policy in mine
            for rule in policy["spec"].get(direction, ())
        )

    def rule(self, rule: Object, namespace: str, packet: tuple[str, str, str, str, int]) -> bool:
        direction, source, destination, protocol, port = packet
        peer = destination if direction == "egress" else source
        peers, ports = rule.get(_WORDS[direction], ()), rule.get("ports", ())
        return (not peers or any(self.peer(one, namespace, peer) for one in peers)) and (
            not ports or any(self.port(one, destination, protocol, port) for one in ports)
        )

    def peer(self, peer: Object, namespace: str, address: str) -> bool:
        if "ipBlock" in peer:
            block = peer["ipBlock"]
            number = ipaddress.ip_address(address)
            return number in ipaddress.ip_network(block["cidr"]) and not any(
                number in ipaddress.ip_network(text) for text in block.get("except", ())
            )
        pod = self.owner(address)
        if pod is None:
            return False
        where = pod["metadata"]["namespace"]
        if "namespaceSelector" in peer:
            if where not in self.namespaces or not selects(peer["namespaceSelector"], self.namespaces[where]):
                return False
        elif where != namespace:
            return False
        return selects(peer.get("podSelector", {}), pod["metadata"].get("labels", {}))

    def port(self, entry: Object, destination: str, protocol: str, port: int) -> bool:
        if entry.get("protocol", "TCP").lower() != protocol:
            return False
        wanted = entry.get("port")
        if wanted is None:
            return True
        if isinstance(wanted, str):
            return self.named(wanted, destination, protocol, port)
        last: Any = entry.get("endPort", wanted)
        return bool(wanted <= port <= last)

    def named(self, name: str, destination: str, protocol: str, port: int) -> bool:
        pod = self.owner(destination)
        return pod is not None and any(
            (one["name"], one.get("protocol", "TCP").lower(), one["containerPort"]) == (name, protocol, port)
            for one in pod["spec"]["containers"][0].get("ports", ())
        )

    def tier(self, tier: str, own: Object, packet: tuple[str, str, str, str, int]) -> bool | None:
        direction, source, destination, protocol, port = packet
        peer = destination if direction == "egress" else source
        policies = [policy for policy in self.cluster if policy["spec"]["tier"] == tier]
        for policy in sorted(policies, key=lambda one: (one["spec"]["priority"], one["metadata"]["name"])):
            if not self.selected(policy["spec"]["subject"], own):
                continue
            for rule in policy["spec"].get(direction, ()):
                if not any(self.cluster_peer(one, peer) for one in rule[_WORDS[direction]]):
                    continue
                protocols = rule.get("protocols", ())
                if protocols and not any(
                    self.cluster_port(one, destination, protocol, port) for one in protocols
                ):
                    continue
                if rule["action"] == "Pass":
                    return None
                return bool(rule["action"] == "Accept")
        return None

    def selected(self, subject: Object, pod: Object) -> bool:
        labels = self.namespaces.get(pod["metadata"]["namespace"])
        if labels is None:
            return False
        if "namespaces" in subject:
            return selects(subject["namespaces"], labels)
        both = subject["pods"]
        return selects(both["namespaceSelector"], labels) and selects(
            both["podSelector"], pod["metadata"].get("labels", {})
        )

    def cluster_peer(self, peer: Object, address: str) -> bool:
        if "networks" in peer:
            return any(
                ipaddress.ip_address(address) in ipaddress.ip_network(text) for text in peer["networks"]
            )
        pod = self.owner(address)
        return pod is not None and self.selected(peer, pod)

    def cluster_port(self, entry: Object, destination: str, protocol: str, port: int) -> bool:
        if "destinationNamedPort" in entry:
            return self.named(entry["destinationNamedPort"], destination, protocol, port)
        if protocol not in entry:
            return False
        wanted = entry[protocol]["destinationPort"]
        if "number" in wanted:
            return bool(wanted["number"] == port)
        return bool(wanted["range"]["start"] <= port <= wanted["range"]["end"])
