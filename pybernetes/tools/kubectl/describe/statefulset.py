"""Stateful sets."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._pods import template
from pybernetes.tools.kubectl.describe._writer import Writer, shown
from pybernetes.tools.kubectl.output.times import rfc1123z
from pybernetes.tools.kubectl.resources.label_selector import show

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = "apps"


def describe(writer: Writer, value: Object) -> None:
    """Write a stateful set."""
    spec, status = value.get("spec") or {}, value.get("status") or {}
    writer.name(value)
    writer.field("CreationTimestamp", rfc1123z(value["metadata"].get("creationTimestamp")))
    selector = show(spec.get("selector"))
    writer.field("Selector", selector)
    writer.marks(value)
    writer.some("Service Name", spec.get("serviceName"))
    writer.some("Pod Management Policy", spec.get("podManagementPolicy"))
    writer.field("Replicas", f"{spec.get('replicas')} desired | {status.get('replicas', 0)} total")
    strategy = spec.get("updateStrategy") or {}
    writer.field("Update Strategy", strategy.get("type", ""))
    rolling = strategy.get("rollingUpdate") or {}
    if rolling.get("partition") is not None:
        writer.field("Partition", rolling["partition"], 1)
        writer.some("MaxUnavailable", rolling.get("maxUnavailable"), 1)
    policy = spec.get("persistentVolumeClaimRetentionPolicy")
    if policy:
        writer.line("Persistent Volume Claim Retention Policy:")
        writer.field("WhenDeleted", policy.get("whenDeleted", ""), 1)
        writer.field("WhenScaled", policy.get("whenScaled", ""), 1)
    writer.field("Pods Status", writer.pod_counts(value, selector))
    template(writer, spec.get("template"))
    _claims(writer, spec.get("volumeClaimTemplates") or [])
    writer.events()


def _claims(writer: Writer, listed: list[Object]) -> None:
    if not listed:
        writer.line("Volume Claims:\t<none>")
        return
    writer.line("Volume Claims:")
    for claim in listed:
        metadata, spec = claim.get("metadata") or {}, claim.get("spec") or {}
        writer.field("Name", metadata.get("name", ""), 1)
        writer.field("StorageClass", spec.get("storageClassName", ""), 1)
        writer.labels("Labels", metadata.get("labels"), "  ")
        writer.labels("Annotations", metadata.get("annotations"), "  ")
        capacity = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
        writer.field("Capacity", capacity or "<default>", 1)
        writer.field("Access Modes", shown(spec.get("accessModes") or []), 1)
