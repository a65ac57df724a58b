"""The status of a node."""

from __future__ import annotations

from pybernetes.node.kubelet.node_status.node_status import conditions


def test_conditions_of_nodes() -> None:
    by_type = {
        condition["type"]: condition
        for condition in conditions([], ["a", "b"], frozenset(["DiskPressure"]), 0)
    }
    assert by_type["Ready"]["message"] == "[a, b]" and by_type["Ready"]["status"] == "False"
    assert by_type["DiskPressure"]["reason"] == "KubeletHasDiskPressure"
    again = conditions(list(by_type.values()), [], frozenset(), 60)
    assert {condition["type"]: condition["lastTransitionTime"][-4:] for condition in again} == {
        "MemoryPressure": ":00Z", "DiskPressure": ":00Z", "PIDPressure": ":00Z", "Ready": ":00Z",
    }  # fmt: skip
