"""Static pods of a URL."""

from __future__ import annotations

import pytest

from pybernetes.lib.clock import ManualClock
from pybernetes.node.kubelet.pod_sources.static_pod_url import StaticPodUrl


def test_static_pods_of_a_url() -> None:
    source = StaticPodUrl("http://x/pods", {}, "Node1", ManualClock(), lambda pods: None)
    listed = "kind: PodList\nitems:\n- {metadata: {name: a}, spec: {containers: [{name: c, image: i}]}}\n"
    (pod,) = source.parse(listed.encode()).values()
    assert (pod["metadata"]["name"], pod["metadata"]["namespace"]) == ("a-node1", "default")
    assert pod["metadata"]["annotations"]["kubernetes.io/config.source"] == "http"
    assert "tolerations" not in pod["spec"] and pod["spec"]["nodeName"] == "Node1"
    single = "kind: Pod\nmetadata: {name: a, uid: u}\nspec: {containers: [{name: c, image: i}]}\n"
    assert list(source.parse(single.encode())) == ["u"]
    for wrong in ("- 1", "kind: Pod\nmetadata: {}\nspec: {}\n", "kind: Service\n"):
        with pytest.raises(ValueError):
            source.parse(wrong.encode())
