"""Policies as one form: NetworkPolicy and ClusterNetworkPolicy become subjects and rules. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from pybernetes.api.resource import Object
from pybernetes.api.selectors import EVERYTHING, NOTHING, Selector, SelectorError, from_object
from pybernetes.api.validation.addresses import parse_cidr_sloppy
from pybernetes.node.network.policy.blocks import Range, without

ADMIN, NETWORK, BASELINE = 0, 1, 2  # the tiers, in the order in which they are asked
INGRESS, EGRESS = "ingress", "egress"
DIRECTIONS = (INGRESS, EGRESS)
ACCEPT, DENY, PASS = "accept", "deny", "pass"
_TIERS = {"Admin": ADMIN, "Baseline": BASELINE}
_PEERS = {INGRESS: "from", EGRESS: "to"}
_LAST_PORT = 65535


@dataclass(frozen=True, slots=True)
class Group:
    """Some pods: of one namespace, or of all whose labels match. Groups that say the same are equal."""

    namespace: str  # empty: of the namespaces that the selector matches
    namespaces: str
    pods: str
    _namespaces: Selector = field(default=EVERYTHING, compare=False, repr=False)
    _pods: Selector = field(default=EVERYTHING, compare=False, repr=False)

    def has_namespace(self, name: str, labels: Mapping[str, str] | None) -> bool:
        """Return whether pods of a namespace may belong to the group; labels are None while it is unknown."""
        if self.namespace:
            return name == self.namespace
        return labels is not None and self._namespaces.matches(labels)

    def has_labels(self, labels: Mapping[str, str]) -> bool:
        """Return whether a pod of such a namespace belongs to the group."""
        return self._pods.matches(labels)

    def __str__(self) -> str:
        where = f"namespace {self.namespace}" if self.namespace else f"namespaces {self.namespaces or '*'}"
        return f"{where} pods {self.pods or '*'}"


def group(namespace: str, namespaces: Object | None, pods: Object | None) -> Group:
    """Return the group of pods that selectors mean; without a namespace selector those of one namespace."""
    selector, text = _canonical(pods)
    if namespaces is None:
        return Group(namespace, "", text, EVERYTHING, selector)
    namespace_selector, namespace_text = _canonical(namespaces)
    return Group("", namespace_text, text, namespace_selector, selector)


def _canonical(labels: Object | None) -> tuple[Selector, str]:
    """Return a selector, and its text in a fixed order."""
    selector = from_object(labels or {})
    return selector, ",".join(sorted(str(requirement) for requirement in selector.requirements))


@dataclass(frozen=True, slots=True)
class Ports:
    """Some ports of a protocol, or (with names) those that pods call so; without a protocol of every one."""

    protocol: str
    first: int = 0
    last: int = _LAST_PORT
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """What happens to traffic with some peers at some ports."""

    action: str
    origin: str  # for people: which rule of which policy
    anyone: bool = False
    groups: tuple[Group, ...] = ()
    ranges: tuple[Range, ...] = ()
    ports: tuple[Ports, ...] | None = None  # None: every port of every protocol


@dataclass(frozen=True)
class Policy:
    """A policy: whom it is about and, for each direction that it is about, its rules in their order."""

    key: str
    tier: int
    priority: int
    subject: Group
    ingress: tuple[Rule, ...] | None
    egress: tuple[Rule, ...] | None

    def rules(self, direction: str) -> tuple[Rule, ...] | None:
        """Return the rules of a direction; None if the policy is not about it."""
        return self.ingress if direction == INGRESS else self.egress

    @property
    def order(self) -> tuple[int, int, str]:
        return self.tier, self.priority, self.key


def network_policy(obj: Object) -> Policy:
    """Return what a NetworkPolicy says."""
    meta, spec = obj["metadata"], obj.get("spec") or {}
    namespace, key = meta["namespace"], f"NetworkPolicy {meta['namespace']}/{meta['name']}"
    types = spec.get("policyTypes") or (["Ingress", "Egress"] if spec.get("egress") else ["Ingress"])

    def rules(direction: str) -> tuple[Rule, ...] | None:
        if direction.capitalize() not in types:
            return None
        entries = enumerate(spec.get(direction) or ())
        return tuple(
            _network_rule(rule, namespace, direction, f"{key} {direction}[{index}]")
            for index, rule in entries
        )

    subject = group(namespace, None, spec.get("podSelector"))
    return Policy(key, NETWORK, 0, subject, rules(INGRESS), rules(EGRESS))


def _network_rule(rule: Object, namespace: str, direction: str, origin: str) -> Rule:
    peers, ports = rule.get(_PEERS[direction]) or (), rule.get("ports") or ()
    blocks = [peer["ipBlock"] for peer in peers if "ipBlock" in peer]
    groups = [
        group(namespace, peer.get("namespaceSelector"), peer.get("podSelector"))
        for peer in peers
        if "ipBlock" not in peer
    ]
    return Rule(
        ACCEPT,
        origin,
        not peers,
        tuple(dict.fromkeys(groups)),
        tuple(_ranges((block.get("cidr", ""), block.get("except") or ()) for block in blocks)),
        _together(_network_port(port) for port in ports) or None,
    )


def _together(ports: Iterable[Ports]) -> tuple[Ports, ...]:
    """Return ports with all names of a protocol in one: each entry becomes a line for each peer, and names may be many."""
    numbers: list[Ports] = []
    names: dict[str, set[str]] = {}
    for port in ports:
        if port.names:
            names.setdefault(port.protocol, set()).update(port.names)
        else:
            numbers.append(port)
    return (*numbers, *(Ports(protocol, names=tuple(sorted(held))) for protocol, held in names.items()))


def _network_port(entry: Object) -> Ports:
    protocol, port = (entry.get("protocol") or "TCP").lower(), entry.get("port")
    if port is None:
        return Ports(protocol)
    if isinstance(port, str):
        return Ports(protocol, names=(port,))
    return Ports(protocol, port, entry.get("endPort") or port)


def _ranges(blocks: Iterable[tuple[str, Iterable[str]]]) -> Iterator[Range]:
    for cidr, exceptions in blocks:
        network = parse_cidr_sloppy(cidr)
        if network is not None:
            inner = [parsed for text in exceptions if (parsed := parse_cidr_sloppy(text)) is not None]
            yield from without(network, inner)


def cluster_network_policy(obj: Object) -> Policy:
    """Return what a ClusterNetworkPolicy says. What this version does not know makes a rule fail closed."""
    meta, spec = obj["metadata"], obj.get("spec") or {}
    key = f"ClusterNetworkPolicy {meta['name']}"

    def rules(direction: str) -> tuple[Rule, ...] | None:
        entries = enumerate(spec.get(direction) or ())
        return (
            tuple(
                _cluster_rule(rule, direction, f"{key} {direction}[{index}]" + _called(rule))
                for index, rule in entries
            )
            or None
        )

    tier = _TIERS.get(spec.get("tier") or "", ADMIN)
    # A subject that cannot be read selects nobody, as everywhere in Kubernetes.
    subject = _selected(spec.get("subject") or {}) or Group("", "!", "!", NOTHING, NOTHING)
    return Policy(key, tier, int(spec.get("priority") or 0), subject, rules(INGRESS), rules(EGRESS))


def _called(rule: Object) -> str:
    return f" {rule['name']}" if rule.get("name") else ""


def _selected(peer: Object) -> Group | None:
    """Return the pods that a subject or a peer selects; None if it selects something else."""
    try:
        if "namespaces" in peer:
            return group("", peer["namespaces"] or {}, {})
        if "pods" in peer:
            pods = peer["pods"] or {}
            return group("", pods.get("namespaceSelector") or {}, pods.get("podSelector"))
    except SelectorError:  # definitions do not check operators
        pass
    return None


def _cluster_rule(rule: Object, direction: str, origin: str) -> Rule:
    action = {"Accept": ACCEPT, "Pass": PASS}.get(rule.get("action") or "", DENY)
    groups: list[Group] = []
    networks: list[str] = []
    understood = True
    for peer in rule.get(_PEERS[direction]) or ():
        selected = _selected(peer)
        if selected is not None:
            groups.append(selected)
        elif direction == EGRESS and peer.get("networks"):
            networks += peer["networks"]
        else:
            understood = False
    ports = [port for entry in rule.get("protocols") or () for port in _cluster_ports(entry)]
    if None in ports:
        understood = False
    if not understood:  # as the API demands: accept nothing by such a rule, refuse everything else
        return Rule(ACCEPT, origin) if action == ACCEPT else Rule(DENY, origin, anyone=True)
    ranges = tuple(_ranges((network, ()) for network in networks))
    known = _together(port for port in ports if port is not None)
    return Rule(action, origin, False, tuple(dict.fromkeys(groups)), ranges, known or None)


def _cluster_ports(entry: Object) -> Iterator[Ports | None]:
    """Yield the ports of an entry; None if it says something that this version does not know."""
    if entry.get("destinationNamedPort"):
        yield Ports("", names=(entry["destinationNamedPort"],))
        return
    for protocol in ("tcp", "udp", "sctp"):
        if protocol in entry:
            port = (entry[protocol] or {}).get("destinationPort") or {}
            if port.get("number"):
                yield Ports(protocol, port["number"], port["number"])
                return
            if port.get("range") and port["range"]["start"] <= port["range"]["end"]:
                yield Ports(protocol, port["range"]["start"], port["range"]["end"])
                return
    yield None
