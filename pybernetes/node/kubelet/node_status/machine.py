"""What the machine is and has."""

from __future__ import annotations

import os
import platform
import shutil
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.lib.oci import architecture
from pybernetes.node.stats import host


def cpus() -> int:
    """Return how many CPUs there are."""
    return os.cpu_count() or 1


def capacity(root: Path, max_pods: int) -> dict[str, str]:
    """Return the node's resources."""
    disk = shutil.disk_usage(root)
    return {
        "cpu": str(cpus()),
        "memory": f"{host.memory_total() // 1024}Ki",
        "ephemeral-storage": f"{disk.total // 1024}Ki",
        "pods": str(max_pods),
        **huge_pages(),
    }


def swap_is_on() -> bool:
    """Return whether the machine swaps to a disk; compressed memory does not count."""
    try:
        lines = Path("/proc/swaps").read_text().splitlines()[1:]
    except OSError:
        return False
    return any(not line.startswith("/dev/zram") for line in lines if line.strip())


def most_pods(settings: Object) -> int:
    """Return how many pods the node takes."""
    most, per_core = int(settings["maxPods"]), int(settings["podsPerCore"])
    return min(most, per_core * cpus()) if per_core else most


def huge_pages() -> dict[str, str]:
    """Return huge pages by size."""
    pages = {}
    base = Path("/sys/kernel/mm/hugepages")
    for folder in sorted(base.glob("hugepages-*kB")) if base.is_dir() else ():
        size = int(folder.name.removeprefix("hugepages-").removesuffix("kB"))
        count = int((folder / "nr_hugepages").read_text())
        name = f"{size // 1048576}Gi" if size >= 1048576 else f"{size // 1024}Mi"
        pages[f"hugepages-{name}"] = f"{count * size // 1024}Mi" if count else "0"
    return pages


def info(kubelet_version: str, runtime: str) -> Object:
    """Return the node's nodeInfo."""
    return {
        "machineID": _first("/etc/machine-id", "/var/lib/dbus/machine-id"),
        "systemUUID": _first("/sys/class/dmi/id/product_uuid", "/etc/machine-id"),
        "bootID": _first("/proc/sys/kernel/random/boot_id"),
        "kernelVersion": platform.release(),
        "osImage": _os_name(),
        "containerRuntimeVersion": runtime,
        "kubeletVersion": kubelet_version,
        "kubeProxyVersion": "",
        "operatingSystem": "linux",
        "architecture": architecture(),
    }


def _first(*paths: str) -> str:
    for path in paths:
        try:
            return Path(path).read_text().strip()
        except OSError:
            continue
    return ""


def _os_name() -> str:
    for line in _first("/etc/os-release", "/usr/lib/os-release").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip('"')
    return "Linux"
