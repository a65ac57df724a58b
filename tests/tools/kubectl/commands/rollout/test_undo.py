"""The patch that brings a workload back to an earlier revision."""

from __future__ import annotations

from typing import Any

from pybernetes.tools.kubectl.commands.rollout.undo import restoring

_REVISION = "deployment.kubernetes.io/revision"
_CAUSE = "kubernetes.io/change-cause"


def value(annotations: dict[str, str] | None, **template: Any) -> dict[str, Any]:
    metadata = {"name": "web", **({} if annotations is None else {"annotations": annotations})}
    return {"metadata": metadata, "spec": {"template": template}}


def test_a_deployment_gets_template_and_annotations_back() -> None:
    now = value({_REVISION: "3", _CAUSE: "third", "mine": "new"}, spec={"containers": []})
    labels = {"app": "web", "pod-template-hash": "abc"}
    then = value(
        {_REVISION: "1", _CAUSE: "first", "deployment.kubernetes.io/desired-replicas": "9"},
        metadata={"labels": labels},
    )
    assert restoring(now, then) == (
        [
            {"op": "replace", "path": "/spec/template", "value": {"metadata": {"labels": {"app": "web"}}}},
            {"op": "replace", "path": "/metadata/annotations", "value": {_REVISION: "3", _CAUSE: "first"}},
        ],
        "json",
    )  # fmt: skip


def test_a_cause_that_there_was_not_goes() -> None:
    patch, _ = restoring(value({_CAUSE: "second"}), value(None))
    assert list(patch)[1] == {"op": "replace", "path": "/metadata/annotations", "value": {}}


def test_other_workloads_get_what_their_revision_holds() -> None:
    data = {"spec": {"template": {"$patch": "replace", "spec": {}}}}
    assert restoring(value({}), {"metadata": {}, "data": data, "revision": 1}) == (data, "strategic")
