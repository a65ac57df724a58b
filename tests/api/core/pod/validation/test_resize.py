"""Pod: what a resize may change."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.core.pod.pod import RESOURCE
from pybernetes.api.core.pod.prepare import prepare_resize
from pybernetes.api.core.pod.validation.resize import validate_resize
from pybernetes.api.field import Errors
from tests.api.core.pod.pods import CONTAINER, changed, make

RESIZABLE = make(
    {"generation": 1},
    containers=[
        {**CONTAINER, "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "2"}}}
    ],
)


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("spec.containers.0.resources.requests", {"cpu": "1500m", "memory": "1Gi"}, []),
        ("spec.containers.0.image", "ignored", []),
        ("spec.containers.0.resources.requests", {"cpu": "1"},
         ["spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed"]),
        ("spec.containers.0.resources", {"requests": {"cpu": "2", "memory": "1Gi"},
                                         "limits": {"cpu": "2", "memory": "1Gi"}},
         ['spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing']),
        ("spec.containers.0.resources.requests", {"cpu": "1", "memory": "1Gi", "ephemeral-storage": "1"},
         ["spec: Forbidden: only cpu and memory resources are mutable"]),
        ("spec.containers.0.name", "b",
         ["spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize"]),
        ("spec.containers", [RESIZABLE["spec"]["containers"][0], {"name": "b", "image": "c"}],
         ["spec.containers: Forbidden: containers may not be added or removed on resize"]),
    ],
)  # fmt: skip
def test_resize(path: str, value: Any, expected: list[str]) -> None:
    new = changed(RESIZABLE, path, value)
    assert RESOURCE.default
    RESOURCE.default(new)
    prepare_resize(new, RESIZABLE)
    errors = Errors()
    validate_resize(new, RESIZABLE, errors)
    assert [str(error) for error in errors] == expected
