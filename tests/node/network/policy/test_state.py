"""The table of a node against what policies mean, and changes against the whole."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pybernetes.node.network.policy import objects, rules
from pybernetes.node.network.policy.state import Changes, State
from pybernetes.node.network.policy.verdict import EGRESS, INGRESS, Packet, ask
from tests.node.network.policy import clusters
from tests.node.network.policy.model import Model

Object = dict[str, Any]


class Table:
    """A kernel's table as far as changes tell: it refuses what a kernel refuses."""

    def __init__(self) -> None:
        self.sets: dict[str, set[str]] = {}
        self.chains: dict[str, Any] = {}

    def apply(self, changes: Changes) -> None:
        for name in changes.sets:
            assert name not in self.sets
            self.sets[name] = set()
        for name in changes.chains:
            assert (name in self.chains) == (name in changes.known_chains)
        self.chains.update(changes.chains)
        for name, elements in changes.removed.items():
            for element in elements:
                self.sets.setdefault(name, set()).remove(element)
        for name, elements in changes.added.items():
            for element in elements:
                assert element not in self.sets.setdefault(name, set())
                self.sets[name].add(element)
        for name in changes.removed_chains:
            del self.chains[name]
        for name in changes.removed_sets:
            del self.sets[name]

    def content(self) -> tuple[Any, Any]:
        return {name: held for name, held in self.sets.items() if held}, self.chains


def key_of(obj: Object) -> str:
    return "/".join(filter(None, (obj["metadata"].get("namespace"), obj["metadata"]["name"])))


def tell(states: list[State], kind: str, obj: Object, there: bool) -> None:
    for state in states:
        if kind == "pod":
            state.set_pod(key_of(obj), objects.pod(obj) if there else None)
        elif kind == "namespace":
            state.set_namespace(obj["metadata"]["name"], obj["metadata"]["labels"] if there else None)
        else:
            read = rules.network_policy if kind == "policy" else rules.cluster_network_policy
            policy = read(obj)
            state.set_policy(policy.key, policy if there else None)


@settings(max_examples=100, deadline=None)
@given(clusters.histories(), st.sets(st.integers(0, 17)))
def test_a_node_decides_what_the_policies_mean_after_every_change(
    changes: list[tuple[str, Object, bool]], pauses: set[int]
) -> None:
    states = [State("here", (4, 6)), State("there", (4, 6))]
    tables = [Table(), Table()]
    there: dict[str, dict[str, Object]] = {"pod": {}, "namespace": {}, "policy": {}, "cluster": {}}
    for state, table in zip(states, tables, strict=True):
        table.apply(state.everything())
    for number, (kind, obj, exists) in enumerate(changes):
        there[kind].pop(key_of(obj), None)
        if exists:
            there[kind][key_of(obj)] = obj
        tell(states, kind, obj, exists)
        if number not in pauses:
            for state, table in zip(states, tables, strict=True):
                table.apply(state.take())
    for state, table in zip(states, tables, strict=True):
        table.apply(state.take())
        fresh = Table()
        fresh.apply(state.everything())
        assert table.content() == fresh.content()
        again = State(state.node, (4, 6))
        for kind, held in there.items():
            for obj in held.values():
                tell([again], kind, obj, True)
        second = Table()
        second.apply(again.everything())
        assert second.content() == fresh.content()
    model = Model(*(list(there[kind].values()) for kind in ("pod", "namespace", "policy", "cluster")))
    by_node = {state.node: state for state in states}
    v4 = [f"10.0.0.{number}" for number in range(1, 7)]
    v6 = [f"fd00::{number}" for number in range(1, 7)]
    pairs = [
        *itertools.product((*v4, *clusters.OUTSIDE[:2]), repeat=2),
        *itertools.product((*v6, clusters.OUTSIDE[2]), repeat=2),
    ]
    for source, destination in pairs:
        for protocol, port in itertools.product(("tcp", "udp", "sctp"), clusters.PORTS[:2]):
            packet = Packet(source, destination, protocol, port)
            for direction, own in ((EGRESS, source), (INGRESS, destination)):
                pod = model.owner(own)
                if pod is None:
                    continue
                answer = ask(by_node[pod["spec"]["nodeName"]], packet, direction)
                wanted = source == destination or model.direction(direction, *packet)
                assert answer.allowed == wanted, (packet, direction, answer)


def test_names_of_ports_do_not_multiply_peers() -> None:
    peers = [{"podSelector": {"matchLabels": {"k": f"v{number}"}}} for number in range(300)]
    ports = [{"port": f"n{number}"} for number in range(300)] + [{"port": "n7", "protocol": "UDP"}]
    policy = {
        "metadata": {"namespace": "a", "name": "large"},
        "spec": {"podSelector": {}, "ingress": [{"from": peers, "ports": ports}]},
    }
    state = State("here", (4, 6))
    tell([state], "namespace", {"metadata": {"name": "a", "labels": {}}}, True)
    tell([state], "policy", policy, True)
    named = [
        {"name": "n7", "containerPort": 80},
        {"name": "n9", "containerPort": 80},
        {"name": "x", "containerPort": 81},
    ]
    for number, labels in enumerate(({}, {"k": "v8"})):
        pod = {
            "metadata": {"namespace": "a", "name": f"p{number}", "labels": labels},
            "spec": {"nodeName": "here", "containers": [{"name": "c", "ports": named}]},
            "status": {"podIPs": [{"ip": f"10.0.0.{number}"}]},
        }
        tell([state], "pod", pod, True)
    everything = state.everything()
    assert sum(map(len, everything.chains.values())) < 3 * 2 * len(peers)  # and not as many for each name
    assert sum(name.startswith("ports") for name in everything.sets) == 2 * 2  # of each protocol and family
    for protocol, port, allowed in (("tcp", 80, True), ("tcp", 81, False), ("udp", 80, False)):
        assert ask(state, Packet("10.0.0.1", "10.0.0.0", protocol, port), INGRESS).allowed is allowed
    tell([state], "policy", policy, False)
    assert not any(name.startswith("ports") for name in state.everything().sets)
