"""RuntimeClass: what it sets, and what it refuses."""

from __future__ import annotations

import pytest

from tests.control_plane.apiserver.admission.plugins.pods import (
    FORBIDDEN,
    refusal,
    spec_after,
)
from tests.control_plane.apiserver.admission.world import Object, pod

CLASS = ("node.k8s.io", "runtimeclasses", {
    "metadata": {"name": "rc"}, "handler": "h", "overhead": {"podFixed": {"cpu": "100m"}},
    "scheduling": {"nodeSelector": {"a": "b"}, "tolerations": [{"key": "k", "operator": "Exists"}]},
})  # fmt: skip


PLAIN = ("node.k8s.io", "runtimeclasses", {"metadata": {"name": "plain"}, "handler": "h"})


def test_runtime_class() -> None:
    tolerations = [{"key": "k", "operator": "Equal", "value": "v"}]
    given = pod(
        runtimeClassName="rc", overhead={"cpu": "0.1"}, nodeSelector={"x": "y"}, tolerations=tolerations
    )
    spec = spec_after("RuntimeClass", given, CLASS)
    assert spec["overhead"] == {"cpu": "100m"} and spec["nodeSelector"] == {"x": "y", "a": "b"}
    assert spec["tolerations"] == [{"key": "k", "operator": "Exists"}]
    assert (
        spec_after("RuntimeClass", pod(runtimeClassName="plain"), PLAIN)
        == pod(runtimeClassName="plain")["spec"]
    )


MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"


WITHOUT = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"runtimeClassName": "nope"}, 'pod rejected: RuntimeClass "nope" not found'),
        ({"runtimeClassName": "rc", "overhead": {"cpu": "1"}}, MISMATCH),
        ({"overhead": {"cpu": "1"}}, WITHOUT),
        ({"runtimeClassName": "plain", "overhead": {"cpu": "1"}}, WITHOUT),
        (
            {"runtimeClassName": "rc", "nodeSelector": {"a": "c"}},
            "conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = c",
        ),
    ],
)
def test_runtime_class_refuses(given: Object, message: str) -> None:
    assert refusal("RuntimeClass", pod(**given), CLASS, PLAIN) == FORBIDDEN + message
