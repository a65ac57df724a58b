"""cloud-controller-manager as a program: its command line, and what others refuse for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pybernetes.cmd import cloud_controller_manager, kube_controller_manager, kubelet

IN_TREE = (
    'cloud provider "aws" was specified, but built-in cloud providers are disabled. '
    "Please set --cloud-provider=external and migrate to an external cloud provider"
)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "--cloud-provider cannot be empty"),
        (["--cloud-provider=nowhere"], 'unknown cloud provider "nowhere"'),
        (["--cloud-provider=fake", "--cloud-config=/nonexistent"], 'could not init cloud provider "fake"'),
        (["--cloud-provider=fake", "--allocate-node-cidrs"], "--allocate-node-cidrs requires --cluster-cidr"),
        (["--cloud-provider=fake", "--leader-elect-resource-lock=endpoints"], "is not supported"),
        (["--cloud-provider=fake", "--port=1"], "there is no port without TLS"),
    ],
)
def test_what_cannot_be(arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cloud_controller_manager.main(arguments) == 1
    assert problem in capsys.readouterr().err


def test_an_unknown_controller(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text(
        "apiVersion: v1\nkind: Config\ncurrent-context: a\nusers: [{name: a, user: {token: t}}]\n"
        "clusters: [{name: a, cluster: {server: 'https://127.0.0.1:1'}}]\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n"
    )
    flags = ["--cloud-provider=fake", f"--kubeconfig={file}", "--controllers=*,-nothing"]
    assert cloud_controller_manager.main(flags) == 1
    assert '"nothing" is not in the list of known controllers' in capsys.readouterr().err


def test_defaults_are_upstreams() -> None:
    options = cloud_controller_manager.parser().parse_args([])
    assert options.secure_port == 10258 and options.leader_elect_resource_name == "cloud-controller-manager"
    assert options.node_status_update_frequency == 300 and options.node_monitor_period == 5
    assert options.route_reconciliation_period == 10 and options.concurrent_service_syncs == 1
    assert options.configure_cloud_routes is True and options.allocate_node_cidrs is False
    assert options.cluster_name == "kubernetes"


@pytest.mark.parametrize("program", [kubelet, kube_controller_manager])
def test_clouds_inside_are_refused_as_upstream_does(
    program: object, capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.main(["--cloud-provider=aws"]) == 1  # type: ignore[attr-defined]
    assert IN_TREE in capsys.readouterr().err
