"""The control groups of pods: kubepods, a group for each quality of service below it, and one for each pod."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pybernetes.api import quantity
from pybernetes.api.core.pod import resource_totals
from pybernetes.api.core.pod.qos_class import qos_class
from pybernetes.node.kubelet import resources

Fields = dict[str, Any]
_ROOT = Path("/sys/fs/cgroup")
_CONTROLLERS_V2 = "+cpu +cpuset +memory +pids +io +hugetlb"


class PodCgroups:
    """Control groups below ``root`` (a path such as ``/`` or ``/node1``) on v1 or v2."""

    def __init__(
        self, root: str = "/", driver: str = "cgroupfs", mount: Path = _ROOT, *, pids: int = -1
    ) -> None:
        self.root, self.driver, self.mount = "/" + root.strip("/"), driver, mount
        self.pids = pids  # how many processes a pod may have; -1 does not say
        self._shared = 0
        self.unified = (mount / "cgroup.controllers").exists()
        self._controllers = [] if self.unified else list(self._hierarchies())

    def parent(self, pod: Fields) -> str:
        """What the runtime is told: the group that a pod's containers belong below."""
        quality = pod.get("status", {}).get("qosClass") or qos_class(pod["spec"])
        uid = pod["metadata"]["uid"]
        middle = {"Guaranteed": ""}.get(quality, quality.lower())
        if self.driver == "systemd":
            words = [part for part in (*self.root.strip("/").split("/"), "kubepods", middle) if part]
            return f"{'-'.join(words)}-pod{uid.replace('-', '_')}.slice"
        return os.path.join(self.root, "kubepods", middle, f"pod{uid}")

    def folder(self, parent: str) -> str:
        """The path of a group, relative to where controllers are mounted."""
        if self.driver != "systemd":
            return parent.lstrip("/")
        words = parent.removesuffix(".slice").split("-")
        return "/".join(f"{'-'.join(words[: count + 1])}.slice" for count in range(len(words)))

    @property
    def top(self) -> str:
        """The group of all pods, as the runtime would be told."""
        if self.driver == "systemd":
            words = [part for part in (*self.root.strip("/").split("/"), "kubepods") if part]
            return f"{'-'.join(words)}.slice"
        return os.path.join(self.root, "kubepods")

    def member(self, parent: str, run: str) -> str:
        """The path of the group that the runtime makes for a container or sandbox of a pod."""
        name = f"cri-containerd-{run}.scope" if self.driver == "systemd" else run
        return f"{self.folder(parent)}/{name}"

    def folders(self, parent: str) -> list[Path]:
        """Where a group is: one folder on v2, one for each controller on v1."""
        if self.unified:
            return [self.mount / self.folder(parent)]
        return [each / self.folder(parent) for each in self._controllers]

    def _hierarchies(self) -> Iterable[Path]:
        seen = set()
        for each in sorted(self.mount.iterdir()):
            real = each.resolve()
            if each.is_dir() and each.name != "unified" and real not in seen and (real / "tasks").exists():
                seen.add(real)
                yield real

    def create(self, pod: Fields) -> str:
        """Makes a pod's group with its limits; gives what the runtime is told."""
        parent = self.parent(pod)
        self.make(parent)
        self.limit(pod)
        return parent

    def _make(self, folder: Path) -> None:
        missing = []
        while not folder.exists():
            missing.append(folder)
            folder = folder.parent
        for each in reversed(missing):
            each.mkdir(exist_ok=True)
            # A new group of v1 has no CPUs of its own and takes no process before it has.
            for name in ("cpuset.cpus", "cpuset.mems"):
                if not self.unified and (each / name).exists() and not (each / name).read_text().strip():
                    (each / name).write_text((each.parent / name).read_text())
            if self.unified:
                self._delegate(each.parent)

    def _delegate(self, folder: Path) -> None:
        for word in _CONTROLLERS_V2.split():
            try:
                (folder / "cgroup.subtree_control").write_text(word)
            except OSError:
                pass  # not every kernel has every controller

    def limit(self, pod: Fields, *, widen: bool = False) -> None:
        """Puts a pod's limits in force; with ``widen`` only those that are wider than before."""
        shares, cpu_quota, memory = resources.pod_limits(pod)
        self.put(self.folder(self.parent(pod)), shares, memory, cpu_quota, self.pids, widen=widen)

    def put(
        self,
        folder: str,
        shares: int = 0,
        memory: int = 0,
        quota: int = 0,
        pids: int = -1,
        *,
        widen: bool = False,
    ) -> list[str]:
        """Writes the limits of a group, 0 for none; gives the names of what the kernel did not take."""
        if self.unified:
            values = {
                "cpu.weight": str(resources.weight(shares)) if shares else "",
                "cpu.max": f"{quota or 'max'} {resources.PERIOD}",
                "memory.max": str(memory or "max"),
                "pids.max": str(pids) if pids > 0 else "",
            }
            places = {name: self.mount / folder / name for name in values}
        else:
            values = {
                "cpu.shares": str(shares or ""),
                "cpu.cfs_period_us": str(resources.PERIOD),
                "cpu.cfs_quota_us": str(quota or -1),
                "memory.limit_in_bytes": str(memory or -1),
                "pids.max": str(pids) if pids > 0 else "",
            }
            places = {name: self.mount / name.partition(".")[0] / folder / name for name in values}
        refused = []
        for name, value in values.items():
            try:
                if not value or (widen and not _wider(name, places[name].read_text(), value)):
                    continue
                places[name].write_text(value)
            except OSError:  # a controller that is not there, or a limit below what is in use
                refused.append(name)
        return refused

    def make(self, parent: str) -> None:
        """Makes a group, as the runtime would be told."""
        for folder in self.folders(parent):
            self._make(folder)

    def quality(self, name: str) -> str:
        """The group of a quality of service, as the runtime would be told."""
        if self.driver == "systemd":
            return f"{self.top.removesuffix('.slice')}-{name}.slice"
        return f"{self.top}/{name}"

    def share(self, pods: Iterable[Fields]) -> None:
        """Gives the pods that may use more than they asked for the CPU that they asked for together."""
        chosen = [
            each for each in pods
            if (each.get("status", {}).get("qosClass") or qos_class(each["spec"])) == "Burstable"
        ]  # fmt: skip
        cpu = sum(quantity.milli(resource_totals.requests(each).get("cpu", "0")) for each in chosen)
        shares = resources.shares(cpu)
        if shares != self._shared:
            self._shared = shares
            self.put(self.folder(self.quality("burstable")), shares)

    def remove(self, pod: Fields) -> None:
        """Removes a pod's group; what is not empty stays for the next time."""
        self.remove_folder(self.parent(pod))

    def remove_folder(self, parent: str) -> None:
        """Removes a group and the empty ones below it."""
        places = self.folders(parent)
        if not self.unified:  # beside v1 there may be an empty v2, in which runtimes make groups as well
            places.append(self.mount / "unified" / self.folder(parent))
        for folder in places:
            for path, names, _ in os.walk(folder, topdown=False):
                for name in names:
                    _rmdir(os.path.join(path, name))
            _rmdir(folder)

    def orphans(self, known: set[str]) -> list[str]:
        """The groups of pods that nobody knows, as the runtime would be told."""
        found: set[str] = set()
        if self.driver == "systemd":
            for group in (self.top, self.quality("burstable"), self.quality("besteffort")):
                for base in self.folders(group):
                    for each in base.glob("*-pod*.slice"):
                        uid = each.name.rpartition("-pod")[2].removesuffix(".slice").replace("_", "-")
                        if uid not in known:
                            found.add(each.name)
            return sorted(found)
        for base in self.folders(os.path.join(self.root, "kubepods")):
            for middle in ("", "burstable", "besteffort"):
                for each in (base / middle).glob("pod*") if (base / middle).is_dir() else ():
                    if each.name.removeprefix("pod") not in known:
                        found.add(os.path.join(self.root, "kubepods", middle, each.name))
        return sorted(found)

    def remove_all(self) -> None:
        """Removes kubepods as a whole, for a node that goes."""
        for parent in self.orphans(set()):
            self.remove_folder(parent)
        self.remove_folder(self.top)
        if self.root != "/":
            self.remove_folder(self.root)


def _wider(name: str, before: str, after: str) -> bool:
    """Whether a limit grows; what is no limit is wider than any."""
    old, new = before.split()[0], after.split()[0]
    if new in ("max", "-1") or name in ("cpu.shares", "cpu.weight"):
        return True
    return old not in ("max", "-1") and int(new) > int(old)


def _rmdir(path: str | Path) -> None:
    try:
        os.rmdir(path)
    except OSError:
        pass
