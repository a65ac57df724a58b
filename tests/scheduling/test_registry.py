"""Which plugins there are."""

from __future__ import annotations

from pybernetes.scheduling.registry import known_plugins


def test_the_plugins_are_all_there() -> None:
    assert sorted(known_plugins()) == [
        "DefaultBinder", "DefaultPreemption", "ImageLocality", "InterPodAffinity", "NodeAffinity", "NodeName", "NodePorts",
        "NodeResourcesBalancedAllocation", "NodeResourcesFit", "NodeUnschedulable", "PodTopologySpread", "PrioritySort",
        "SchedulingGates", "TaintToleration", "VolumeBinding", "VolumeRestrictions", "VolumeZone",
    ]  # fmt: skip
