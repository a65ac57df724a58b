"""The status of a node."""

from __future__ import annotations

from pybernetes.node.kubelet.node_status.node_status import conditions


def test_conditions_of_nodes() -> None:
    found = {each["type"]: each for each in conditions([], ["a", "b"], frozenset(["DiskPressure"]), 0)}
    assert found["Ready"]["message"] == "[a, b]" and found["Ready"]["status"] == "False"
    assert found["DiskPressure"]["reason"] == "KubeletHasDiskPressure"
    again = conditions(list(found.values()), [], frozenset(), 60)
    assert {each["type"]: each["lastTransitionTime"][-4:] for each in again} == {
        "MemoryPressure": ":00Z", "DiskPressure": ":00Z", "PIDPressure": ":00Z", "Ready": ":00Z",
    }  # fmt: skip
