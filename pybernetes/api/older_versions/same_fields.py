"""Older versions that have the fields of the version that is stored now."""

from __future__ import annotations

from pybernetes.api.older_versions._older_version import OlderVersion, Table

_KINDS = """
admissionregistration.k8s.io v1alpha1,v1beta1 MutatingAdmissionPolicy MutatingAdmissionPolicyBinding
admissionregistration.k8s.io v1alpha1,v1beta1 ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding
admissionregistration.k8s.io v1beta1 MutatingWebhookConfiguration ValidatingWebhookConfiguration
apiregistration.k8s.io v1beta1 APIService
apps v1beta1 ControllerRevision Deployment StatefulSet
apps v1beta2 ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet
batch v1beta1 CronJob
certificates.k8s.io v1beta1 CertificateSigningRequest PodCertificateRequest
certificates.k8s.io v1alpha1,v1beta1 ClusterTrustBundle
coordination.k8s.io v1beta1 Lease
flowcontrol.apiserver.k8s.io v1beta1,v1beta2,v1beta3 FlowSchema
flowcontrol.apiserver.k8s.io v1beta3 PriorityLevelConfiguration
networking.k8s.io v1beta1 IPAddress IngressClass ServiceCIDR
node.k8s.io v1beta1 RuntimeClass
rbac.authorization.k8s.io v1beta1 ClusterRole ClusterRoleBinding Role RoleBinding
resource.k8s.io v1beta1,v1beta2 DeviceClass
resource.k8s.io v1alpha3,v1beta2 DeviceTaintRule
resource.k8s.io v1beta2 ResourceClaim ResourceClaimTemplate ResourceSlice
scheduling.k8s.io v1beta1 PriorityClass
storage.k8s.io v1beta1 CSIDriver CSINode StorageClass
storage.k8s.io v1alpha1,v1beta1 CSIStorageCapacity VolumeAttachment VolumeAttributesClass
storagemigration.k8s.io v1beta1 StorageVersionMigration
"""

OLDER: Table = {
    (f"{group}/{version}", kind): OlderVersion(f"{group}/v1")
    for group, versions, *kinds in map(str.split, _KINDS.strip().splitlines())
    for version in versions.split(",")
    for kind in kinds
} | {
    ("extensions/v1beta1", kind): OlderVersion(f"{group}/v1")
    for kind, group in (
        ("DaemonSet", "apps"),
        ("Deployment", "apps"),
        ("NetworkPolicy", "networking.k8s.io"),
        ("ReplicaSet", "apps"),
    )
}
