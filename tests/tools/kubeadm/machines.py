"""Machines for kubeadm: namespaces on one bridge, each with a container runtime that has our own images."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from pybernetes.lib.files import trees
from pybernetes.node.containerd import containerd
from pybernetes.node.containerd.config import ContainerdPaths
from pybernetes.node.containerd.requirements import cni_plugins
from pybernetes.tools.kubeadm.kubelet_service import pyb
from pybernetes.tools.local.control_planes import image_store
from pybernetes.tools.local.nodes.machine import Machine
from pybernetes.tools.local.nodes.node import _remove_groups
from tests.support import until

SUBNET = "10.97.0"


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Site:
    """Some machines, a bridge that joins them, and nothing that leads outside."""

    def __init__(self, folder: Path, names: tuple[str, ...], store: Path) -> None:
        self.folder, self.store = folder, store
        self.key = f"ka{os.getpid()}"
        self.run = Path("/run/pybernetes") / self.key
        self.group = f"pybernetes/{self.key}"
        self.hub = f"{self.key}-hub"
        self.addresses = {name: f"{SUBNET}.{number}" for number, name in enumerate(names, 10)}
        self.machines = {
            name: Machine(name, folder / name, self.run, f"{self.key}-{name}", f"{self.group}/{name}")
            for name in names
        }
        self._running: list[subprocess.Popen[bytes]] = []

    def create(self) -> None:
        ip("netns", "add", self.hub)
        ip("-n", self.hub, "link", "add", "hub0", "type", "bridge")
        ip("-n", self.hub, "link", "set", "hub0", "up")
        for name in self.machines:
            self.create_machine(name)

    def create_machine(self, name: str) -> None:
        machine = self.machines[name]
        ip("netns", "add", machine.network)
        ip(
            "-n",
            self.hub,
            "link",
            "add",
            f"to-{name}",
            "type",
            "veth",
            "peer",
            "name",
            "eth0",
            "netns",
            machine.network,
        )
        ip("-n", self.hub, "link", "set", f"to-{name}", "master", "hub0", "up")
        ip("-n", machine.network, "link", "set", "lo", "up")
        ip("-n", machine.network, "link", "set", "eth0", "up")
        ip("-n", machine.network, "address", "add", f"{self.addresses[name]}/24", "dev", "eth0")
        ip("-n", machine.network, "route", "add", "default", "via", f"{SUBNET}.1")
        state = self.run / name
        state.mkdir(parents=True, exist_ok=True)
        image_store.share(self.store, machine.own("/var/lib/containerd"))
        machine.create({"/run/containerd": state}, self.folder, cni_plugins())
        machine.own("/etc/kubernetes").mkdir(parents=True, exist_ok=True)
        paths = ContainerdPaths(
            Path("/var/lib/containerd"), Path("/run/containerd"), self.folder / f"{name}.toml",
            Path("/etc/cni/net.d"), Path("/opt/cni/bin"),
        )  # fmt: skip
        containerd.configure(paths)
        self.sh(name, "sysctl -q -w net.ipv4.ip_forward=1 || echo 1 > /proc/sys/net/ipv4/ip_forward")
        log = (self.folder / f"{name}-containerd.log").open("wb")
        self._running.append(
            subprocess.Popen(
                machine.command("containerd", "--config", str(paths.config)),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        )
        # What the runtime takes for a sandbox, as soon as it answers.
        tag = "ctr -n k8s.io images tag --force registry.k8s.io/pause:3.10.2 pybernetes.dev/pause:1"
        until(lambda: self.try_sh(name, tag).returncode == 0)

    def try_sh(self, name: str, script: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.machines[name].command("sh", "-c", script), capture_output=True, text=True, check=False
        )

    def sh(self, name: str, script: str) -> str:
        done = self.try_sh(name, script)
        assert done.returncode == 0, f"{script}: {done.stdout}{done.stderr}"
        return done.stdout

    def kubeadm(self, name: str, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.machines[name].command(*pyb("kubeadm", *words)), capture_output=True, text=True, check=False
        )

    def delete(self) -> None:
        for machine in self.machines.values():
            machine.delete()
        for process in self._running:
            process.wait()
        for namespace in (*(machine.network for machine in self.machines.values()), self.hub):
            subprocess.run(["ip", "netns", "delete", namespace], check=False, capture_output=True)
        for hierarchy in (Path("/sys/fs/cgroup"), *Path("/sys/fs/cgroup").iterdir()):
            _remove_groups(hierarchy / self.group)
        trees.remove_path(self.run)
        shutil.rmtree(self.folder, ignore_errors=True)
