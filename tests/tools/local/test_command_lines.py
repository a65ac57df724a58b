"""The command lines of a local cluster's parts: programs take them, and scanners find what they look for."""

from __future__ import annotations

from pathlib import Path

from pybernetes.cmd import kube_apiserver, kube_controller_manager, kube_scheduler
from pybernetes.node.proxy import flags as proxy_flags
from pybernetes.tools.local import command_lines
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import Settings


def test_every_program_takes_its_own(tmp_path: Path) -> None:
    cluster, settings = Cluster("c", tmp_path), Settings(address="172.30.0.1", port=6443)
    server = kube_apiserver.parser().parse_args(command_lines.apiserver(cluster, settings))
    assert (server.bind_address, server.secure_port) == ("172.30.0.1", 6443)
    manager = kube_controller_manager.parser().parse_args(command_lines.controller_manager(cluster, settings))
    assert (manager.bind_address, manager.secure_port, manager.profiling) == ("172.30.0.1", 10257, False)
    scheduler = kube_scheduler.parser().parse_args(command_lines.scheduler(cluster, settings))
    assert (scheduler.secure_port, scheduler.leader_elect) == (10259, False)
    proxy = proxy_flags.parser("").parse_args(command_lines.kube_proxy(settings, "n"))
    assert proxy.hostname_override == "n"


def test_no_cipher_is_cbc() -> None:
    assert command_lines.CIPHERS and "CBC" not in command_lines.CIPHERS
    assert all("_ECDHE_" in name for name in command_lines.CIPHERS.split(","))


def test_admission_plugins_of_the_user_come_beside_ours(tmp_path: Path) -> None:
    own = ["--enable-admission-plugins=AlwaysPullImages,NodeRestriction", "--anonymous-auth=false"]
    settings = Settings(deny_external_ips=True, apiserver_arguments=own)
    flags = command_lines.apiserver(Cluster("c", tmp_path), settings)
    assert flags[-2:] == [
        "--enable-admission-plugins=NodeRestriction,DenyServiceExternalIPs,AlwaysPullImages",
        "--anonymous-auth=false",
    ]


def test_health_is_not_shown_to_every_network(tmp_path: Path) -> None:
    assert command_lines.health_address(Settings(address="0.0.0.0")) == "127.0.0.1"
