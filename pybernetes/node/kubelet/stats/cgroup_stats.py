"""The control groups of a node with what is known about each, for /metrics/cadvisor."""

from __future__ import annotations

import asyncio
import platform
from typing import Any

from pybernetes.node.kubelet import machine
from pybernetes.node.kubelet.cri.pod_runtime import ContainerState
from pybernetes.node.kubelet.stats.cadvisor_metrics import Group, Machine
from pybernetes.node.kubelet.stats.summary_provider import MeasuredPod, SummaryProvider
from pybernetes.node.stats import host
from pybernetes.node.stats.filesystem import device_name, device_names
from pybernetes.node.stats.network import interfaces

Fields = dict[str, Any]


async def groups(figures: SummaryProvider) -> list[Group]:
    """The machine, the groups of all pods and of each quality, each pod, its sandbox and its containers."""
    images, _ = await figures.image_filesystem()
    layers = await figures.layers()
    # Many small files, read beside the work that pods need.
    found = await asyncio.to_thread(_read, figures, list(figures.subjects()))
    names = device_names()
    where = device_name(images.device) if images is not None else ""
    for group in found:
        group.usage.io = {names.get(device, device): each for device, each in group.usage.io.items()}
        if group.container and images is not None and group.name in layers:
            group.disk = (where, images, layers[group.name][0])
    return found


def _read(figures: SummaryProvider, subjects: list[MeasuredPod]) -> list[Group]:
    disk = figures.node_filesystem()
    found = [Group("/", figures.root(), host.boot_time(), interfaces=interfaces())]
    if disk is not None:
        found[0].disk = (device_name(disk.device), disk, disk.used)
    for name in figures.shared_groups():
        usage = figures.groups.read(name)
        if usage is not None:
            found.append(Group(name, usage))
    for subject in subjects:
        _pod(figures, subject, found)
    return found


def _pod(figures: SummaryProvider, subject: MeasuredPod, found: list[Group]) -> None:
    meta = subject.pod["metadata"]
    place = {"pod": meta["name"], "namespace": meta["namespace"]}
    usage = figures.groups.read(figures.pod_group(subject.pod))
    if usage is None:
        return
    sandbox = subject.runtime.sandbox
    started = sandbox.created if sandbox is not None else 0.0
    found.append(Group(figures.pod_group(subject.pod), usage, started, **place))
    if sandbox is not None:
        group = figures.run_group(subject.pod, sandbox.id)
        usage = figures.groups.read(group)
        if usage is not None:
            own = Group(group, usage, started, **place, name=sandbox.id)
            own.interfaces = figures.network_of(subject)
            found.append(own)
    for run in subject.runtime.runs:
        if run.state is ContainerState.RUNNING:
            group = figures.run_group(subject.pod, run.id)
            usage = figures.groups.read(group)
            if usage is not None:
                found.append(
                    Group(
                        group, usage, run.started, **place, container=run.name, image=run.image, name=run.id
                    )
                )


def this_machine() -> Machine:
    """The machine that this is."""
    info, memory = machine.info("", ""), host.meminfo()
    physical, sockets = host.cores()
    return Machine(
        machine.cpus(), physical, sockets, memory.get("MemTotal", 0), memory.get("SwapTotal", 0),
        info["machineID"], info["systemUUID"], info["bootID"], platform.release(), info["osImage"],
    )  # fmt: skip
