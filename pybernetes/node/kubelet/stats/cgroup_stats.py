"""The control groups of a node with what is known about each, for /metrics/cadvisor."""

from __future__ import annotations

import asyncio
import platform

from pybernetes.node.kubelet.cri.pod_runtime import ContainerState
from pybernetes.node.kubelet.node_status import machine
from pybernetes.node.kubelet.stats.cadvisor_metrics import Group, Machine
from pybernetes.node.kubelet.stats.measured_pod import MeasuredPod
from pybernetes.node.kubelet.stats.summary_provider import SummaryProvider
from pybernetes.node.stats import host
from pybernetes.node.stats.filesystem import device_name, device_names
from pybernetes.node.stats.network import interfaces


async def groups(provider: SummaryProvider) -> list[Group]:
    """Return the groups of the machine, of all pods, of each QoS class, and of each pod, sandbox and container."""
    images, _ = await provider.disks.image_filesystem()
    layers = await provider.disks.layers()
    # In a thread: they are many small files.
    listed = await asyncio.to_thread(_read, provider, list(provider.pods()))
    names = device_names()
    where = device_name(images.device) if images is not None else ""
    for group in listed:
        group.usage.io = {names.get(device, device): io for device, io in group.usage.io.items()}
        if group.container and images is not None and group.name in layers:
            group.disk = (where, images, layers[group.name][0])
    return listed


def _read(provider: SummaryProvider, pods: list[MeasuredPod]) -> list[Group]:
    disk = provider.disks.node_filesystem()
    groups = [Group("/", provider.root(), host.boot_time(), interfaces=interfaces())]
    if disk is not None:
        groups[0].disk = (device_name(disk.device), disk, disk.used)
    for name in provider.shared_groups():
        usage = provider.groups.read(name)
        if usage is not None:
            groups.append(Group(name, usage))
    for pod in pods:
        _pod(provider, pod, groups)
    return groups


def _pod(provider: SummaryProvider, measured: MeasuredPod, groups: list[Group]) -> None:
    meta = measured.pod["metadata"]
    place = {"pod": meta["name"], "namespace": meta["namespace"]}
    usage = provider.groups.read(provider.pod_group(measured.pod))
    if usage is None:
        return
    sandbox = measured.runtime.sandbox
    started = sandbox.created if sandbox is not None else 0.0
    groups.append(Group(provider.pod_group(measured.pod), usage, started, **place))
    if sandbox is not None:
        group = provider.run_group(measured.pod, sandbox.id)
        usage = provider.groups.read(group)
        if usage is not None:
            own = Group(group, usage, started, **place, name=sandbox.id)
            own.interfaces = provider.network_of(measured)
            groups.append(own)
    for run in measured.runtime.runs:
        if run.state is ContainerState.RUNNING:
            group = provider.run_group(measured.pod, run.id)
            usage = provider.groups.read(group)
            if usage is not None:
                groups.append(
                    Group(
                        group, usage, run.started, **place, container=run.name, image=run.image, name=run.id
                    )
                )


def this_machine() -> Machine:
    """Return what is known about this machine."""
    info, memory = machine.info("", ""), host.meminfo()
    physical, sockets = host.cores()
    return Machine(
        machine.cpus(), physical, sockets, memory.get("MemTotal", 0), memory.get("SwapTotal", 0),
        info["machineID"], info["systemUUID"], info["bootID"], platform.release(), info["osImage"],
    )  # fmt: skip
