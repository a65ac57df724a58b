"""The types of volumes that a pod may have."""

from __future__ import annotations

from pybernetes.api.core.pod.security_standards.checks.violations import Violation, named, plural, quoted
from pybernetes.api.resource import Object

_ALLOWED = frozenset(
    {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected",
     "secret"}
)  # fmt: skip
# In the order in which a volume of several types is named.
_FORBIDDEN = (
    "hostPath", "gcePersistentDisk", "awsElasticBlockStore", "gitRepo", "nfs", "iscsi", "glusterfs", "rbd",
    "flexVolume", "cinder", "cephfs", "flocker", "fc", "azureFile", "vsphereVolume", "quobyte", "azureDisk",
    "photonPersistentDisk", "portworxVolume", "scaleIO", "storageos",
)  # fmt: skip


def restricted(metadata: Object, spec: Object) -> Violation | None:
    """Require that volumes come from the cluster, not from the node or from a network of its own."""
    names: list[str] = []
    types: set[str] = set()
    for volume in spec.get("volumes") or ():
        sources = {key for key, value in volume.items() if value is not None}
        if sources & _ALLOWED:
            continue
        names.append(volume.get("name", ""))
        types.add(next((type_ for type_ in _FORBIDDEN if type_ in sources), "unknown"))
    if not names:
        return None
    verb = "uses" if len(names) == 1 else "use"
    what = plural("restricted volume type", types)
    detail = f"{named(names, 'volume')} {verb} {what} {quoted(sorted(types))}"
    return Violation("restricted volume types", detail)
