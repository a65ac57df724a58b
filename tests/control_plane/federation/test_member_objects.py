from __future__ import annotations

from typing import Any

import pytest

from pybernetes.control_plane.federation import member_objects as objects


def test_little_is_remembered() -> None:
    whole = {
        "kind": "Deployment", "apiVersion": "apps/v1",
        "metadata": {"name": "x", "namespace": "n", "uid": "u", "resourceVersion": "5", "generation": 2, "managedFields": [{"big": "x"}]},
        "spec": {"replicas": 2, "selector": {"matchLabels": {}}, "template": {"spec": {"containers": [{}]}}},
        "status": {"readyReplicas": 1},
    }  # fmt: skip
    known = objects.remembered(whole)
    assert "managedFields" not in known["metadata"] and "template" not in known["spec"]
    assert known["status"] == {"readyReplicas": 1} and objects.version(known) == "gen:2"
    assert known["content"] != objects.remembered({**whole, "spec": {"replicas": 2}})["content"]


@pytest.mark.parametrize(
    ("spec", "status", "generation", "expected"),
    [
        ({}, {}, 1, True),
        ({"replicas": 2}, {}, 1, False),
        ({"replicas": 2}, {"observedGeneration": 1, "updatedReplicas": 2, "availableReplicas": 2}, 1, True),
        ({"replicas": 2}, {"observedGeneration": 1, "updatedReplicas": 2, "availableReplicas": 2}, 2, False),
        ({"replicas": 2}, {"observedGeneration": 1, "updatedReplicas": 2, "availableReplicas": 1}, 1, False),
        ({"replicas": 2}, {"observedGeneration": 1, "updatedReplicas": 1, "availableReplicas": 2}, 1, False),
        ({"replicas": 0}, {"observedGeneration": 1}, 1, True),
    ],
)
def test_rolled_out(spec: Any, status: Any, generation: int, expected: bool) -> None:
    assert (
        objects.rolled_out({"metadata": {"generation": generation}, "spec": spec, "status": status})
        is expected
    )


def test_whose_an_object_is() -> None:
    def labelled(value: str, **meta: Any) -> dict[str, Any]:
        return {"metadata": {"labels": {"kubefed.io/managed": value}, **meta}}

    assert objects.is_managed(labelled("true")) and not objects.is_managed(labelled("false"))
    assert objects.is_kept_out(labelled("false")) and not objects.is_kept_out({"metadata": {}})
    assert objects.has_local_owner(labelled("", ownerReferences=[{"controller": True}]))
    assert not objects.has_local_owner(labelled("", ownerReferences=[{"name": "x"}]))
