"""The pod of a node."""

from __future__ import annotations

from pybernetes.api.core.pod.daemon_tolerations import tolerations
from pybernetes.control_plane.controllers.daemonset.template import node_of, pod_for
from tests.control_plane.controllers.daemonset.daemon_sets import NEW, daemon_set


def test_a_new_pod_can_go_to_its_node_only() -> None:
    given = daemon_set(pod={"hostNetwork": True, "affinity": {"podAffinity": {"x": 1}}})
    created = pod_for(given, "n7", NEW, {"name": "agent"})
    assert node_of(created) == "n7"
    assert created["spec"]["affinity"]["podAffinity"] == {"x": 1}
    assert created["metadata"]["labels"] == {
        "app": "web",
        "controller-revision-hash": NEW,
        "pod-template-generation": "4",
    }
    assert {toleration["key"].partition("/")[2] for toleration in created["spec"]["tolerations"]} == {
        "not-ready", "unreachable", "disk-pressure", "memory-pressure", "pid-pressure", "unschedulable",
        "network-unavailable",
    }  # fmt: skip


def test_tolerations_are_not_doubled() -> None:
    own = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"}
    assert len(tolerations({"tolerations": [own]})) == 6
    assert len(tolerations({"tolerations": [{"operator": "Exists"}]})) == 7
