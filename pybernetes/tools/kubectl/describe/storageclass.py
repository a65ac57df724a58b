"""Storage classes."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._writer import Writer, label_text, truth

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = "storage.k8s.io"

_DEFAULT = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")


def describe(writer: Writer, value: Object) -> None:
    """Write a storage class."""
    annotations = value["metadata"].get("annotations") or {}
    writer.name(value, namespace=False)
    writer.field("IsDefaultClass", "Yes" if any(annotations.get(key) == "true" for key in _DEFAULT) else "No")
    writer.field("Annotations", label_text(annotations))
    writer.field("Provisioner", value.get("provisioner", ""))
    writer.field("Parameters", label_text(value.get("parameters")))
    writer.field("AllowVolumeExpansion", truth(value.get("allowVolumeExpansion")))
    if not value.get("mountOptions"):
        writer.field("MountOptions", "<none>")
    else:
        writer.line("MountOptions:")
        for option in value["mountOptions"]:
            writer.line(option, 1)
    writer.some("ReclaimPolicy", value.get("reclaimPolicy"))
    writer.some("VolumeBindingMode", value.get("volumeBindingMode"))
    if value.get("allowedTopologies") is not None:
        writer.field("AllowedTopologies", "")
        for place, term in enumerate(value["allowedTopologies"]):
            writer.put(f"Term {place}:\t", 1)
            for index, expression in enumerate(term.get("matchLabelExpressions") or ()):
                writer.put(
                    ("  \t" if index else "")
                    + f"{expression['key']} in [{', '.join(expression.get('values') or ())}]\n"
                )
    writer.events()
