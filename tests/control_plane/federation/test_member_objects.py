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


def counts(replicas: int = 0, updated: int = 0, available: int = 0, observed: int = 1) -> dict[str, int]:
    """Return the status of a workload, which leaves out what is zero."""
    given = {"replicas": replicas, "updatedReplicas": updated, "availableReplicas": available}
    return {"observedGeneration": observed, **{name: count for name, count in given.items() if count}}


@pytest.mark.parametrize(
    ("kind", "wanted", "status", "expected"),
    [
        ("ConfigMap", None, {}, True),
        ("Deployment", 2, {}, False),
        ("Deployment", 2, counts(2, 2, 2), True),
        ("Deployment", 2, counts(2, 2, 2, observed=0), False),
        ("Deployment", 2, counts(2, 2, 1), False),
        ("Deployment", 2, counts(3, 1, 2), False),
        ("Deployment", 2, counts(2, 0, 2), False),  # the change was seen, and no pod is replaced yet
        ("Deployment", 1, counts(2, 1, 1), False),  # the old pod is the one that is available
        ("Deployment", 2, {**counts(2, 2), "readyReplicas": 2}, False),  # not for long enough
        ("Deployment", 0, counts(), True),
        ("Deployment", 0, counts(1), False),
        ("StatefulSet", 2, counts(2, 0, 2), False),
        ("StatefulSet", 2, counts(2, 2, 2), True),
        ("ReplicaSet", 2, counts(2, 0, 2), True),
        ("ReplicaSet", 2, counts(2, 0, 1), False),
    ],
)
def test_rolled_out(kind: str, wanted: int | None, status: Any, expected: bool) -> None:
    spec = {} if wanted is None else {"replicas": wanted}
    assert (
        objects.rolled_out({"kind": kind, "metadata": {"generation": 1}, "spec": spec, "status": status})
        is expected
    )


def test_whose_an_object_is() -> None:
    def labelled(value: str, **meta: Any) -> dict[str, Any]:
        return {"metadata": {"labels": {"kubefed.io/managed": value}, **meta}}

    assert objects.is_managed(labelled("true")) and not objects.is_managed(labelled("false"))
    assert objects.is_kept_out(labelled("false")) and not objects.is_kept_out({"metadata": {}})
    assert objects.has_local_owner(labelled("", ownerReferences=[{"controller": True}]))
    assert not objects.has_local_owner(labelled("", ownerReferences=[{"name": "x"}]))
