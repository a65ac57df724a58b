"""The control groups of pods: kubepods, a group for each QoS class below it, and one for each pod."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Container, Iterable
from pathlib import Path
from typing import ParamSpec, TypeVar

from pybernetes.api import quantity
from pybernetes.api.core.pod import resource_totals
from pybernetes.api.resource import Object
from pybernetes.node.kubelet.cgroups import linux_resources, systemd_slices
from pybernetes.node.kubelet.cgroups.systemd_slices import SystemdSlices
from pybernetes.node.kubelet.pod_kinds import qos_of

log = logging.getLogger(__name__)
P = ParamSpec("P")
Result = TypeVar("Result")
_ROOT = Path("/sys/fs/cgroup")
_CONTROLLERS_V2 = "+cpu +cpuset +memory +pids +io +hugetlb"


class PodCgroups:
    """Control groups below ``root`` (a path such as ``/`` or ``/node1``) on v1 or v2."""

    def __init__(
        self, root: str = "/", driver: str = "cgroupfs", mount: Path = _ROOT, *, pids: int = -1,
        cfs_quota: bool = True, cfs_period: int = linux_resources.PERIOD,
    ) -> None:  # fmt: skip
        self.root, self.driver, self.mount = "/" + root.strip("/"), driver, mount
        self._cfs_quota, self._cfs_period = (
            cfs_quota,
            cfs_period,
        )  # whether CPU limits hold, and in which microseconds
        self.pids = pids  # how many processes a pod may have; -1 for no limit
        self._shared = 0
        self.slices: SystemdSlices | None = None  # who makes groups, if not this process alone
        self.runtime = ""  # the name of the container runtime
        self.unified = (mount / "cgroup.controllers").exists()
        self._controllers = [] if self.unified else list(self._hierarchies())

    async def run(self, work: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> Result:
        """Change groups; in a thread where that means waiting for systemd."""
        if self.slices is None:
            return work(*args, **kwargs)
        return await asyncio.to_thread(work, *args, **kwargs)

    def parent(self, pod: Object) -> str:
        """Return the cgroup parent of a pod's containers, in the form that the runtime expects."""
        quality = qos_of(pod)
        uid = pod["metadata"]["uid"]
        middle = {"Guaranteed": ""}.get(quality, quality.lower())
        if self.driver == "systemd":
            words = [part for part in (*self.root.strip("/").split("/"), "kubepods", middle) if part]
            return f"{'-'.join(words)}-pod{uid.replace('-', '_')}.slice"
        return os.path.join(self.root, "kubepods", middle, f"pod{uid}")

    def folder(self, parent: str) -> str:
        """Return the path of a group, relative to where controllers are mounted."""
        if self.driver != "systemd":
            return parent.lstrip("/")
        words = parent.removesuffix(".slice").split("-")
        return "/".join(f"{'-'.join(words[: count + 1])}.slice" for count in range(len(words)))

    @property
    def all_pods(self) -> str:
        """The group of all pods, in the form that the runtime expects."""
        if self.driver == "systemd":
            words = [part for part in (*self.root.strip("/").split("/"), "kubepods") if part]
            return f"{'-'.join(words)}.slice"
        return os.path.join(self.root, "kubepods")

    def container_folder(self, parent: str, run: str) -> str:
        """Return the path of the group that the runtime makes for a container or sandbox of a pod."""
        return f"{self.folder(parent)}/{container_group(self.runtime, self.driver, run)}"

    def folders(self, parent: str) -> list[Path]:
        """Return the folders of a group: one on v2, one for each controller on v1."""
        if self.unified:
            return [self.mount / self.folder(parent)]
        return [controller / self.folder(parent) for controller in self._controllers]

    def _hierarchies(self) -> Iterable[Path]:
        seen = set()
        for hierarchy in sorted(self.mount.iterdir()):
            real = hierarchy.resolve()
            if (
                hierarchy.is_dir()
                and hierarchy.name != "unified"
                and real not in seen
                and (real / "tasks").exists()
            ):
                seen.add(real)
                yield real

    def create(self, pod: Object) -> str:
        """Create a pod's group with its limits; return the parent that the runtime expects."""
        parent = self.parent(pod)
        self.create_group(parent)
        self.apply_limits(pod)
        return parent

    def _make_folder(self, folder: Path) -> None:
        try:
            os.mkdir(folder)
        except FileExistsError:
            return
        except FileNotFoundError:
            self._make_folder(folder.parent)
            folder.mkdir(exist_ok=True)
        if self.unified:
            self._delegate(folder.parent)
        elif os.path.exists(f"{folder}/cpuset.cpus"):
            # A new group of v1 has no CPUs, and takes no process before it is given some.
            for name in ("cpuset.cpus", "cpuset.mems"):
                if not (folder / name).read_text().strip():
                    (folder / name).write_text((folder.parent / name).read_text())

    def _delegate(self, folder: Path) -> None:
        for word in _CONTROLLERS_V2.split():
            try:
                (folder / "cgroup.subtree_control").write_text(word)
            except OSError:
                pass  # not every kernel has every controller

    def apply_limits(self, pod: Object, *, widen: bool = False) -> None:
        """Apply a pod's limits; with ``widen`` only those that are wider than before."""
        shares, cpu_quota, memory = linux_resources.pod_resources(pod, self._cfs_period)
        cpu_quota = cpu_quota if self._cfs_quota else 0
        self.write_limits(self.folder(self.parent(pod)), shares, memory, cpu_quota, self.pids, widen=widen)

    def write_limits(
        self,
        folder: str,
        shares: int = 0,
        memory: int = 0,
        quota: int = 0,
        pids: int = -1,
        *,
        widen: bool = False,
    ) -> list[str]:
        """Write the limits of a group (0 for none); return the names of those that the kernel refused."""
        if self.unified:
            values = {
                "cpu.weight": str(linux_resources.weight(shares)) if shares else "",
                "cpu.max": f"{quota or 'max'} {self._cfs_period}",
                "memory.max": str(memory or "max"),
                "pids.max": str(pids) if pids > 0 else "",
            }
            places = {name: self.mount / folder / name for name in values}
        else:
            values = {
                "cpu.shares": str(shares or ""),
                "cpu.cfs_period_us": str(self._cfs_period),
                "cpu.cfs_quota_us": str(quota or -1),
                "memory.limit_in_bytes": str(memory or -1),
                "pids.max": str(pids) if pids > 0 else "",
            }
            places = {name: self.mount / name.partition(".")[0] / folder / name for name in values}
        due, refused = {}, []
        for name, value in values.items():
            try:
                if value and (not widen or _wider(name, places[name].read_text(), value)):
                    due[name] = value
            except OSError:  # a controller that does not exist
                refused.append(name)
        if self.slices is not None:
            own = {name: values[name] for name in values if name in due or "period" in name}
            try:
                self.slices.set(os.path.basename(folder), systemd_slices.properties(own))
            except OSError as error:
                log.warning("systemd does not limit %s: %s", folder, error)
        for name, value in due.items():
            try:
                places[name].write_text(value)
            except OSError:  # that neither, or a limit below what is in use
                refused.append(name)
        return refused

    def create_group(self, parent: str) -> None:
        """Create a group, given in the form that the runtime expects."""
        if self.slices is not None:
            self.slices.start(parent)
        for folder in self.folders(parent):
            self._make_folder(folder)

    def qos_group(self, name: str) -> str:
        """Return the group of a QoS class, in the form that the runtime expects."""
        if self.driver == "systemd":
            return f"{self.all_pods.removesuffix('.slice')}-{name}.slice"
        return f"{self.all_pods}/{name}"

    def share_cpu(self, pods: Iterable[Object]) -> None:
        """Give the Burstable pods together the CPU that they requested together."""
        burstable = [pod for pod in pods if qos_of(pod) == "Burstable"]
        cpu = sum(quantity.milli(resource_totals.requests(pod).get("cpu", "0")) for pod in burstable)
        shares = linux_resources.shares(cpu)
        if shares != self._shared:
            self._shared = shares
            self.write_limits(self.folder(self.qos_group("burstable")), shares)

    def remove(self, pod: Object) -> None:
        """Remove a pod's group; what is not empty stays for the next time."""
        self.remove_folder(self.parent(pod))

    def remove_folder(self, parent: str) -> None:
        """Remove a group and the empty ones below it."""
        if self.slices is not None:
            try:
                self.slices.stop(parent)
            except OSError as error:
                log.warning("systemd does not stop %s: %s", parent, error)
        places = self.folders(parent)
        if not self.unified:  # beside v1 there may be an empty v2, where runtimes create groups as well
            places.append(self.mount / "unified" / self.folder(parent))
        for folder in places:
            if _rmdir(folder):
                continue
            for path, names, _ in os.walk(folder, topdown=False):
                for name in names:
                    _rmdir(os.path.join(path, name))
            _rmdir(folder)

    def orphans(self, known: Container[str]) -> list[str]:
        """Return the groups of unknown pods, in the form that the runtime expects."""
        orphaned: set[str] = set()
        if self.driver == "systemd":
            for group in (self.all_pods, self.qos_group("burstable"), self.qos_group("besteffort")):
                for base in self.folders(group):
                    for path in base.glob("*-pod*.slice"):
                        uid = path.name.rpartition("-pod")[2].removesuffix(".slice").replace("_", "-")
                        if uid not in known:
                            orphaned.add(path.name)
            return sorted(orphaned)
        for base in self.folders(os.path.join(self.root, "kubepods")):
            for middle in ("", "burstable", "besteffort"):
                for path in (base / middle).glob("pod*") if (base / middle).is_dir() else ():
                    if path.name.removeprefix("pod") not in known:
                        orphaned.add(os.path.join(self.root, "kubepods", middle, path.name))
        return sorted(orphaned)

    def remove_all(self) -> None:
        """Remove kubepods as a whole, for a node that is deleted."""
        for parent in self.orphans(set()):
            self.remove_folder(parent)
        self.remove_folder(self.all_pods)
        if self.root != "/":
            self.remove_folder(self.root)


def container_group(runtime: str, driver: str, run: str) -> str:
    """Return how a runtime names the control group of a container or sandbox."""
    if runtime == "cri-o":
        return f"crio-{run}.scope" if driver == "systemd" else f"crio-{run}"
    return f"cri-containerd-{run}.scope" if driver == "systemd" else run


def _wider(name: str, before: str, after: str) -> bool:
    """Return whether a limit grows; no limit is wider than any."""
    old, new = before.split()[0], after.split()[0]
    if new in ("max", "-1") or name in ("cpu.shares", "cpu.weight"):
        return True
    return old not in ("max", "-1") and int(new) > int(old)


def _rmdir(path: str | Path) -> bool:
    """Remove a folder unless something is in it; return whether it is gone."""
    try:
        os.rmdir(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
