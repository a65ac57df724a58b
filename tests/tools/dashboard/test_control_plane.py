"""What the control plane tells of itself: components from pods, indicators from pages of metrics."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.tools.dashboard.control_plane import (
    availability,
    components,
    has_store,
    members_elsewhere,
    service_levels,
)

_BUCKET = 'apiserver_request_sli_duration_seconds_bucket{verb="%s",scope="%s",resource="pods",subresource="",le="%s"} %d'


def test_members_of_etcd_are_components() -> None:
    def pod(
        component: str, node: str, ready: bool = True, restarts: int = 0, **annotations: str
    ) -> dict[str, Any]:
        meta = {
            "name": f"{component}-{node}", "namespace": "kube-system", "labels": {"component": component}, "annotations": annotations,
        }  # fmt: skip
        statuses = [{"ready": ready, "restartCount": restarts}]
        return {"metadata": meta, "spec": {"nodeName": node}, "status": {"containerStatuses": statuses}}

    address = {"kubeadm.kubernetes.io/etcd.advertise-client-urls": "https://10.0.0.2:2379"}
    pods: list[dict[str, Any]] = [
        pod("kube-scheduler", "a"),
        pod("etcd", "b", False, 3, **address),
        pod("etcd", "a"),
        {"metadata": {"name": "x"}},
        {},
    ]
    shown = components(pods)
    assert [(one["component"], one["node"], one["ready"], one["restarts"], one["address"]) for one in shown] == [
        ("etcd", "a", True, 0, ""), ("etcd", "b", False, 3, "https://10.0.0.2:2379"), ("kube-scheduler", "a", True, 0, ""),
    ]  # fmt: skip


def _status(name: str, healthy: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "conditions": [{"type": "Healthy", "status": healthy}]}


_SERVER = {
    "spec": {"containers": [{"command": ["kube-apiserver", "--etcd-servers=https://a:2379,https://b:2379"]}]}
}


@pytest.mark.parametrize(
    ("pods", "statuses", "members"),
    [
        ([], [], []),
        ([_SERVER], [], [("a:2379", "https://a:2379", None), ("b:2379", "https://b:2379", None)]),
        ([_SERVER, _SERVER], [_status("etcd-0", "True")], [("a:2379", "https://a:2379", True), ("b:2379", "https://b:2379", True)]),
        ([_SERVER], [_status("etcd-0", "False")], [("a:2379", "https://a:2379", False), ("b:2379", "https://b:2379", False)]),
        ([], [_status("etcd-0", "True"), _status("scheduler", "False")], [("etcd-0", "", True)]),
        ([{"spec": {"containers": [5]}}, {}], [{}, {"metadata": {"name": "etcd-1"}}, 5], []),
    ],
)  # fmt: skip
def test_members_of_an_etcd_outside(pods: list[Any], statuses: list[Any], members: list[Any]) -> None:
    shown = members_elsewhere(pods, statuses)
    assert [(one["name"], one["address"], one["ready"]) for one in shown] == members
    assert has_store(shown) == bool(members) and not has_store([{"component": "kube-apiserver"}])


def test_indicators_of_the_page_of_metrics() -> None:
    lines = [
        _BUCKET % ("POST", "resource", "0.1", 90), _BUCKET % ("POST", "resource", "2", 100), _BUCKET % ("POST", "resource", "+Inf", 100),
        _BUCKET % ("LIST", "cluster", "0.1", 5), _BUCKET % ("LIST", "cluster", "+Inf", 5),
        _BUCKET % ("GET", "resource", "0.1", 0), _BUCKET % ("GET", "resource", "+Inf", 0),
        'apiserver_storage_size_bytes{storage_cluster_id="etcd-0"} 2048', "apiserver_other_total 5",
    ]  # fmt: skip
    levels = service_levels("\n".join(lines))
    indicators = {one["name"]: one for one in levels["indicators"]}
    write, read = (
        indicators["API calls that change objects, 99 %"],
        indicators["API calls that read a namespace or a cluster, 99 %"],
    )
    assert (write["met"], write["count"], write["objective"]) == (False, 100, 1.0) and 1 < write[
        "seconds"
    ] <= 2
    assert read["met"] and len(indicators) == 2 and levels["storage"] == 2048


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", None),
        ('kubernetes_healthchecks_total{name="ping",status="success",type="readyz"} 3', 1.0),
        (
            'kubernetes_healthchecks_total{name="ping",status="success",type="readyz"} 3\n'
            'kubernetes_healthchecks_total{name="etcd",status="error",type="readyz"} 1',
            0.75,
        ),
        ('kubernetes_healthchecks_total{name="ping",status="success",type="readyz"} NaN', None),
    ],
)
def test_which_part_of_the_checks_was_passed(text: str, part: float | None) -> None:
    assert availability(text) == part


@given(
    st.text()
    | st.lists(
        st.sampled_from(
            ["apiserver_storage_size_bytes{} ", "kubernetes_healthchecks_total{", '"', "} 1", "\n"]
        )
    ).map("".join)
)
def test_any_page_may_come(text: str) -> None:
    assert isinstance(service_levels(text)["indicators"], list)
    availability(text)
