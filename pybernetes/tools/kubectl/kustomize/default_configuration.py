"""The fields that transformers change when nothing else is said: facts about the kinds of Kubernetes."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

# Where the kinds have their pods.
_TEMPLATES = ("Deployment", "ReplicaSet", "DaemonSet", "StatefulSet", "Job")
_PODS = (("Pod", "spec"), ("PodTemplate", "template/spec"), *((kind, "spec/template/spec") for kind in _TEMPLATES),
         ("CronJob", "spec/jobTemplate/spec/template/spec"))  # fmt: skip
_RUNNERS = (("Pod", "spec"), *((kind, "spec/template/spec") for kind in ("StatefulSet", "Deployment",
            "ReplicationController", "Job", "DaemonSet")), ("CronJob", "spec/jobTemplate/spec/template/spec"))  # fmt: skip
_LABELS = """
metadata/labels create
spec/template/metadata/labels create version=v1 kind=ReplicationController
spec/template/metadata/labels create kind=Deployment
spec/template/metadata/labels create kind=ReplicaSet
spec/template/metadata/labels create kind=DaemonSet
spec/template/metadata/labels create group=apps kind=StatefulSet
spec/volumeClaimTemplates[]/metadata/labels create group=apps kind=StatefulSet
spec/template/metadata/labels create group=batch kind=Job
spec/jobTemplate/metadata/labels create group=batch kind=CronJob
spec/jobTemplate/spec/template/metadata/labels create group=batch kind=CronJob
"""
_SELECTORS = """
spec/selector create version=v1 kind=Service
spec/selector create version=v1 kind=ReplicationController
spec/selector/matchLabels create kind=Deployment
spec/selector/matchLabels create kind=ReplicaSet
spec/selector/matchLabels create kind=DaemonSet
spec/selector/matchLabels create group=apps kind=StatefulSet
spec/selector/matchLabels group=batch kind=Job
spec/jobTemplate/spec/selector/matchLabels group=batch kind=CronJob
spec/selector/matchLabels group=policy kind=PodDisruptionBudget
spec/podSelector/matchLabels group=networking.k8s.io kind=NetworkPolicy
spec/ingress/from/podSelector/matchLabels group=networking.k8s.io kind=NetworkPolicy
spec/egress/to/podSelector/matchLabels group=networking.k8s.io kind=NetworkPolicy
"""
_ANNOTATIONS = """
metadata/annotations create
spec/template/metadata/annotations create version=v1 kind=ReplicationController
spec/template/metadata/annotations create kind=Deployment
spec/template/metadata/annotations create kind=ReplicaSet
spec/template/metadata/annotations create kind=DaemonSet
spec/template/metadata/annotations create kind=StatefulSet
spec/template/metadata/annotations create group=batch kind=Job
spec/jobTemplate/metadata/annotations create group=batch kind=CronJob
spec/jobTemplate/spec/template/metadata/annotations create group=batch kind=CronJob
"""
_NAMESPACES = """
metadata/name create kind=Namespace
spec/service/namespace create group=apiregistration.k8s.io kind=APIService
spec/conversion/webhook/clientConfig/service/namespace group=apiextensions.k8s.io kind=CustomResourceDefinition
"""
_IMAGES = """
spec/containers[]/image create
spec/initContainers[]/image create
spec/volumes[]/image/reference create
spec/template/spec/containers[]/image create
spec/template/spec/initContainers[]/image create
spec/template/spec/volumes[]/image/reference create
"""
_INGRESS = "metadata/annotations/{} kind=Ingress"
_NGINX = r"nginx.ingress.kubernetes.io\/"
_CONFIG_MAPS = f"""
spec/configSource/configMap kind=Node
rules/resourceNames kind=Role
rules/resourceNames kind=ClusterRole
{_INGRESS.format(_NGINX + "fastcgi-params-configmap")}
"""
_SECRETS = f"""
spec/tls/secretName kind=Ingress
{_INGRESS.format("ingress.kubernetes.io" + chr(92) + "/auth-secret")}
{_INGRESS.format(_NGINX + "auth-secret")}
{_INGRESS.format(_NGINX + "auth-tls-secret")}
imagePullSecrets/name kind=ServiceAccount
parameters/secretName kind=StorageClass
parameters/adminSecretName kind=StorageClass
parameters/userSecretName kind=StorageClass
parameters/secretRef kind=StorageClass
rules/resourceNames kind=Role
rules/resourceNames kind=ClusterRole
spec/template/spec/containers/env/valueFrom/secretKeyRef/name kind=Service group=serving.knative.dev version=v1
spec/azureFile/secretName kind=PersistentVolume
"""
_SERVICES = """
spec/serviceName kind=StatefulSet group=apps
spec/rules/http/paths/backend/serviceName kind=Ingress
spec/backend/serviceName kind=Ingress
spec/rules/http/paths/backend/service/name kind=Ingress
spec/defaultBackend/service/name kind=Ingress
spec/service/name kind=APIService group=apiregistration.k8s.io
webhooks/clientConfig/service kind=ValidatingWebhookConfiguration group=admissionregistration.k8s.io
webhooks/clientConfig/service kind=MutatingWebhookConfiguration group=admissionregistration.k8s.io
"""
_RBAC = "group=rbac.authorization.k8s.io"


def value() -> dict[str, Any]:
    """Return the configuration as a file would have it."""
    return {
        "namePrefix": [{"path": "metadata/name"}],
        "nameSuffix": [{"path": "metadata/name"}],
        "namespace": _specs(_NAMESPACES),
        "commonLabels": [*_specs(_SELECTORS), *_affinities(), *_specs(_LABELS)],
        "templateLabels": _specs(_LABELS),
        "commonAnnotations": _specs(_ANNOTATIONS),
        "varReference": _variables(),
        "nameReference": _references(),
        "images": _specs(_IMAGES),
        "replicas": [
            {"path": "spec/replicas", "create": True, "kind": kind}
            for kind in ("Deployment", "ReplicationController", "ReplicaSet", "StatefulSet")
        ],
    }


def _specs(text: str) -> list[dict[str, Any]]:
    specs = []
    for line in text.strip().splitlines():
        path, *words = line.split()
        spec: dict[str, Any] = {"path": path}
        for word in words:
            name, equals, setting = word.partition("=")
            spec[name] = setting if equals else True
        specs.append(spec)
    return specs


def _affinities() -> list[dict[str, Any]]:
    term = "DuringSchedulingIgnoredDuringExecution"
    paths = [
        f"affinity/{sort}/{when}/labelSelector/matchLabels"
        for sort in ("podAffinity", "podAntiAffinity")
        for when in (f"preferred{term}/podAffinityTerm", f"required{term}")
    ]
    return [
        {"path": f"spec/template/spec/{path}", "group": "apps", "kind": kind}
        for kind in ("Deployment", "StatefulSet")
        for path in (*paths, "topologySpreadConstraints/labelSelector/matchLabels")
    ]


def _variables() -> list[dict[str, Any]]:
    fields = ("args", "command", "env/value", "volumeMounts/mountPath")
    paths = [
        {"path": f"{pods}/{containers}/{field}", "kind": kind}
        for kind, pods in _PODS if kind != "PodTemplate"
        for containers in ("containers", "initContainers")
        for field in fields
    ]  # fmt: skip
    servers = [
        {"path": f"{pods}/volumes/nfs/server", "kind": kind}
        for kind, pods in _PODS if kind not in ("PodTemplate", "CronJob", "StatefulSet")
    ]  # fmt: skip
    others = _specs("""
spec/jobTemplate/spec/template/volumes/nfs/server kind=CronJob
spec/volumeClaimTemplates/spec/nfs/server kind=StatefulSet
spec/template/metadata/annotations kind=Deployment
spec/rules/host kind=Ingress
spec/tls/hosts kind=Ingress
spec/tls/secretName kind=Ingress
spec/ports/port kind=Service
spec/ports/targetPort kind=Service
spec/nfs/server kind=PersistentVolume
metadata/labels
metadata/annotations
""")
    return [*paths, *servers, *others]


def _references() -> list[dict[str, Any]]:
    scaled = _specs("spec/scaleTargetRef/name kind=HorizontalPodAutoscaler")
    claims = [("volumes/persistentVolumeClaim/claimName", _RUNNERS)]
    return [
        *({"kind": kind, "fieldSpecs": scaled} for kind in
          ("Deployment", "ReplicationController", "ReplicaSet", "StatefulSet")),
        {"kind": "ConfigMap", "version": "v1", "fieldSpecs": [*_in_pods("configMap", "configMap/name", "configMap"),
                                                             *_specs(_CONFIG_MAPS)]},
        {"kind": "Secret", "version": "v1", "fieldSpecs": [*_in_pods("secret", "secret/secretName", "secret"),
                                                          *_below("imagePullSecrets/name", _PODS), *_specs(_SECRETS)]},
        {"kind": "Service", "version": "v1", "fieldSpecs": _specs(_SERVICES)},
        _rbac("Role", ["RoleBinding"]),
        _rbac("ClusterRole", ["RoleBinding", "ClusterRoleBinding"]),
        {"kind": "ServiceAccount", "version": "v1", "fieldSpecs": [
            *_specs(f"subjects kind=RoleBinding {_RBAC}\nsubjects kind=ClusterRoleBinding {_RBAC}"),
            *_below("serviceAccountName", _RUNNERS)]},
        {"kind": "PersistentVolumeClaim", "version": "v1", "fieldSpecs": _below(*claims[0])},
        {"kind": "PersistentVolume", "version": "v1",
         "fieldSpecs": _specs("spec/volumeName kind=PersistentVolumeClaim\nrules/resourceNames kind=ClusterRole")},
        {"kind": "StorageClass", "version": "v1", "group": "storage.k8s.io", "fieldSpecs": _specs(
            "spec/storageClassName kind=PersistentVolume\nspec/storageClassName kind=PersistentVolumeClaim\n"
            "spec/volumeClaimTemplates/spec/storageClassName kind=StatefulSet")},
        {"kind": "PriorityClass", "version": "v1", "group": "scheduling.k8s.io",
         "fieldSpecs": _below("priorityClassName", _RUNNERS)},
        {"kind": "IngressClass", "version": "v1", "group": "networking.k8s.io/v1",
         "fieldSpecs": _specs("spec/ingressClassName kind=Ingress")},
        {"kind": "ValidatingAdmissionPolicy", "group": "admissionregistration.k8s.io", "fieldSpecs": _specs(
            "spec/policyName kind=ValidatingAdmissionPolicyBinding group=admissionregistration.k8s.io")},
    ]  # fmt: skip


def _rbac(kind: str, referrers: list[str]) -> dict[str, Any]:
    specs = "\n".join(f"roleRef/name kind={referrer} {_RBAC}" for referrer in referrers)
    return {"kind": kind, "group": "rbac.authorization.k8s.io", "fieldSpecs": _specs(specs)}


def _below(path: str, holders: tuple[tuple[str, str], ...]) -> list[dict[str, Any]]:
    return [{"path": f"{pods}/{path}", "kind": kind} for kind, pods in holders]


def _in_pods(sort: str, volume: str, source: str) -> list[dict[str, Any]]:
    paths = [
        f"volumes/{volume}",
        *(f"{containers}/env/valueFrom/{sort}KeyRef/name" for containers in ("containers", "initContainers")),
        *(f"{containers}/envFrom/{sort}Ref/name" for containers in ("containers", "initContainers")),
        f"volumes/projected/sources/{source}/name",
    ]
    return [
        {"path": f"{pods}/{path}", "kind": kind, **({"version": "v1"} if kind == "Pod" else {})}
        for kind, pods in _PODS
        for path in paths
    ]
