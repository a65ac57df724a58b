"""RemovePodsViolatingNodeAffinity: pods whose node has changed, or that would be happier elsewhere."""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Object
from tests.control_plane.descheduler.worlds import gone, node, pod

NAME = "RemovePodsViolatingNodeAffinity"
REQUIRED, PREFERRED = (f"{word}DuringSchedulingIgnoredDuringExecution" for word in ("required", "preferred"))
WITH, WITHOUT = node("with", {"wanted": "yes"}), node("without")


def needing(name: str, on: str, **more: Any) -> Object:
    terms = {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "wanted", "operator": "In", "values": ["yes"]}]}]
    }
    return pod(name, on, affinity={"nodeAffinity": {REQUIRED: terms}}, **more)


def liking(name: str, on: str, weight: int = 10) -> Object:
    term = {"matchExpressions": [{"key": "wanted", "operator": "In", "values": ["yes"]}]}
    return pod(name, on, affinity={"nodeAffinity": {PREFERRED: [{"weight": weight, "preference": term}]}})


def test_required() -> None:
    rule = {NAME: {"nodeAffinityType": [REQUIRED]}}
    assert gone([WITH, WITHOUT], [needing("wrong", "without"), needing("right", "with")], rule) == ["wrong"]
    assert gone([node("n1"), WITHOUT], [needing("nowhere", "without")], rule) == []
    full = node("with", {"wanted": "yes"}, amounts={"cpu": "50m"})
    assert gone([full, WITHOUT], [needing("no-room", "without")], rule) == []
    assert gone([WITH, WITHOUT], [pod("free", "without", nodeSelector={"wanted": "yes"})], rule) == []
    many = [needing(f"p{number}", "without") for number in range(3)]
    assert len(gone([WITH, WITHOUT], many, rule, maxNoOfPodsToEvictPerNode=1)) == 1
    assert len(gone([WITH, WITHOUT], many, rule, maxNoOfPodsToEvictPerNamespace=2)) == 2
    assert len(gone([WITH, WITHOUT], many, rule, maxNoOfPodsToEvictTotal=0)) == 0


def test_preferred() -> None:
    rule = {NAME: {"nodeAffinityType": [PREFERRED]}}
    assert gone([WITH, WITHOUT], [liking("wrong", "without"), liking("right", "with")], rule) == ["wrong"]
    assert gone([node("n1"), WITHOUT], [liking("fine", "without")], rule) == []
    closed = node("with", {"wanted": "yes"}, unschedulable=True)
    # As upstream: it would fit onto some node, its own, and another is liked better.
    assert gone([closed, WITHOUT], [liking("hopeless", "without")], rule) == ["hopeless"]
    assert gone([closed, WITHOUT], [liking("hopeless", "without")], rule, {"nodeFit": True}) == []


def test_both_and_none() -> None:
    there = [needing("needs", "without"), liking("likes", "without")]
    assert gone([WITH, WITHOUT], there, {NAME: {"nodeAffinityType": [REQUIRED, PREFERRED]}}) == [
        "likes",
        "needs",
    ]
    assert gone([WITH, WITHOUT], there, {NAME: {"nodeAffinityType": ["other"]}}) == []
