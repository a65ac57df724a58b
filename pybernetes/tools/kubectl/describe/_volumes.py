"""Volumes of pods and persistent volumes: the type of each source, and which of its fields are shown."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._writer import Writer, shown

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object


_DISK = (("FSType", "fsType"), ("Partition", "partition"), ("ReadOnly", "readOnly"))
# Source: what it is, and label, field and (if it is not an empty text) default of what is shown.
SOURCES: dict[str, tuple[str, tuple[tuple[Any, ...], ...]]] = {
    "hostPath": ("HostPath (bare host directory volume)", (("Path", "path"), ("HostPathType", "type", "<none>"))),
    "emptyDir": (
        "EmptyDir (a temporary directory that shares a pod's lifetime)",
        (("Medium", "medium"), ("SizeLimit", "sizeLimit", "<unset>")),
    ),
    "gcePersistentDisk": ("GCEPersistentDisk (a Persistent Disk resource in Google Compute Engine)", (("PDName", "pdName"), *_DISK)),
    "awsElasticBlockStore": ("AWSElasticBlockStore (a Persistent Disk resource in AWS)", (("VolumeID", "volumeID"), *_DISK)),
    "gitRepo": ("GitRepo (a volume that is pulled from git when the pod is created)", (("Repository", "repository"), ("Revision", "revision"))),
    "secret": ("Secret (a volume populated by a Secret)", (("SecretName", "secretName"), ("Optional", "optional", False))),
    "configMap": ("ConfigMap (a volume populated by a ConfigMap)", (("Name", "name"), ("Optional", "optional", False))),
    "nfs": ("NFS (an NFS mount that lasts the lifetime of a pod)", (("Server", "server"), ("Path", "path"), ("ReadOnly", "readOnly", False))),
    "quobyte": ("Quobyte (a Quobyte mount on the host that shares a pod's lifetime)", (("Registry", "registry"), ("Volume", "volume"), ("ReadOnly", "readOnly", False))),
    "portworxVolume": ("PortworxVolume (a Portworx Volume resource)", (("VolumeID", "volumeID"),)),
    "iscsi": (
        "ISCSI (an ISCSI Disk resource that is attached to a kubelet's host machine and then exposed to the pod)",
        (("TargetPortal", "targetPortal"), ("IQN", "iqn"), ("Lun", "lun", 0), ("ISCSIInterface", "iscsiInterface"),
         ("FSType", "fsType"), ("ReadOnly", "readOnly", False), ("Portals", "portals", []),
         ("DiscoveryCHAPAuth", "chapAuthDiscovery", False), ("SessionCHAPAuth", "chapAuthSession", False),
         ("SecretRef", "secretRef", "nil"), ("InitiatorName", "initiatorName", "<none>")),
    ),
    "glusterfs": ("Glusterfs (a Glusterfs mount on the host that shares a pod's lifetime)", (("EndpointsName", "endpoints"), ("Path", "path"), ("ReadOnly", "readOnly", False))),
    "persistentVolumeClaim": (
        "PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)",
        (("ClaimName", "claimName"), ("ReadOnly", "readOnly", False)),
    ),
    "rbd": (
        "RBD (a Rados Block Device mount on the host that shares a pod's lifetime)",
        (("CephMonitors", "monitors", []), ("RBDImage", "image"), ("FSType", "fsType"), ("RBDPool", "pool"),
         ("RadosUser", "user"), ("Keyring", "keyring"), ("SecretRef", "secretRef", "nil"), ("ReadOnly", "readOnly", False)),
    ),
    "azureDisk": (
        "AzureDisk (an Azure Data Disk mount on the host and bind mount to the pod)",
        (("DiskName", "diskName"), ("DiskURI", "diskURI"), ("Kind", "kind"), ("FSType", "fsType"),
         ("CachingMode", "cachingMode"), ("ReadOnly", "readOnly", False)),
    ),
    "vsphereVolume": ("vSphereVolume (a Persistent Disk resource in vSphere)", (("VolumePath", "volumePath"), ("FSType", "fsType"), ("StoragePolicyName", "storagePolicyName"))),
    "cinder": ("Cinder (a Persistent Disk resource in OpenStack)", (("VolumeID", "volumeID"), ("FSType", "fsType"), ("ReadOnly", "readOnly", False), ("SecretRef", "secretRef", "nil"))),
    "photonPersistentDisk": ("PhotonPersistentDisk (a Persistent Disk resource in photon platform)", (("PdID", "pdID"), ("FSType", "fsType"))),
    "scaleIO": (
        "ScaleIO (a persistent volume backed by a block device in ScaleIO)",
        (("Gateway", "gateway"), ("System", "system"), ("Protection Domain", "protectionDomain"),
         ("Storage Pool", "storagePool"), ("Storage Mode", "storageMode"), ("VolumeName", "volumeName"),
         ("FSType", "fsType"), ("ReadOnly", "readOnly", False)),
    ),
    "local": ("LocalVolume (a persistent volume backed by local storage on a node)", (("Path", "path"),)),
    "cephfs": (
        "CephFS (a CephFS mount on the host that shares a pod's lifetime)",
        (("Monitors", "monitors", []), ("Path", "path"), ("User", "user"), ("SecretFile", "secretFile"),
         ("SecretRef", "secretRef", "nil"), ("ReadOnly", "readOnly", False)),
    ),
    "storageos": ("StorageOS (a StorageOS Persistent Disk resource)", (("VolumeName", "volumeName"), ("VolumeNamespace", "volumeNamespace"), ("FSType", "fsType"), ("ReadOnly", "readOnly", False))),
    "fc": ("FC (a Fibre Channel disk)", (("TargetWWNs", "targetWWNs"), ("LUN", "lun", "<none>"), ("FSType", "fsType"), ("ReadOnly", "readOnly", False))),
    "azureFile": ("AzureFile (an Azure File Service mount on the host and bind mount to the pod)", (("SecretName", "secretName"), ("ShareName", "shareName"), ("ReadOnly", "readOnly", False))),
    "flexVolume": (
        "FlexVolume (a generic volume resource that is provisioned/attached using an exec based plugin)",
        (("Driver", "driver"), ("FSType", "fsType"), ("SecretRef", "secretRef", "nil"), ("ReadOnly", "readOnly", False), ("Options", "options", {})),
    ),
    "flocker": ("Flocker (a Flocker volume mounted by the Flocker agent)", (("DatasetName", "datasetName"), ("DatasetUUID", "datasetUUID"))),
    "image": ("Image (a container image or OCI artifact)", (("Reference", "reference"), ("PullPolicy", "pullPolicy"))),
}  # fmt: skip


def volumes(writer: Writer, listed: list[Object] | None, space: str = "") -> None:
    """Write the volumes of a pod."""
    if not listed:
        writer.line(f"{space}Volumes:\t<none>")
        return
    writer.line(f"{space}Volumes:")
    for volume in listed:
        writer.line(f"{' ' if space else ''}{volume['name']}:", 1)
        source(writer, volume)


def source(writer: Writer, value: Object, persistent: bool = False) -> None:
    """Write where a volume comes from."""
    for name, (title, fields) in SOURCES.items():
        if name in value:
            writer.field("Type", title, 2)
            for label, key, *default in fields:
                field = (value[name] or {}).get(key, default[0] if default else "")
                text = ", ".join(field) if key == "targetWWNs" and field else shown(field)
                writer.put(f"    {label}{'' if label == 'ISCSIInterface' else ':'}\t{text}\n")
            return
    if "projected" in value:
        _projected(writer, value["projected"])
    elif "downwardAPI" in value:
        writer.put("Type:\tDownwardAPI (a volume populated by information about the pod)\n    Items:\n", 2)
        for item in value["downwardAPI"].get("items") or ():
            ref = (item.get("fieldRef") or {}).get("fieldPath") or (item.get("resourceFieldRef") or {}).get(
                "resource"
            )
            writer.line(f"{ref} -> {item.get('path')}", 3)
    elif "csi" in value:
        _csi(writer, value["csi"], persistent)
    elif "ephemeral" in value:
        _ephemeral(writer, value["ephemeral"])
    else:
        writer.line("<unknown>", 1)


def _projected(writer: Writer, value: Object) -> None:
    writer.field("Type", "Projected (a volume that contains injected data from multiple sources)", 2)
    for projection in value.get("sources") or ():
        if "secret" in projection or "configMap" in projection:
            label, ref = (
                ("SecretName", projection["secret"])
                if "secret" in projection
                else ("ConfigMapName", projection["configMap"])
            )
            writer.field(label, ref.get("name", ""), 2)
            writer.put(f"    Optional:\t{shown(bool(ref.get('optional')))}\n")
        elif "downwardAPI" in projection:
            writer.field("DownwardAPI", "true", 2)
        elif "serviceAccountToken" in projection:
            writer.field(
                "TokenExpirationSeconds", projection["serviceAccountToken"].get("expirationSeconds", ""), 2
            )


def _csi(writer: Writer, value: Object, persistent: bool) -> None:
    writer.field("Type", "CSI (a Container Storage Interface (CSI) volume source)", 2)
    writer.put(f"    Driver:\t{value.get('driver', '')}\n    FSType:\t{value.get('fsType', '')}\n")
    if persistent:
        writer.put(f"    VolumeHandle:\t{value.get('volumeHandle', '')}\n")
    writer.put(f"    ReadOnly:\t{shown(bool(value.get('readOnly')))}\n")
    attributes = value.get("volumeAttributes") or {}
    writer.put("VolumeAttributes:\t", 2)
    if not attributes:
        writer.line("<none>")
    for place, key in enumerate(sorted(attributes)):
        line = f"{key}={attributes[key]}"
        writer.put(
            ("    \t    " if place else "    ") + (line[:140] + "..." if len(line) > 140 else line) + "\n"
        )


def _ephemeral(writer: Writer, value: Object) -> None:
    writer.field(
        "Type",
        "EphemeralVolume (an inline specification for a volume that gets created and deleted with the pod)",
        2,
    )
    claim = value.get("volumeClaimTemplate")
    if claim:
        spec = claim.get("spec") or {}
        for label, text in (
            ("StorageClass", spec.get("storageClassName", "")), ("Volume", ""), ("Labels", "<none>"),
            ("Annotations", "<none>"), ("Capacity", ""), ("Access Modes", ""), ("VolumeMode", spec.get("volumeMode")),
        ):  # fmt: skip
            writer.some(label, text, 2) if label == "VolumeMode" else writer.field(label, text, 2)
