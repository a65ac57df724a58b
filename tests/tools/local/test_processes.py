"""Which processes the settings of a cluster mean."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from pybernetes.tools.local import processes
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import NodeSettings, Settings


def test_a_stopped_node_runs_nothing(tmp_path: Path) -> None:
    nodes = [NodeSettings("c", 0), NodeSettings("c-2", 1, stopped=True)]
    specs = processes.desired_processes(Cluster("c", tmp_path), Settings(nodes=nodes))
    assert [spec.name for spec in specs] == ["control-plane", "containerd-c", "node-c"]
    inside = ("--uts=/run/pybernetes/c/machines/c.uts", "--mount=/run/pybernetes/c/machines/c.mnt", "--")
    assert specs[1].command[:6] == ("nsenter", "--net=/run/netns/pyb-c-c", *inside, "containerd")
    alone = processes.desired_processes(Cluster("c", tmp_path), Settings(nodes=nodes, host_network=True))
    assert alone[1].command[:5] == ("nsenter", *inside, "containerd")


def test_a_connected_cluster_keeps_its_ways(tmp_path: Path) -> None:
    cluster, nodes = Cluster("c", tmp_path), [NodeSettings("c", 0)]
    known = Settings(nodes=nodes, node_range="172.30.1.0/24", connected=["d"])
    names = [spec.name for spec in processes.desired_processes(cluster, known)]
    assert names == ["control-plane", "host", "links", "containerd-c", "node-c"]
    known.host_network = True
    assert "links" not in [spec.name for spec in processes.desired_processes(cluster, known)]


def test_nobody_lends_us_modules(tmp_path: Path) -> None:
    """A file in the folder in which the user stands is no module of ours."""
    for name in ("pybernetes", "asyncio", "uvloop", "argparse"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('planted')")
    done = subprocess.run(
        processes.pyb("version"), cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0 and "planted" not in done.stderr
    specs = processes.desired_processes(Cluster("c", tmp_path), Settings(nodes=[NodeSettings("c", 0)]))
    ours = [spec.command for spec in specs if sys.executable in spec.command]
    assert len(ours) == 2 and all("-P" in command for command in ours)


def test_the_control_plane_may_do_nothing_that_other_users_may_not(tmp_path: Path) -> None:
    """But for what its files and its port ask for; a small process beside it does what nodes need of the host."""
    cluster, nodes = Cluster("c", tmp_path), [NodeSettings("c", 0)]
    assert (
        processes.desired_processes(cluster, Settings(hollow=1, user=7, port=6443))[0].capabilities
        == frozenset()
    )
    settings = Settings(nodes=nodes, node_range="172.30.1.0/24", user=7, port=443)
    plane, host, *others = processes.desired_processes(cluster, settings, closed=True)
    assert (plane.user, plane.umask, host.user) == (7, 0o077, 0)
    assert plane.capabilities == frozenset({"NET_BIND_SERVICE", "DAC_READ_SEARCH"})
    assert host.capabilities == frozenset(
        {"DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "NET_ADMIN", "SYS_ADMIN"}
    )
    assert {(other.user, other.capabilities) for other in others} == {(0, None)}


def test_where_nobody_can_become_another_user_it_may_do_little(tmp_path: Path) -> None:
    plane = processes.desired_processes(Cluster("c", tmp_path), Settings(hollow=1))[0]
    assert (plane.user, plane.capabilities) == (0, frozenset({"DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER"}))


def test_no_secret_is_on_a_command_line(tmp_path: Path) -> None:
    """Everybody on the machine can read it: there are names and paths there, and nothing of what users set."""
    settings = Settings(nodes=[NodeSettings("c", 0)], apiserver_arguments=["--token-auth-file=hunter2"])
    settings.kubelet_arguments = ["--tls-private-key-file=hunter2"]
    for spec in processes.desired_processes(Cluster("c", tmp_path), settings):
        assert not any("hunter2" in word for word in spec.command)
