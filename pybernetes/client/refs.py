"""Which kind a call is about: a light reference, and one constant for every built-in kind.

The constants carry no schema, so that a client which only reads pods starts without loading one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple, Protocol
from urllib.parse import quote

from pybernetes.lib.memory.forgetting import forgotten


class Kindlike(Protocol):
    """Anything that names a kind: a ``Ref``, or an ``api.resource.Resource``."""

    @property
    def group(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def plural(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def namespaced(self) -> bool: ...


class Ref(NamedTuple):
    """A kind at one version, as paths need it."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        """What objects of this kind have as their apiVersion."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def __str__(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural


def as_ref(kind: Kindlike) -> Ref:
    """Return a light reference to a kind."""
    if type(kind) is Ref:
        return kind
    return Ref(kind.group, kind.version, kind.plural, kind.kind, kind.namespaced)


@forgotten
@lru_cache(maxsize=1024)
def _root(ref: Ref) -> str:
    return f"/apis/{ref.group}/{ref.version}" if ref.group else f"/api/{ref.version}"


def path_of(kind: Kindlike, namespace: str = "", name: str = "", subresource: str = "") -> str:
    """Return the path of a collection, an object or a subresource."""
    ref = kind if type(kind) is Ref else as_ref(kind)
    if not ref.namespaced:
        path = f"{_root(ref)}/{ref.plural}"
    elif namespace:
        path = f"{_root(ref)}/namespaces/{namespace}/{ref.plural}"
    elif name:
        raise ValueError(f"{ref.kind} {name!r} is in a namespace, and none is given")
    else:
        path = f"{_root(ref)}/{ref.plural}"
    if name:
        # Names have no slashes; what else an URL cannot hold is escaped.
        path += "/" + (name if name.isalnum() and name.isascii() else quote(name, safe=":@$!*'(),;="))
    return f"{path}/{subresource}" if subresource else path


BINDINGS = Ref("", "v1", "bindings", "Binding")
COMPONENT_STATUSES = Ref("", "v1", "componentstatuses", "ComponentStatus", False)
CONFIG_MAPS = Ref("", "v1", "configmaps", "ConfigMap")
ENDPOINTS = Ref("", "v1", "endpoints", "Endpoints")
EVENTS = Ref("", "v1", "events", "Event")
LIMIT_RANGES = Ref("", "v1", "limitranges", "LimitRange")
NAMESPACES = Ref("", "v1", "namespaces", "Namespace", False)
NODES = Ref("", "v1", "nodes", "Node", False)
PERSISTENT_VOLUME_CLAIMS = Ref("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim")
PERSISTENT_VOLUMES = Ref("", "v1", "persistentvolumes", "PersistentVolume", False)
PODS = Ref("", "v1", "pods", "Pod")
POD_TEMPLATES = Ref("", "v1", "podtemplates", "PodTemplate")
REPLICATION_CONTROLLERS = Ref("", "v1", "replicationcontrollers", "ReplicationController")
RESOURCE_QUOTAS = Ref("", "v1", "resourcequotas", "ResourceQuota")
SECRETS = Ref("", "v1", "secrets", "Secret")
SERVICE_ACCOUNTS = Ref("", "v1", "serviceaccounts", "ServiceAccount")
SERVICES = Ref("", "v1", "services", "Service")
MUTATING_ADMISSION_POLICIES = Ref(
    "admissionregistration.k8s.io", "v1", "mutatingadmissionpolicies", "MutatingAdmissionPolicy", False
)
MUTATING_ADMISSION_POLICY_BINDINGS = Ref(
    "admissionregistration.k8s.io",
    "v1",
    "mutatingadmissionpolicybindings",
    "MutatingAdmissionPolicyBinding",
    False,
)
MUTATING_WEBHOOK_CONFIGURATIONS = Ref(
    "admissionregistration.k8s.io",
    "v1",
    "mutatingwebhookconfigurations",
    "MutatingWebhookConfiguration",
    False,
)
VALIDATING_ADMISSION_POLICIES = Ref(
    "admissionregistration.k8s.io", "v1", "validatingadmissionpolicies", "ValidatingAdmissionPolicy", False
)
VALIDATING_ADMISSION_POLICY_BINDINGS = Ref(
    "admissionregistration.k8s.io",
    "v1",
    "validatingadmissionpolicybindings",
    "ValidatingAdmissionPolicyBinding",
    False,
)
VALIDATING_WEBHOOK_CONFIGURATIONS = Ref(
    "admissionregistration.k8s.io",
    "v1",
    "validatingwebhookconfigurations",
    "ValidatingWebhookConfiguration",
    False,
)
CUSTOM_RESOURCE_DEFINITIONS = Ref(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", False
)
API_SERVICES = Ref("apiregistration.k8s.io", "v1", "apiservices", "APIService", False)
CONTROLLER_REVISIONS = Ref("apps", "v1", "controllerrevisions", "ControllerRevision")
DAEMON_SETS = Ref("apps", "v1", "daemonsets", "DaemonSet")
DEPLOYMENTS = Ref("apps", "v1", "deployments", "Deployment")
REPLICA_SETS = Ref("apps", "v1", "replicasets", "ReplicaSet")
STATEFUL_SETS = Ref("apps", "v1", "statefulsets", "StatefulSet")
SELF_SUBJECT_REVIEWS = Ref("authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview", False)
TOKEN_REVIEWS = Ref("authentication.k8s.io", "v1", "tokenreviews", "TokenReview", False)
LOCAL_SUBJECT_ACCESS_REVIEWS = Ref(
    "authorization.k8s.io", "v1", "localsubjectaccessreviews", "LocalSubjectAccessReview"
)
SELF_SUBJECT_ACCESS_REVIEWS = Ref(
    "authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", False
)
SELF_SUBJECT_RULES_REVIEWS = Ref(
    "authorization.k8s.io", "v1", "selfsubjectrulesreviews", "SelfSubjectRulesReview", False
)
SUBJECT_ACCESS_REVIEWS = Ref(
    "authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", False
)
HORIZONTAL_POD_AUTOSCALERS_V1 = Ref(
    "autoscaling", "v1", "horizontalpodautoscalers", "HorizontalPodAutoscaler"
)
HORIZONTAL_POD_AUTOSCALERS = Ref("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler")
CRON_JOBS = Ref("batch", "v1", "cronjobs", "CronJob")
JOBS = Ref("batch", "v1", "jobs", "Job")
CERTIFICATE_SIGNING_REQUESTS = Ref(
    "certificates.k8s.io", "v1", "certificatesigningrequests", "CertificateSigningRequest", False
)
CLUSTER_TRUST_BUNDLES = Ref("certificates.k8s.io", "v1", "clustertrustbundles", "ClusterTrustBundle", False)
POD_CERTIFICATE_REQUESTS = Ref("certificates.k8s.io", "v1", "podcertificaterequests", "PodCertificateRequest")
LEASES = Ref("coordination.k8s.io", "v1", "leases", "Lease")
LEASE_CANDIDATES = Ref("coordination.k8s.io", "v1beta1", "leasecandidates", "LeaseCandidate")
ENDPOINT_SLICES = Ref("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice")
NEW_EVENTS = Ref("events.k8s.io", "v1", "events", "Event")
FLOW_SCHEMAS = Ref("flowcontrol.apiserver.k8s.io", "v1", "flowschemas", "FlowSchema", False)
PRIORITY_LEVEL_CONFIGURATIONS = Ref(
    "flowcontrol.apiserver.k8s.io", "v1", "prioritylevelconfigurations", "PriorityLevelConfiguration", False
)
INGRESS_CLASSES = Ref("networking.k8s.io", "v1", "ingressclasses", "IngressClass", False)
INGRESSES = Ref("networking.k8s.io", "v1", "ingresses", "Ingress")
IP_ADDRESSES = Ref("networking.k8s.io", "v1", "ipaddresses", "IPAddress", False)
NETWORK_POLICIES = Ref("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy")
SERVICE_CIDRS = Ref("networking.k8s.io", "v1", "servicecidrs", "ServiceCIDR", False)
RUNTIME_CLASSES = Ref("node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", False)
POD_DISRUPTION_BUDGETS = Ref("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget")
CLUSTER_ROLE_BINDINGS = Ref(
    "rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", False
)
CLUSTER_ROLES = Ref("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", False)
ROLE_BINDINGS = Ref("rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding")
ROLES = Ref("rbac.authorization.k8s.io", "v1", "roles", "Role")
DEVICE_CLASSES = Ref("resource.k8s.io", "v1", "deviceclasses", "DeviceClass", False)
DEVICE_TAINT_RULES = Ref("resource.k8s.io", "v1", "devicetaintrules", "DeviceTaintRule", False)
RESOURCE_CLAIMS = Ref("resource.k8s.io", "v1", "resourceclaims", "ResourceClaim")
RESOURCE_CLAIM_TEMPLATES = Ref("resource.k8s.io", "v1", "resourceclaimtemplates", "ResourceClaimTemplate")
RESOURCE_SLICES = Ref("resource.k8s.io", "v1", "resourceslices", "ResourceSlice", False)
PRIORITY_CLASSES = Ref("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", False)
CSI_DRIVERS = Ref("storage.k8s.io", "v1", "csidrivers", "CSIDriver", False)
CSI_NODES = Ref("storage.k8s.io", "v1", "csinodes", "CSINode", False)
CSI_STORAGE_CAPACITIES = Ref("storage.k8s.io", "v1", "csistoragecapacities", "CSIStorageCapacity")
STORAGE_CLASSES = Ref("storage.k8s.io", "v1", "storageclasses", "StorageClass", False)
VOLUME_ATTACHMENTS = Ref("storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", False)
VOLUME_ATTRIBUTES_CLASSES = Ref(
    "storage.k8s.io", "v1", "volumeattributesclasses", "VolumeAttributesClass", False
)
STORAGE_VERSION_MIGRATIONS = Ref(
    "storagemigration.k8s.io", "v1", "storageversionmigrations", "StorageVersionMigration", False
)

BUILTIN: tuple[Ref, ...] = tuple(value for value in list(globals().values()) if type(value) is Ref)


@lru_cache(maxsize=1)
def _by_name() -> dict[tuple[str, str], Ref]:
    return {(ref.api_version, ref.kind): ref for ref in BUILTIN}


def builtin_ref(api_version: str, kind: str) -> Ref | None:
    """Return the reference to a built-in kind by what its objects say of themselves, or None."""
    return _by_name().get((api_version, kind))
