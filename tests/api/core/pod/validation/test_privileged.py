"""A cluster without privileged containers."""

from __future__ import annotations

import pytest

from pybernetes.api.core.pod.validation.privileged import without_privileged
from pybernetes.api.field import Errors
from pybernetes.api.registry import builtin
from pybernetes.api.resource import Object
from tests.api.examples import example

KINDS = {resource.kind: resource for resource in without_privileged(builtin()) if resource.version == "v1"}
PATHS = {
    "Pod": "spec",
    "PodTemplate": "template.spec",
    "ReplicationController": "spec.template.spec",
    "Deployment": "spec.template.spec",
    "DaemonSet": "spec.template.spec",
    "StatefulSet": "spec.template.spec",
    "ReplicaSet": "spec.template.spec",
    "Job": "spec.template.spec",
    "CronJob": "spec.jobTemplate.spec.template.spec",
}


@pytest.mark.parametrize("kind", PATHS)
@pytest.mark.parametrize("privileged", [True, False])
def test_every_kind_with_pods(kind: str, privileged: bool) -> None:
    resource = KINDS[kind]
    obj = example(resource.api_version, kind)
    spec: Object = obj
    for name in PATHS[kind].split("."):
        spec = spec[name]
    spec["containers"][0]["securityContext"] = {"privileged": privileged}
    if resource.default is not None:
        resource.default(obj)
    errors = Errors()
    assert resource.validate is not None
    resource.validate(obj, errors)
    text = f"{PATHS[kind]}.containers[0].securityContext.privileged: Forbidden: disallowed by cluster policy"
    assert (text in [str(error) for error in errors]) is privileged
