"""Persistent volume claims."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._writer import Writer, access_modes, shown
from pybernetes.tools.kubectl.output.times import since

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = ""

_OLD_CLASS = "volume.beta.kubernetes.io/storage-class"


def describe(writer: Writer, value: Object) -> None:
    """Write a claim and the pods that use it."""
    metadata, spec, status = value["metadata"], value.get("spec") or {}, value.get("status") or {}
    writer.name(value)
    writer.field(
        "StorageClass",
        (metadata.get("annotations") or {}).get(_OLD_CLASS) or spec.get("storageClassName", ""),
    )
    gone = metadata.get("deletionTimestamp")
    writer.field("Status", f"Terminating (lasts {since(gone)})" if gone else status.get("phase", ""))
    writer.field("Volume", spec.get("volumeName", ""))
    writer.marks(value)
    writer.field("Finalizers", shown(metadata.get("finalizers") or []))
    bound = bool(spec.get("volumeName"))
    writer.field("Capacity", (status.get("capacity") or {}).get("storage", "0") if bound else "")
    writer.field("Access Modes", access_modes(status.get("accessModes")) if bound else "")
    writer.some("VolumeMode", spec.get("volumeMode"))
    writer.typed_reference("DataSource", spec.get("dataSource"))
    _users(writer, metadata)
    if status.get("conditions"):
        writer.line("Conditions:")
        writer.heading(
            "Type", "Status", "LastProbeTime", "LastTransitionTime", "Reason", "Message",
            dashes=("----", "------", "-----------------", "------------------", "------", "-------"),
        )  # fmt: skip
        writer.conditions(status["conditions"], "lastProbeTime", "lastTransitionTime")
    writer.events()


def _users(writer: Writer, metadata: Object) -> None:
    names = sorted(
        pod["metadata"]["name"]
        for pod in writer.list("pods", metadata.get("namespace", ""))
        for volume in (pod.get("spec") or {}).get("volumes") or ()
        if (volume.get("persistentVolumeClaim") or {}).get("claimName") == metadata["name"]
    )
    writer.field("Used By", "\n\t".join(names) or "<none>")
