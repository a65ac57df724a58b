"""What restarts the pods of a workload, and what cannot be restarted."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.tools.kubectl.commands.rollout.restart import ANNOTATION, patch_of
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.resources.built_in import built_in
from pybernetes.tools.kubectl.resources.info import Info

_NOW, _BEFORE = "2026-11-18T12:00:01Z", "2026-11-18T12:00:00Z"


def info(kind: str, **spec: Any) -> Info:
    return Info(built_in(kind), "default", "web", {"metadata": {"name": "web"}, "spec": spec})


def restarted(when: str) -> dict[str, Any]:
    return {"template": {"metadata": {"annotations": {ANNOTATION: when}}}}


@pytest.mark.parametrize("spec", [{}, restarted(_BEFORE)])
def test_the_time_is_what_changes(spec: dict[str, Any]) -> None:
    assert patch_of(info("Deployment", **spec), _NOW) == {"spec": restarted(_NOW)}


@pytest.mark.parametrize(
    ("kind", "spec", "message"),
    [
        ("Deployment", {"paused": True}, 'error: deployments.apps "web" can\'t restart paused deployment (run rollout resume first)'),
        ("ReplicaSet", {}, 'error: replicasets.apps "web" restarting is not supported'),
        ("Deployment", restarted(_NOW), "failed to create patch for web: if restart has already been triggered within the past"
         " second, please wait before attempting to trigger another"),
    ],
)  # fmt: skip
def test_what_is_refused(kind: str, spec: dict[str, Any], message: str) -> None:
    with pytest.raises(CommandError) as error:
        patch_of(info(kind, **spec), _NOW)
    assert error.value.message == message
