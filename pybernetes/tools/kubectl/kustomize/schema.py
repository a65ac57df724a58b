"""What the original knows of built-in kinds: how lists are merged, and which kinds have no namespace.

It has the schema of Kubernetes v1.21 built in; another may come with a kustomization (``openapi``). Only lists that are
merged matter: a type is its fields that are such lists, or lead to some.
"""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

_CLUSTER = """
admissionregistration.k8s.io/v1,admissionregistration.k8s.io/v1beta1: MutatingWebhookConfiguration ValidatingWebhookConfiguration
apiextensions.k8s.io/v1,apiextensions.k8s.io/v1beta1: CustomResourceDefinition
apiregistration.k8s.io/v1,apiregistration.k8s.io/v1beta1: APIService
certificates.k8s.io/v1,certificates.k8s.io/v1beta1: CertificateSigningRequest
flowcontrol.apiserver.k8s.io/v1beta1: FlowSchema PriorityLevelConfiguration
networking.k8s.io/v1,networking.k8s.io/v1beta1: IngressClass
node.k8s.io/v1,node.k8s.io/v1beta1: RuntimeClass
policy/v1beta1: PodSecurityPolicy
rbac.authorization.k8s.io/v1,rbac.authorization.k8s.io/v1beta1: ClusterRole ClusterRoleBinding
scheduling.k8s.io/v1,scheduling.k8s.io/v1beta1: PriorityClass
storage.k8s.io/v1,storage.k8s.io/v1beta1: CSIDriver CSINode StorageClass VolumeAttachment
v1: ComponentStatus Namespace Node NodeProxyOptions PersistentVolume
"""
_NAMESPACED = """
apps/v1: ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet
autoscaling/v1: HorizontalPodAutoscaler Scale
autoscaling/v2beta1,autoscaling/v2beta2: HorizontalPodAutoscaler
batch/v1: CronJob Job
batch/v1beta1: CronJob
coordination.k8s.io/v1,coordination.k8s.io/v1beta1: Lease
discovery.k8s.io/v1,discovery.k8s.io/v1beta1: EndpointSlice
events.k8s.io/v1,events.k8s.io/v1beta1: Event
extensions/v1beta1: Ingress
networking.k8s.io/v1: Ingress NetworkPolicy
networking.k8s.io/v1beta1: Ingress
policy/v1,policy/v1beta1: PodDisruptionBudget
rbac.authorization.k8s.io/v1,rbac.authorization.k8s.io/v1beta1: Role RoleBinding
storage.k8s.io/v1beta1: CSIStorageCapacity
v1: ConfigMap Endpoints Event LimitRange PersistentVolumeClaim Pod PodAttachOptions PodExecOptions PodPortForwardOptions PodProxyOptions PodTemplate ReplicationController ResourceQuota Secret Service ServiceAccount ServiceProxyOptions
"""
# A type per line: a field and its type, [type]keys for a list that is merged by keys, (type) for one that is not.
_TYPES = """
ObjectMeta finalizers=[] ownerReferences=[]uid
Container env=[]name ports=[]containerPort,protocol volumeDevices=[]devicePath volumeMounts=[]mountPath
EphemeralContainer env=[]name volumeDevices=[]devicePath volumeMounts=[]mountPath
PodSpec containers=[Container]name ephemeralContainers=[EphemeralContainer]name hostAliases=[]ip imagePullSecrets=[]name initContainers=[Container]name topologySpreadConstraints=[]topologyKey,whenUnsatisfiable volumes=[Volume]name
Volume ephemeral=Ephemeral
Ephemeral volumeClaimTemplate=WithMeta
WithMeta metadata=ObjectMeta
Conditions conditions=[]type
PodStatus conditions=[]type podIPs=[]ip
PodTemplateSpec metadata=ObjectMeta spec=PodSpec
Template template=PodTemplateSpec
StatefulSetSpec template=PodTemplateSpec volumeClaimTemplates=(PersistentVolumeClaim)
JobTemplateSpec metadata=ObjectMeta spec=Template
CronJobSpec jobTemplate=JobTemplateSpec
NodeSpec podCIDRs=[]
NodeStatus addresses=[]type conditions=[]type
ServiceSpec ports=[]port,protocol
CSINodeSpec drivers=[]name
"""
# The kinds with more than metadata, in the same way.
_KINDS = """
MutatingWebhookConfiguration webhooks=[]name
ValidatingWebhookConfiguration webhooks=[]name
APIService status=Conditions
DaemonSet spec=Template status=Conditions
Deployment spec=Template status=Conditions
ReplicaSet spec=Template status=Conditions
StatefulSet spec=StatefulSetSpec status=Conditions
ReplicationController spec=Template status=Conditions
CronJob spec=CronJobSpec
Job spec=Template status=Conditions
PodDisruptionBudget status=Conditions
CSINode spec=CSINodeSpec
ComponentStatus conditions=[]type
Namespace status=Conditions
Node spec=NodeSpec status=NodeStatus
PersistentVolumeClaim status=Conditions
Pod spec=PodSpec status=PodStatus
PodTemplate template=PodTemplateSpec
Service spec=ServiceSpec status=Conditions
ServiceAccount secrets=[]name
"""


class Schema:
    """A type: its fields, and for a list the type of its items and the keys by which it is merged, if it is."""

    fields: dict[str, Schema] = {}
    others: Schema | None = None
    items: Schema | None = None
    keys: list[str] | None = None  # None: the list is not merged

    def field(self, name: str) -> Schema | None:
        """Return the type of a field."""
        return self.fields.get(name, self.others)


def _scopes(text: str) -> set[tuple[str, str]]:
    scopes: set[tuple[str, str]] = set()
    for line in text.strip().splitlines():
        versions, _, kinds = line.partition(": ")
        scopes.update((version, kind) for version in versions.split(",") for kind in kinds.split())
    return scopes


_cluster = _scopes(_CLUSTER)
_known: set[tuple[str, str]] | None = None
_types: dict[str, Schema] = {}
_custom: dict[tuple[str, str], Schema] | None = None
_custom_scopes: dict[tuple[str, str], bool] = {}
_version = ""
BUILT_IN = "v1.21.2"


def is_cluster_scoped(api_version: str, kind: str) -> bool:
    """Return whether a kind certainly has no namespace."""
    if (api_version, kind) in _cluster:
        return True
    return _custom_scopes.get((api_version, kind)) is False and (api_version, kind) not in _builtin()


def _builtin() -> set[tuple[str, str]]:
    global _known
    if _known is None:
        _known = _scopes(_NAMESPACED) | _cluster
    return _known


def schema_of(api_version: str, kind: str) -> Schema | None:
    """Return the type of a kind, None for one that is not known."""
    if _custom is not None:
        return _custom.get((api_version, kind))
    if (api_version, kind) not in _builtin():
        return None
    if not _types:
        _read_types()
    return _types.get(f"kind {kind}") or _types["WithMeta"]


def _read_types() -> None:
    for text, prefix in ((_TYPES, ""), (_KINDS, "kind ")):
        for line in text.strip().splitlines():
            name, *fields = line.split()
            own = _named(prefix + name)
            own.fields = {"metadata": _named("ObjectMeta")} if prefix else {}
            for field in fields:
                key, _, kind = field.partition("=")
                own.fields[key] = _reference(kind)
    _types["PersistentVolumeClaim"].fields = _types["kind PersistentVolumeClaim"].fields


def _named(name: str) -> Schema:
    return _types.setdefault(name, Schema())


def _reference(text: str) -> Schema:
    if text[0] not in "[(":
        return _named(text)
    name, _, keys = text[1:].partition("]" if text[0] == "[" else ")")
    schema = Schema()
    schema.items = _named(name) if name else Schema()
    if text[0] == "[":
        schema.keys = keys.split(",") if keys else []
    return schema


def use(custom: dict[str, Any] | None, version: str = "") -> None:
    """Take the schema that a kustomization brings, or the built-in one, which it may name."""
    global _custom, _version
    _custom_scopes.clear()
    _custom, _version = None, version
    if custom is not None:
        from pybernetes.tools.kubectl.kustomize.custom_schema import read

        _custom, scopes = read(custom)
        _custom_scopes.update(scopes)


def is_chosen() -> bool:
    """Return whether a kustomization brought a schema, or named the built-in one."""
    return _custom is not None or bool(_version)
