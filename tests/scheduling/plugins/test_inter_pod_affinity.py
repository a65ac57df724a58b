"""InterPodAffinity: what the random tests cannot show."""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Object
from tests.scheduling.asking import put, refused, world
from tests.scheduling.builders import node, pod


def term(key: str, selector: Object | None, **more: Any) -> Object:
    return {"topologyKey": key, "labelSelector": selector, **more}


def test_terms_by_namespace() -> None:
    ours = world(node("a"), node("b"))
    ours.object("namespaces", {"metadata": {"name": "red", "labels": {"team": "red"}}})
    there = pod("there", labels={"app": "x"})
    there["metadata"]["namespace"] = "red"
    put(ours, "a", there)

    def placed(**more: Any) -> set[str]:
        terms = [term("kubernetes.io/hostname", {"matchLabels": {"app": "x"}}, **more)]
        anti = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
        return set(refused(ours, "InterPodAffinity", pod("p", affinity=anti)))

    assert placed() == set()
    assert placed(namespaces=["red"]) == {"a"}
    assert placed(namespaceSelector={}) == {"a"}
    assert placed(namespaceSelector={"matchLabels": {"team": "red"}}) == {"a"}
    assert placed(namespaceSelector={"matchLabels": {"team": "blue"}}) == set()
    ours.object("namespaces", {"metadata": {"name": "red", "labels": {"team": "blue"}}})
    assert placed(namespaceSelector={"matchLabels": {"team": "blue"}}) == {"a"}
