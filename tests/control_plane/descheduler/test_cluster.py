"""What is known of the cluster: changes come at once, or after a pass."""

from __future__ import annotations

import pytest

from pybernetes.control_plane.descheduler.cluster import is_ready
from tests.control_plane.descheduler.worlds import cluster, evictions, node, pod, policy


def test_nothing_changes_during_a_pass() -> None:
    state = cluster([node("n1"), node("n2")], [pod("a"), pod("b")])
    with state.still():
        state.set_pod("default/a", None)
        state.set_pod("default/c", state.read_pod(pod("c")))
        state.set_node("n2", None)
        state.set_object("namespaces", "default", {"metadata": {"name": "default"}})
        assert set(state.records) == {"default/a", "default/b"} and set(state.nodes) == {"n1", "n2"}
        assert not state.objects
    assert set(state.records) == {"default/b", "default/c"} and set(state.nodes) == {"n1"}
    assert set(state.objects["namespaces"]) == {"default"}
    with pytest.raises(ZeroDivisionError), state.still():
        state.set_pod("default/b", None)
        raise ZeroDivisionError
    assert set(state.records) == {"default/c"}


def test_the_books_of_nodes_are_kept() -> None:
    state = cluster(
        [node("n1")], [pod("a", cpu="100m"), pod("done", status={"phase": "Succeeded"}), pod("waits", on="")]
    )
    snapshot = state.snapshot
    assert snapshot.pod_count[snapshot.rows["n1"]] == 1
    state.set_pod("default/a", state.read_pod(pod("a", cpu="300m")))
    assert snapshot.requested[0, snapshot.rows["n1"]] == 300
    state.set_pod("default/a", state.read_pod(pod("a", status={"phase": "Failed"})))
    assert snapshot.pod_count[snapshot.rows["n1"]] == 0
    state.set_pod("default/a", None)
    state.set_pod("default/never-seen", None)
    state.set_node("never-seen", None)
    assert set(state.records) == {"default/done", "default/waits"}


def test_a_pass_leaves_the_books_as_they_were() -> None:
    nodes = [node("n1"), node("n2")]
    state = cluster(nodes, [pod("a"), pod("b"), pod("lost", "gone")])
    rules = policy({"PodLifeTime": {"maxPodLifeTimeSeconds": 60}})
    before = state.snapshot.pod_count.sum()
    first = [eviction.record.pod.name for eviction in evictions(state, rules)]
    # Pods of nodes that are not there are left to the garbage collector.
    assert sorted(first) == ["a", "b"]
    assert [eviction.record.pod.name for eviction in evictions(state, rules)] == first
    assert state.snapshot.pod_count.sum() == before


@pytest.mark.parametrize(
    ("conditions", "ready"),
    [
        ([], True),
        ([{"type": "Ready", "status": "True"}], True),
        ([{"type": "Ready", "status": "False"}], False),
        ([{"type": "Ready", "status": "Unknown"}], False),
        ([{"type": "DiskPressure", "status": "True"}], True),
    ],
)
def test_readiness(conditions: list[dict[str, str]], ready: bool) -> None:
    assert is_ready({"status": {"conditions": conditions}}) is ready
