"""Pod: what updates may change."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.core.pod.pod import RESOURCE
from pybernetes.api.core.pod.prepare import prepare_ephemeral_containers
from pybernetes.api.core.pod.validation.update import validate_ephemeral_containers_update
from pybernetes.api.field import Errors
from pybernetes.api.resource import Object
from tests.api.core.pod.pods import changed, make

OLD = make(
    initContainers=[{"name": "i", "image": "x"}],
    activeDeadlineSeconds=100,
    tolerations=[{"key": "k", "operator": "Exists", "tolerationSeconds": 1, "effect": "NoExecute"}],
)
GATED = make(schedulingGates=[{"name": "g"}], nodeSelector={"a": "b"})
FORBIDDEN = "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"


@pytest.mark.parametrize(
    ("old", "path", "value", "expected"),
    [
        (OLD, "spec.containers.0.image", "other", []),
        (OLD, "spec.initContainers.0.image", "other", []),
        (OLD, "spec.hostNetwork", False, []),
        (OLD, "spec.activeDeadlineSeconds", 50, []),
        (OLD, "spec.activeDeadlineSeconds", 200,
         ["spec.activeDeadlineSeconds: Invalid value: 200: must be less than or equal to previous value"]),
        (OLD, "spec.activeDeadlineSeconds", None,
         ["spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value"]),
        (OLD, "spec.tolerations", [*OLD["spec"]["tolerations"], {"key": "n", "operator": "Exists"}], []),
        (OLD, "spec.tolerations.0.tolerationSeconds", 5, []),
        (OLD, "spec.tolerations", [],
         ["spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"]),
        (OLD, "spec.schedulingGates", [{"name": "n"}],
         ["spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'n'"]),
        (OLD, "spec.containers", [],
         ["spec.containers: Forbidden: pod updates may not add or remove containers"]),
        (OLD, "spec.containers.0.command", ["x"], [FORBIDDEN]),
        (OLD, "spec.nodeName", "n", [FORBIDDEN]),
        (OLD, "metadata.annotations", {"kubernetes.io/config.mirror": "x"},
         ["metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not add mirror pod annotation"]),
        (GATED, "spec.schedulingGates", None, []),
        (GATED, "spec.nodeSelector", {"a": "b", "c": "d"}, []),
        (GATED, "spec.nodeSelector", {"a": "c"},
         ['spec.nodeSelector: Invalid value: {"a":"c"}: only additions to spec.nodeSelector are allowed '
          "(no mutations or deletions)"]),
        (GATED, "spec.affinity", {"nodeAffinity": {}}, []),
        (OLD, "spec.affinity", {"nodeAffinity": {}}, [FORBIDDEN]),
    ],
)  # fmt: skip
def test_update(old: Object, path: str, value: Any, expected: list[str]) -> None:
    new = changed(old, path, value)
    assert RESOURCE.prepare_update and RESOURCE.validate_update
    RESOURCE.prepare_update(new, old)
    errors = Errors()
    RESOURCE.validate_update(new, old, errors)
    messages = [str(error) for error in errors]
    assert len(messages) == len(expected)
    assert all(text.startswith(start) for text, start in zip(messages, expected, strict=True))


def test_the_difference_is_told() -> None:
    errors = Errors()
    assert RESOURCE.validate_update
    RESOURCE.validate_update(changed(OLD, "spec.hostname", "new"), OLD, errors)
    assert '\n- "Hostname": "",\n+ "Hostname": "new",\n' in str(errors[0])


def test_ephemeral_containers() -> None:
    old = make({"generation": 1})
    debug = {"name": "d", "image": "busybox", "resources": {}, "imagePullPolicy": "Always",
             "terminationMessagePolicy": "File"}  # fmt: skip
    new = changed(changed(old, "spec.ephemeralContainers", [debug]), "spec.hostname", "ignored")
    prepare_ephemeral_containers(new, old)
    errors = Errors()
    validate_ephemeral_containers_update(new, old, errors)
    assert not errors
    assert "hostname" not in new["spec"]
    assert new["metadata"]["generation"] == 2
    validate_ephemeral_containers_update(old, new, errors)
    assert str(errors[0]).startswith(
        'spec.ephemeralContainers: Forbidden: existing ephemeral containers "d" may not be removed'
    )
