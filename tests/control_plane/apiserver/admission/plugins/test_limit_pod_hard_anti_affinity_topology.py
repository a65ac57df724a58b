"""LimitPodHardAntiAffinityTopology: what it sets, and what it refuses."""

from __future__ import annotations

from tests.control_plane.apiserver.admission.plugins.pods import (
    FORBIDDEN,
    refusal,
)
from tests.control_plane.apiserver.admission.world import Object, pod


def test_hard_anti_affinity_is_for_hosts_alone() -> None:
    def given(key: str) -> Object:
        terms = [{"topologyKey": key, "labelSelector": {}}]
        return pod(affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}})

    plugin = "LimitPodHardAntiAffinityTopology"
    assert not refusal(plugin, given("kubernetes.io/hostname")) and not refusal(plugin, pod())
    assert refusal(plugin, given("zone")) == (
        FORBIDDEN + "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key "
        "kubernetes.io/hostname is allowed"
    )
