"""What is reported of a pod, and what is counted meanwhile, without a node."""

from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.lib import rfc3339
from pybernetes.lib.clock import Clock
from pybernetes.node.kubelet.metrics import KubeletMetrics
from pybernetes.node.kubelet.pod import pod_view
from pybernetes.node.kubelet.pod.pod_view import PodView, init_seconds
from pybernetes.node.kubelet.pod.start_steps import StartSteps

NOW = 1_000_000.0
INIT = {
    "name": "i",
    "state": {"terminated": {"startedAt": rfc3339.seconds(NOW - 6), "finishedAt": rfc3339.seconds(NOW - 3)}},
}


def test_the_start_of_a_pod_is_counted_once_without_pulls_and_init_containers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    status: Any = {"phase": "Pending", "initContainerStatuses": [INIT]}
    known: dict[str, Any] = {}
    metrics, moments = KubeletMetrics(), iter((100.0, 107.0))  # seen, running
    context: Any = SimpleNamespace(
        clock=SimpleNamespace(now=lambda: NOW, monotonic=moments.__next__),
        metrics=metrics,
        images=SimpleNamespace(pull_seconds=lambda uid: 2.0),
        starts=StartSteps(Clock()),
    )
    statuses: Any = SimpleNamespace(
        get=known.get, set=lambda pod, status: known.update({pod["metadata"]["uid"]: status})
    )
    pod = {
        "metadata": {"uid": "u", "name": "n", "namespace": "x", "creationTimestamp": rfc3339.seconds(NOW - 10)},
        "spec": {"containers": []},
    }  # fmt: skip
    view = PodView(context, statuses, pod)
    monkeypatch.setattr(pod_view, "pod_status", lambda *given: dict(status))
    monkeypatch.setattr(view, "_inputs", lambda ended: None)
    view.report()
    assert not metrics.histograms
    status["phase"] = "Running"
    view.report()
    view.report()
    seen = {name: (sum(by[()].counts), by[()].total) for name, by in metrics.histograms.items()}
    assert seen == {
        "kubelet_pod_start_duration_seconds": (1, 7.0),
        "kubelet_pod_start_total_duration_seconds": (1, 10.0),
        "kubelet_pod_start_sli_duration_seconds": (1, 5.0),
    }


def test_init_containers_that_run_count_for_nothing_yet() -> None:
    assert init_seconds({"initContainerStatuses": [INIT, {"name": "j", "state": {"running": {}}}]}) == 3.0
