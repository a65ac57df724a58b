"""Node allocatable: what of a node is reserved, what is left for pods, and how both are enforced."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from pybernetes.api import quantity
from pybernetes.api.resource import Object
from pybernetes.api.strict_types import aggregate
from pybernetes.node.kubelet.cgroups import linux_resources
from pybernetes.node.kubelet.cgroups.pod_cgroups import PodCgroups
from pybernetes.node.kubelet.cgroups.systemd_slices import SystemdSlices
from pybernetes.node.kubelet.config import ConfigurationError
from pybernetes.node.kubelet.node_status import machine
from pybernetes.node.kubelet.options import Options

log = logging.getLogger(__name__)
_LEAST = 2  # cpu.shares without a request
_KERNEL = {
    "vm/overcommit_memory": 1,
    "vm/panic_on_oom": 0,
    "kernel/panic": 10,
    "kernel/panic_on_oops": 1,
    "kernel/keys/root_maxkeys": 1_000_000,
    "kernel/keys/root_maxbytes": 25_000_000,
}
_SYSTEMD = Path("/run/systemd/system")  # there while systemd runs the machine


def cpu_set(text: str) -> set[int]:
    """Return the CPUs of a list such as ``0-2,7``; raise ValueError if it is malformed."""
    cpus: set[int] = set()
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        cpus |= set(range(int(first), int(last or first) + 1))
    return cpus


def reserved(settings: Object) -> dict[str, str]:
    """Return what is reserved for the system and for Kubernetes itself."""
    amounts: dict[str, str] = {}
    for part in ("systemReserved", "kubeReserved"):
        for name, value in (settings.get(part) or {}).items():
            amounts[name] = quantity.add(amounts[name], value) if name in amounts else value
    if settings.get("reservedSystemCPUs"):  # the list also says how many
        amounts["cpu"] = str(len(cpu_set(settings["reservedSystemCPUs"])))
    return amounts


def _held_back(settings: Object, total: Mapping[str, str]) -> dict[str, str]:
    """Return what is held back because pods are evicted before it is used up."""
    amounts = {}
    for signal, name in (("memory.available", "memory"), ("nodefs.available", "ephemeral-storage")):
        text = (settings.get("evictionHard") or {}).get(signal)
        if text and text not in ("0%", "100%") and name in total:
            share = Fraction(text[:-1]) / 100 if text.endswith("%") else None
            amounts[name] = str(int(quantity.parse(total[name]) * share)) if share is not None else text
    return amounts


def allocatable(total: Mapping[str, str], settings: Object) -> dict[str, str]:
    """Return what of a node is left for pods."""
    left: dict[str, str] = {}
    parts = (reserved(settings), _held_back(settings, total))
    for name, amount in total.items():
        for part in parts:
            if name in part:
                amount = quantity.subtract(amount, part[name])
        left[name] = amount if quantity.parse(amount) > 0 else "0"
    return left


def slices(driver: str) -> SystemdSlices | None:
    """Return who makes the groups of pods, if it is systemd."""
    if driver != "systemd":
        return None
    if _SYSTEMD.is_dir():
        return SystemdSlices()
    log.warning(
        "--cgroup-driver=systemd: there is no systemd here; slices are folders with the names that it gives"
    )
    return None


def enforce(cgroups: PodCgroups, options: Options) -> None:
    """Create the groups of pods and limit them and the reserved groups; log what the kernel refuses."""
    settings = options.configuration
    total = machine.capacity(options.root, machine.most_pods(settings))
    enforced = settings.get("enforceNodeAllocatable") or ()
    kept = reserved(settings) if "pods" in enforced else {}
    amounts = {name: quantity.subtract(total[name], kept[name]) if name in kept else total[name]
               for name in ("cpu", "memory")}  # fmt: skip
    shares = linux_resources.shares(quantity.milli(amounts["cpu"]))
    memory = max(0, quantity.integer(amounts["memory"]))
    try:
        for group in (cgroups.all_pods, cgroups.qos_group("burstable"), cgroups.qos_group("besteffort")):
            cgroups.create_group(group)
        cgroups.write_limits(cgroups.folder(cgroups.all_pods), shares, memory if "pods" in enforced else 0)
        for name in ("burstable", "besteffort"):
            cgroups.write_limits(cgroups.folder(cgroups.qos_group(name)), _LEAST)
    except OSError as error:
        log.warning("the groups of pods cannot be made: %s", error)
    for part in ("system", "kube"):
        whole, some = f"{part}-reserved" in enforced, f"{part}-reserved-compressible" in enforced
        if whole or some:
            _hold(cgroups, settings[f"{part}ReservedCgroup"], settings.get(f"{part}Reserved") or {}, whole)


def _hold(cgroups: PodCgroups, group: str, amounts: Mapping[str, str], whole: bool) -> None:
    if not cgroups.folders(group)[0].is_dir():
        raise ConfigurationError(f'the control group "{group}" does not exist')
    shares = linux_resources.shares(quantity.milli(amounts["cpu"])) if "cpu" in amounts else 0
    memory = quantity.integer(amounts["memory"]) if whole and "memory" in amounts else 0
    pids = quantity.integer(amounts["pid"]) if whole and "pid" in amounts else -1
    refused = cgroups.write_limits(cgroups.folder(group), shares, memory, 0, pids)
    if refused:
        log.warning("the control group %s did not take %s", group, ", ".join(refused))


def check_machine(settings: Object, mount_is_v2: bool) -> None:
    """Reject a machine that the configuration does not allow; ConfigurationError says why."""
    if settings["failCgroupV1"] and not mount_is_v2:
        raise ConfigurationError("kubelet is configured to not run on a host using cgroup v1")
    if settings["failSwapOn"] and machine.swap_is_on():
        raise ConfigurationError(
            "running with swap on is not supported, please disable swap or set --fail-swap-on flag to false"
        )
    try:
        cpus = cpu_set(settings.get("reservedSystemCPUs") or "")
    except ValueError:
        raise ConfigurationError(
            f"unable to parse reservedSystemCPUs (--reserved-cpus) {settings['reservedSystemCPUs']!r}"
        ) from None
    if any(cpu >= (os.cpu_count() or 1) for cpu in cpus):
        raise ConfigurationError(
            "invalid configuration: reservedSystemCPUs (--reserved-cpus) names a CPU that is not there"
        )


def check_kernel(settings: Object, kernel: Path = Path("/proc/sys")) -> None:
    """Look at the kernel settings that a node should have: others are an error if they are protected, else a remark."""
    wrong = []
    for name, wanted in _KERNEL.items():
        try:
            actual = int((kernel / name).read_text())
        except (OSError, ValueError) as error:
            log.debug("the kernel setting %s cannot be read: %s", name, error)
            continue
        if actual != wanted:
            wrong.append(f"invalid kernel flag: {name}, expected value: {wanted}, actual value: {actual}")
    if wrong and settings["protectKernelDefaults"]:
        raise ConfigurationError(aggregate(wrong))
    for text in wrong:
        log.info("%s; it is left as it is", text)


def prepare_process(settings: Object) -> None:
    """Make the kubelet the last process that the kernel kills, and raise its limit of open files, as far as allowed."""
    import resource

    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write(str(int(settings["oomScoreAdj"])))
    except OSError:
        log.debug("the score for when memory runs out cannot be set")
    most = int(settings["maxOpenFiles"])
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for limits in ((most, most), (min(most, hard), hard)):
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
            break
        except (OSError, ValueError):
            continue
