"""Which rule lets a connection pass or not, from the objects of a cluster. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address
from typing import NamedTuple

from pybernetes.api.resource import Object
from pybernetes.node.network.policy import objects, rules
from pybernetes.node.network.policy.objects import PROTOCOLS, Pod
from pybernetes.node.network.policy.rules import EGRESS, INGRESS
from pybernetes.node.network.policy.state import State
from pybernetes.node.network.policy.table import family
from pybernetes.node.network.policy.verdict import Packet, Verdict, ask

EXTERNAL = "external"
# Addresses for documentation: no pod has them.
_OUTSIDE = {4: "192.0.2.1", 6: "2001:db8::1"}


class Cluster(NamedTuple):
    """What decides about connections."""

    pods: Iterable[Object]
    namespaces: Iterable[Object]
    policies: Iterable[Object]
    cluster_policies: Iterable[Object] = ()


class Answer(NamedTuple):
    """Whether a connection is allowed, and what each direction says."""

    allowed: bool
    lines: list[str]


class End(NamedTuple):
    """One end of a connection: what was asked for, its addresses, and the pod if it is one."""

    text: str
    addresses: tuple[str, ...]
    pod: Pod | None


def port_of(text: str) -> tuple[str, int]:
    """Return protocol and number of a port such as ``80`` or ``53/udp``; ValueError if it is none."""
    number, _, protocol = text.partition("/")
    protocol = protocol.lower() or "tcp"
    if protocol not in PROTOCOLS or not number.isdecimal() or not 0 < int(number) < 65536:
        raise ValueError(f"{text!r} is no port: NUMBER, or NUMBER/tcp, NUMBER/udp, NUMBER/sctp")
    return protocol, int(number)


def explain(cluster: Cluster, source: str, destination: str, port: str, default: str = "default") -> Answer:
    """Answer for pods as NAMESPACE/NAME or NAME, for addresses, or for ``external``; ValueError if there is none."""
    protocol, number = port_of(port)
    pods = {pod.key: pod for pod in map(objects.pod, cluster.pods)}
    by_address = {address: pod for pod in pods.values() for address in pod.addresses}
    ends = [_end(text, pods, by_address, default) for text in (source, destination)]
    if ends[0].pod is None and ends[1].pod is None:
        raise ValueError("neither end is a pod: policies are about pods")
    pair = _pair(*ends)
    if pair is None:
        raise ValueError(f"{source} and {destination} have no addresses of one family")
    packet = Packet(*pair, protocol, number)
    lines, allowed = [], True
    for direction, end, other in ((EGRESS, ends[0], ends[1]), (INGRESS, ends[1], ends[0])):
        verdict = _ask(cluster, pods, end, other, packet, direction)
        allowed = allowed and verdict.allowed
        word = "allowed" if verdict.allowed else "denied"
        lines.append(f"{direction:<8}{end.text:<40} {word}: {verdict.origin or 'no policy decides'}")
    return Answer(allowed, lines)


def _end(text: str, pods: dict[str, Pod], by_address: dict[str, Pod], default: str) -> End:
    if text == EXTERNAL:
        return End(text, tuple(_OUTSIDE.values()), None)
    try:
        address = str(ip_address(text))
    except ValueError:
        key = text if "/" in text else f"{default}/{text}"
        if key not in pods:
            raise ValueError(f"there is no pod {key}") from None
        pod = pods[key]
        if not pod.addresses and not pod.on_host:
            raise ValueError(f"the pod {key} has no address") from None
        return End(key, pod.addresses, pod)
    return End(text, (address,), by_address.get(address))


def _pair(source: End, destination: End) -> tuple[str, str] | None:
    """Return addresses of one family; a pod on its node's network stands for somebody outside."""
    for version in (4, 6):
        pair = [
            next(
                (address for address in end.addresses or _OUTSIDE.values() if family(address) == version),
                None,
            )
            for end in (source, destination)
        ]
        if pair[0] is not None and pair[1] is not None:
            return pair[0], pair[1]
    return None


def _ask(
    cluster: Cluster, pods: dict[str, Pod], end: End, other: End, packet: Packet, direction: str
) -> Verdict:
    if end.pod is None:
        return Verdict(True, "no pod")
    if end.pod.on_host:
        return Verdict(True, "the pod is on its node's network: policies do not apply")
    if other.pod is not None and other.pod.on_host and other.pod.node == end.pod.node:
        return Verdict(True, "a pod and its own node always reach each other")
    state = State(end.pod.node, (4, 6))
    for namespace in cluster.namespaces:
        state.set_namespace(namespace["metadata"]["name"], namespace["metadata"].get("labels") or {})
    for key, pod in pods.items():
        state.set_pod(key, pod)
    for read, policies in (
        (rules.network_policy, cluster.policies),
        (rules.cluster_network_policy, cluster.cluster_policies),
    ):
        for policy in map(read, policies):
            state.set_policy(policy.key, policy)
    state.take()
    return ask(state, packet, direction)
