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
    assert specs[1].command[:2] == ("nsenter", "--net=/run/netns/pyb-c-c")
    alone = processes.desired_processes(Cluster("c", tmp_path), Settings(nodes=nodes, host_network=True))
    assert alone[1].command[0] == "containerd"


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


def test_the_control_plane_may_do_little(tmp_path: Path) -> None:
    """Where there are no nodes it needs no network of theirs; node programs do all kinds of things."""
    cluster = Cluster("c", tmp_path)
    alone = processes.desired_processes(cluster, Settings(hollow=1))[0].capabilities
    plane, *others = processes.desired_processes(
        cluster, Settings(nodes=[NodeSettings("c", 0)], node_range="172.30.1.0/24")
    )
    assert alone is not None and plane.capabilities is not None
    assert plane.capabilities - alone == {"NET_ADMIN", "SYS_ADMIN"}
    assert (plane.umask, {other.capabilities for other in others}) == (0o077, {None})


def test_no_secret_is_on_a_command_line(tmp_path: Path) -> None:
    """Everybody on the machine can read it: there are names and paths there, and nothing of what users set."""
    settings = Settings(nodes=[NodeSettings("c", 0)], apiserver_arguments=["--token-auth-file=hunter2"])
    settings.kubelet_arguments = ["--tls-private-key-file=hunter2"]
    for spec in processes.desired_processes(Cluster("c", tmp_path), settings):
        assert not any("hunter2" in word for word in spec.command)
