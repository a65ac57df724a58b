"""Pods of the API server."""

from __future__ import annotations

from pybernetes.node.kubelet.pod_kinds import SOURCE, is_critical, is_static
from pybernetes.node.kubelet.pod_sources.api_pods import from_api
from tests.node.kubelet.pods import pod


def test_no_pod_of_the_api_is_static_because_it_says_so() -> None:
    """Static pods are not evicted, and others are preempted for them."""
    for claim in ("file", "http", ""):
        made = pod()
        made["metadata"] |= {"annotations": {SOURCE: claim, "a": "b"}, "managedFields": [{}]}
        seen = from_api(made)
        assert not is_static(seen) and not is_critical(seen)
        assert seen["metadata"]["annotations"] == {SOURCE: "api", "a": "b"}
        assert "managedFields" not in seen["metadata"]
