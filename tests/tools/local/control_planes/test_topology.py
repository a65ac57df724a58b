"""What machines a cluster with several control planes has, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.tools.local import processes
from pybernetes.tools.local.control_planes import configuration, external_etcd, topology
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import CONTROL_PLANE, Settings, SettingsError


def decided(**changes: Any) -> Settings:
    return topology.decide("x", Settings(), {"control_planes": 3, "nodes": 2, **changes}, new=True)


def test_machines_have_roles_and_one_address() -> None:
    settings = decided()
    assert [node.role for node in settings.nodes] == [CONTROL_PLANE] * 3 + [""] * 2
    assert (settings.etcd, settings.load_balancer, settings.port) == ("stacked", "l4", 8443)
    plan = topology.plan(settings)
    assert plan.address == settings.address and [server.name for server in plan.servers] == [
        "x",
        "x-2",
        "x-3",
    ]


def test_an_external_etcd_has_machines_of_its_own() -> None:
    settings = decided(etcd="external")
    members = topology.etcd_machines(settings)
    assert len(members) == 3 and settings.workers == 2
    words = external_etcd.command(settings, members[0])
    assert "--initial-cluster-state=new" in words
    (initial,) = [word for word in words if word.startswith("--initial-cluster=")]
    assert all(member.name in initial for member in members)
    specs = processes.desired_processes(Cluster("x"), settings)
    assert sum(spec.name.startswith("etcd-") for spec in specs) == 3
    assert sum(spec.name.startswith("containerd-") for spec in specs) == 5
    assert len(external_etcd.configuration(settings)["endpoints"]) == 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"etcd": "embedded"}, "serves one API server alone"),
        ({"etcd": "zookeeper"}, "'zookeeper' is none of"),
        ({"load_balancer": "l5"}, "'l5' is none of l4, l7"),
        ({"control_planes": 9}, "not between 1 and 7"),
        ({"hollow": 3}, "--hollow is not for clusters with --control-planes"),
        ({"proxy_mode": "ipvs"}, "--proxy-mode is not for"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        decided(**changes)


@pytest.mark.parametrize(
    "changes", [{"control_planes": 5}, {"etcd": "external"}, {"load_balancer": "l7"}, {"nodes": 3}]
)
def test_a_cluster_stays_what_it_is(changes: dict[str, Any]) -> None:
    settings = decided()
    assert (
        topology.decide("x", settings, {"control_planes": 3, "nodes": 2}, new=False).nodes == settings.nodes
    )
    with pytest.raises(SettingsError):
        topology.decide("x", settings, changes, new=False)


def test_control_planes_get_the_key_of_certificates_and_workers_do_not() -> None:
    settings = decided()
    invitation = configuration.Invitation("abcdef.0123456789abcdef", ("sha256:00",), "k" * 64)
    (control_plane,) = configuration.joining("x", settings, settings.nodes[1], invitation)
    (worker,) = configuration.joining("x", settings, settings.nodes[3], invitation)
    assert control_plane["controlPlane"]["certificateKey"] == "k" * 64
    assert "controlPlane" not in worker and "k" * 64 not in str(worker)
    _, cluster, _ = configuration.initial("x", settings, settings.nodes[0], "t", "k")
    assert cluster["controlPlaneEndpoint"] == f"{settings.address}:8443" and "etcd" not in cluster
