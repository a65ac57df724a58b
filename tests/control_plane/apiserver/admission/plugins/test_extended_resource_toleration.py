"""ExtendedResourceToleration: what it sets, and what it refuses."""

from __future__ import annotations

from tests.control_plane.apiserver.admission.plugins.pods import (
    spec_after,
)
from tests.control_plane.apiserver.admission.world import pod, requests


def test_extended_resource_toleration() -> None:
    asked = requests({"example.com/b": "1", "example.com/a": "1", "cpu": "1"})
    old = {"key": "example.com/b", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 3}
    spec = spec_after("ExtendedResourceToleration", pod(container=asked, tolerations=[old]))
    wanted = {"operator": "Exists", "effect": "NoSchedule"}
    assert spec["tolerations"] == [{"key": "example.com/b", **wanted}, {"key": "example.com/a", **wanted}]
