"""Machines: namespaces that look like a host of their own, of which the host sees nothing."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pybernetes.lib.files import trees
from pybernetes.tools.local.nodes import machine_mounts
from pybernetes.tools.local.nodes.machine import Machine, with_descendants
from pybernetes.tools.local.nodes.node import Node
from pybernetes.tools.local.paths import Cluster
from tests.support import require_program, require_root, until

NAME = f"machine-{os.getpid()}"


def test_descendants() -> None:
    parents = {2: 1, 3: 2, 4: 3, 5: 1, 6: 5}
    assert with_descendants({2}, parents) == {2, 3, 4}
    assert with_descendants({3, 5}, parents) == {3, 4, 5, 6}
    assert with_descendants((), parents) == set()


def test_only_the_outermost_mounts_show_through() -> None:
    points = {"/etc", "/etc/a", "/etc/a/b", "/etc/a b", "/etcetera", "/var/lib"}
    assert list(machine_mounts._outermost("/etc", points)) == ["/etc/a", "/etc/a b"]


class Pair:
    """Two machines of one cluster."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.run = folder, Path("/run/pybernetes") / NAME
        self.machines = [Machine(f"n{number}", folder / f"n{number}", self.run) for number in (1, 2)]
        self.plugins = folder / "plugins"
        self.plugins.mkdir()
        (self.plugins / "bridge").write_text("plugin")

    def create(self) -> None:
        for machine in self.machines:
            shared = self.run / machine.name
            shared.mkdir(parents=True, exist_ok=True)
            machine.create({"/run/containerd": shared}, self.folder, self.plugins)

    def delete(self) -> None:
        for machine in self.machines:
            machine.delete()


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    require_root()
    require_program("nsenter")
    folder = tmp_path / "with space, and comma: all"
    folder.mkdir()
    machines = Pair(folder)
    try:
        machines.create()
        yield machines
    finally:
        machines.delete()
        trees.remove_path(machines.run)
    assert str(machines.run) not in Path("/proc/self/mountinfo").read_text(errors="replace")


def test_each_node_asks_its_own_network_about_policies(pair: Pair) -> None:
    """What a node of the same host has there is not what another one asks, or removes when it ends."""
    socket = Node(Cluster(NAME, pair.folder), "n1").policy_socket
    for machine in pair.machines:
        sh(machine, f"echo {machine.name} > {socket}")
    assert [sh(machine, f"cat {socket}").strip() for machine in pair.machines] == ["n1", "n2"]


def sh(machine: Machine, script: str) -> str:
    return subprocess.run(
        machine.command("sh", "-c", script), check=True, capture_output=True, text=True
    ).stdout


def test_a_machine_has_a_tree_of_its_own(pair: Pair) -> None:
    first, second = pair.machines
    paths = ["/etc/kubernetes", "/etc/cni/net.d", "/opt/cni/bin", "/var/lib/kubelet", "/var/lib/containerd",
             "/var/lib/etcd", "/var/lib/cni", "/var/log/pods", "/var/log/containers", "/run/containerd",
             "/etc", "/opt", "/var/lib", "/var/log", "/run"]  # fmt: skip
    for path in paths:
        file = f"{path}/made-by-{NAME}"
        sh(first, f"echo mine > {file}")
        assert sh(first, f"cat {file}") == "mine\n"
        assert not Path(file).exists() and sh(second, f"ls {file} 2>/dev/null || true") == ""
    assert {(first.root / name).stat().st_mode & 0o077 for name in ("tree", "layers")} == {0}
    assert (first.own("/etc/kubernetes") / f"made-by-{NAME}").read_text() == "mine\n"
    assert (
        pair.run / "n1" / f"made-by-{NAME}"
    ).read_text() == "mine\n"  # its containerd is reached from the host


def test_a_machine_has_a_name_of_its_own(pair: Pair) -> None:
    first, second = pair.machines
    before = (
        os.uname().nodename,
        Path("/etc/machine-id").read_text() if Path("/etc/machine-id").exists() else "",
    )
    assert sh(first, "hostname; cat /etc/hostname") == "n1\nn1\n"
    numbers = [sh(machine, "cat /etc/machine-id") for machine in (first, second)]
    assert len({*numbers, before[1]}) == 3
    assert os.uname().nodename == before[0]


def test_a_plugin_is_changed_in_the_machine_alone(pair: Pair) -> None:
    first, second = pair.machines
    assert sh(first, "cat /opt/cni/bin/bridge") == "plugin"
    sh(first, "echo other > /opt/cni/bin/bridge; echo new > /opt/cni/bin/flannel")
    assert sh(second, "cat /opt/cni/bin/*") == "plugin"
    assert (pair.plugins / "bridge").read_text() == "plugin"


def test_what_is_mounted_inside_stays_inside(pair: Pair) -> None:
    first, second = pair.machines
    sh(first, "mkdir -p /var/lib/kubelet/pods/x /tmp && mount -t tmpfs here /var/lib/kubelet/pods/x")
    assert "here" in sh(first, "cat /proc/self/mountinfo")
    assert "/var/lib/kubelet/pods/x" not in sh(second, "cat /proc/self/mountinfo")
    assert "/pods/x " not in Path("/proc/self/mountinfo").read_text(errors="replace")
    # Containers get what is mounted later, as Bidirectional and HostToContainer need it.
    line = next(line for line in sh(first, "cat /proc/self/mountinfo").splitlines() if "/pods/x " in line)
    assert "shared:" in line


def test_the_hosts_name_servers_are_the_machines(pair: Pair) -> None:
    assert sh(pair.machines[0], "cat /etc/resolv.conf") == Path("/etc/resolv.conf").read_text()


def test_a_power_cut_ends_everything_and_leaves_the_disk(pair: Pair) -> None:
    first, second = pair.machines
    sh(
        first,
        "echo kept > /etc/kept; echo kept > /var/lib/etcd/kept; mount -t tmpfs t /var/lib/kubelet; touch /run/gone",
    )
    # One whose parent ended, and one that left the machine's mounts as a container does.
    children = "(sleep 1000 &); unshare --mount sleep 1001 & wait"
    stubborn = subprocess.Popen(first.command("sh", "-c", f"trap '' TERM HUP; {children}"))
    other = subprocess.Popen(second.command("sleep", "1002"))
    try:
        until(lambda: len(first.processes()) == 3 and len(second.processes()) == 1)
        first.pause()
        assert all(_state(pid) == "T" for pid in first.processes())
        first.resume()
        until(lambda: all(_state(pid) == "S" for pid in first.processes()))
        first.delete()
        assert stubborn.wait(10) == -9 and not first.exists
        assert other.poll() is None and second.exists
        boots = [sh(second, "cat /proc/sys/kernel/random/boot_id")]
        pair.create()
        boots += [sh(machine, "cat /proc/sys/kernel/random/boot_id") for machine in (first, second)]
        assert (
            boots[0] == boots[2] != boots[1]
            and Path("/proc/sys/kernel/random/boot_id").read_text() not in boots
        )
        assert sh(first, "cat /etc/kept /var/lib/etcd/kept; ls /run/gone || true") == "kept\nkept\n"
        assert "/var/lib/kubelet tmpfs" not in sh(first, "cat /proc/mounts")
    finally:
        second.kill()
        other.wait()


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_machine_that_cannot_be_made_is_not_there(pair: Pair) -> None:
    machine = Machine("x" * 100, pair.folder / "x", pair.run)  # longer than the kernel takes
    with pytest.raises(OSError):
        machine.create({}, pair.folder)
    assert not machine.exists
    pair.machines.append(machine)
