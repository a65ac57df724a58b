"""Nodes."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._writer import Writer, shown
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.output.times import rfc1123z, since

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = ""

_ROLE = "node-role.kubernetes.io/"
_INFO = (
    ("Machine ID", "machineID"), ("System UUID", "systemUUID"), ("Boot ID", "bootID"), ("Kernel Version", "kernelVersion"),
    ("OS Image", "osImage"), ("Operating System", "operatingSystem"), ("Architecture", "architecture"),
    ("Container Runtime Version", "containerRuntimeVersion"), ("Kubelet Version", "kubeletVersion"),
)  # fmt: skip


def describe(writer: Writer, node: Object) -> None:
    """Write a node, its pods and what they have reserved."""
    metadata, spec, status = node["metadata"], node.get("spec") or {}, node.get("status") or {}
    name, labels = metadata["name"], metadata.get("labels") or {}
    writer.name(node, namespace=False)
    roles = {key.removeprefix(_ROLE) for key in labels if key.startswith(_ROLE)} | {
        labels.get("kubernetes.io/role", "")
    }
    writer.field("Roles", ",".join(sorted(roles - {""})) or "<none>")
    writer.marks(node)
    writer.field("CreationTimestamp", rfc1123z(metadata.get("creationTimestamp")))
    taints = sorted(spec.get("taints") or [], key=lambda taint: f"{taint.get('effect')},{taint.get('key')}")
    writer.field("Taints", "\n\t".join(_taint(taint) for taint in taints) or "<none>")
    writer.field("Unschedulable", shown(bool(spec.get("unschedulable"))))
    _lease(writer, name)
    if status.get("conditions"):
        writer.put("Conditions:\n  Type\tStatus\tLastHeartbeatTime\tLastTransitionTime\tReason\tMessage\n")
        writer.line("----\t------\t-----------------\t------------------\t------\t-------", 1)
        writer.conditions(status["conditions"], "lastHeartbeatTime", "lastTransitionTime")
    writer.line("Addresses:")
    for address in status.get("addresses") or ():
        writer.field(address["type"], address["address"], 1)
    for title in ("Capacity", "Allocatable"):
        listed = status.get(title.lower()) or {}
        if listed:
            writer.line(f"{title}:")
            for key in sorted(listed):
                writer.field(key, listed[key], 1)
    _slices(writer, name)
    writer.line("System Info:")
    for title, key in _INFO:
        writer.field(title, (status.get("nodeInfo") or {}).get(key, ""), 1)
    writer.some("PodCIDR", spec.get("podCIDR"))
    writer.some("PodCIDRs", ",".join(spec.get("podCIDRs") or ()))
    writer.some("ProviderID", spec.get("providerID"))
    _pods(writer, node)
    if writer.with_events:
        writer.events([*writer.find_events(uid=name), *writer.find_events()])


def _taint(taint: Object) -> str:
    value = f"={taint['value']}" if taint.get("value") else ""
    return (
        f"{taint.get('key', '')}{value}:{taint.get('effect', '')}"
        if taint.get("effect")
        else taint.get("key", "") + value
    )


def _lease(writer: Writer, name: str) -> None:
    context = writer.context
    try:
        lease = context.client.get(context.discovery.find("leases"), "kube-node-lease", name)
    except CommandError as error:
        writer.field("Lease", f"Failed to get lease: {error.message}")
        return
    spec = lease.get("spec") or {}
    writer.line("Lease:")
    writer.field("HolderIdentity", spec.get("holderIdentity", "<unset>"), 1)
    writer.field("AcquireTime", rfc1123z(spec.get("acquireTime")), 1)
    writer.field("RenewTime", rfc1123z(spec.get("renewTime")), 1)


def _slices(writer: Writer, name: str) -> None:
    pools: dict[tuple[str, str], list[int]] = {}
    for resource_slice in writer.list("resourceslices.resource.k8s.io", fields=f"spec.nodeName={name}"):
        spec = resource_slice.get("spec") or {}
        counts = pools.setdefault((spec.get("driver", ""), (spec.get("pool") or {}).get("name", "")), [0, 0])
        counts[0] += 1
        counts[1] += len(spec.get("devices") or ())
    if not pools:
        return
    writer.line("Node-Local ResourceSlices:")
    writer.heading("Driver", "Pool", "Slices", "Devices")
    for (driver, pool), (slices, devices) in sorted(pools.items())[:10]:
        writer.line(f"{driver}\t{pool}\t{slices}\t{devices}", 1)
    if len(pools) > 10:
        writer.line(f"...and {len(pools) - 10} more pools", 1)


def _pods(writer: Writer, node: Object) -> None:
    from pybernetes.api.core.pod.resource_totals import limits, requests
    from pybernetes.api.quantity import add, integer, milli

    status = node.get("status") or {}
    allocatable = status.get("allocatable") or status.get("capacity") or {}
    fields = f"spec.nodeName={node['metadata']['name']},status.phase!=Succeeded,status.phase!=Failed"
    pods = writer.list("pods", fields=fields)

    def share(name: str, text: str) -> str:
        whole = milli(allocatable.get(name, "0")) if name == "cpu" else integer(allocatable.get(name, "0"))
        part = milli(text) if name == "cpu" else integer(text)
        return f"{text} ({int(part / whole * 100) if whole else 0}%)"

    writer.field("Non-terminated Pods", f"({len(pods)} in total)")
    columns = (
        "Namespace",
        "Name",
        "",
        "CPU Requests",
        "CPU Limits",
        "Memory Requests",
        "Memory Limits",
        "Age",
    )
    writer.heading(*columns)
    totals: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for pod in pods:
        both = requests(pod), limits(pod)
        for total, amounts in zip(totals, both, strict=True):
            for name, text in amounts.items():
                total[name] = add(total[name], text) if name in total else text
        cells = [share(name, amounts.get(name, "0")) for name in ("cpu", "memory") for amounts in both]
        metadata = pod["metadata"]
        age = since(metadata.get("creationTimestamp"))
        writer.line("\t".join([metadata.get("namespace", ""), metadata["name"], "", *cells, age]), 1)
    writer.put("Allocated resources:\n  (Total limits may be over 100 percent, i.e., overcommitted.)\n")
    writer.heading("Resource", "Requests", "Limits")
    huge = sorted(name for name in allocatable if name.startswith("hugepages-"))
    for name in ("cpu", "memory", "ephemeral-storage", *huge):
        writer.line("\t".join([name, *(share(name, total.get(name, "0")) for total in totals)]), 1)
    standard = {"cpu", "memory", "ephemeral-storage", "pods", *huge}
    for name in sorted(set(allocatable) - standard):
        writer.line("\t".join([name, *(total.get(name, "0") for total in totals)]), 1)
