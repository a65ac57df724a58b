"""RemovePodsViolatingInterPodAntiAffinity: pods that cannot stand one another."""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Object
from tests.control_plane.descheduler.worlds import gone, node, pod

NAME = "RemovePodsViolatingInterPodAntiAffinity"
NODES = [node("n1", {"zone": "a"}), node("n2", {"zone": "a"}), node("n3", {"zone": "b"})]


def apart(value: str, key: str = "kubernetes.io/hostname", **more: Any) -> Object:
    term = {"labelSelector": {"matchLabels": {"foo": value}}, "topologyKey": key, **more}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def unsocial(
    name: str, on: str = "n1", avoids: str = "x", key: str = "kubernetes.io/hostname", **more: Any
) -> Object:
    return pod(name, on, labels={"foo": "x"}, affinity=apart(avoids, key), **more)


def test_until_one_is_left() -> None:
    assert len(gone(NODES, [unsocial(name) for name in "abc"], {NAME: {}})) == 2


def test_the_least_important_go() -> None:
    there = [unsocial("high", priority=100), unsocial("low", priority=0), unsocial("middle", priority=50)]
    assert gone(NODES, there, {NAME: {}}) == ["low", "middle"]


def test_one_side_is_enough() -> None:
    there = [pod("quiet", labels={"foo": "y"}), unsocial("loud", avoids="y")]
    assert gone(NODES, there, {NAME: {}}) == ["loud"]


def test_near_means_the_same_domain() -> None:
    assert gone(NODES, [unsocial("a", "n1"), unsocial("b", "n2")], {NAME: {}}) == []
    assert (
        len(gone(NODES, [unsocial("a", "n1", key="zone"), unsocial("b", "n2", key="zone")], {NAME: {}})) == 1
    )
    assert gone(NODES, [unsocial("a", "n1", key="zone"), unsocial("b", "n3", key="zone")], {NAME: {}}) == []
    # A node without the label is a domain of its own.
    assert len(gone(NODES, [unsocial("a", key="none"), unsocial("b", key="none")], {NAME: {}})) == 1


def test_namespaces() -> None:
    there = [pod("quiet", labels={"foo": "y"}, namespace="other"), unsocial("loud", avoids="y")]
    assert gone(NODES, there, {NAME: {}}) == []
    there[1]["spec"]["affinity"] = apart("y", namespaces=["other"])
    assert gone(NODES, there, {NAME: {}}) == ["loud"]
    there[1]["spec"]["affinity"] = apart("y", namespaceSelector={"matchLabels": {"team": "t"}})
    teams = {"namespaces": [{"metadata": {"name": "other", "labels": {"team": "t"}}}]}
    assert gone(NODES, there, {NAME: {}}, objects=teams) == ["loud"]


def test_selection_limits_and_protection() -> None:
    there = [unsocial(name) for name in "abc"]
    assert gone(NODES, there, {NAME: {"namespaces": {"exclude": ["default"]}}}) == []
    assert gone(NODES, there, {NAME: {"labelSelector": {"matchLabels": {"foo": "y"}}}}) == []
    assert len(gone(NODES, there, {NAME: {}}, maxNoOfPodsToEvictPerNode=1)) == 1
    assert len(gone(NODES, there, {NAME: {}}, maxNoOfPodsToEvictTotal=1)) == 1
    assert gone(NODES, [unsocial("bare", owners=()), unsocial("owned")], {NAME: {}}) == ["owned"]


def test_pods_must_fit_elsewhere() -> None:
    closed = [NODES[0], *(node(name, unschedulable=True) for name in ("n2", "n3"))]
    assert gone(closed, [unsocial(name) for name in "abc"], {NAME: {}}, {"nodeFit": True}) == []
    assert len(gone(NODES, [unsocial(name) for name in "abc"], {NAME: {}}, {"nodeFit": True})) == 2
    taken = [unsocial("a"), unsocial("b"), unsocial("c", "n2", owners=()), unsocial("d", "n3", owners=())]
    assert gone(NODES, taken, {NAME: {}}, {"nodeFit": True}) == []
