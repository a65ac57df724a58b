"""Persistent volumes."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._volumes import source
from pybernetes.tools.kubectl.describe._writer import Writer, access_modes, shown
from pybernetes.tools.kubectl.output.times import since

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = ""

_OLD_CLASS = "volume.beta.kubernetes.io/storage-class"


def describe(writer: Writer, value: Object) -> None:
    """Write a persistent volume."""
    metadata, spec, status = value["metadata"], value.get("spec") or {}, value.get("status") or {}
    writer.name(value, namespace=False)
    writer.marks(value)
    writer.field("Finalizers", shown(metadata.get("finalizers") or []))
    writer.field(
        "StorageClass",
        (metadata.get("annotations") or {}).get(_OLD_CLASS) or spec.get("storageClassName", ""),
    )
    gone = metadata.get("deletionTimestamp")
    writer.field("Status", f"Terminating (lasts {since(gone)})" if gone else status.get("phase", ""))
    claim = spec.get("claimRef")
    writer.field("Claim", f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else "")
    writer.field("Reclaim Policy", spec.get("persistentVolumeReclaimPolicy", ""))
    writer.field("Access Modes", access_modes(spec.get("accessModes")))
    writer.some("VolumeMode", spec.get("volumeMode"))
    writer.field("Capacity", (spec.get("capacity") or {}).get("storage", "0"))
    _affinity(writer, spec.get("nodeAffinity"))
    writer.field("Message", status.get("message", ""))
    writer.line("Source:")
    source(writer, spec, persistent=True)
    writer.events()


def _affinity(writer: Writer, value: Object | None) -> None:
    required = (value or {}).get("required")
    if required is None:
        writer.field("Node Affinity", "<none>")
        return
    writer.field("Node Affinity", "")
    terms = required.get("nodeSelectorTerms") or []
    writer.field("Required Terms", "" if terms else "<none>", 1)
    for place, term in enumerate(terms):
        writer.put(f"Term {place}:\t", 2)
        expressions = term.get("matchExpressions") or []
        if not expressions:
            writer.line("<none>")
        for index, expression in enumerate(expressions):
            values = f" [{', '.join(expression['values'])}]" if expression.get("values") else ""
            writer.put(
                ("    \t" if index else "")
                + f"{expression['key']} {expression['operator'].lower()}{values}\n"
            )
