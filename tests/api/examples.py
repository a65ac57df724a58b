"""One small valid manifest for every built-in kind."""

from __future__ import annotations

from copy import deepcopy

from pybernetes.api.resource import Object
from tests.api.certificates import pems

_LABELS = {"app": "web"}
_CONTAINERS = {"containers": [{"name": "web", "image": "registry.example/web:1"}]}
_TEMPLATE = {"metadata": {"labels": _LABELS}, "spec": _CONTAINERS}
_JOB_TEMPLATE = {"spec": {**_CONTAINERS, "restartPolicy": "Never"}}
_SELECTOR = {"matchLabels": _LABELS}
_RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
_WEBHOOK = {
    "name": "check.example.com",
    "clientConfig": {"url": "https://127.0.0.1:9/check"},  # nobody is there, and nobody else is asked
    "admissionReviewVersions": ["v1"],
    "sideEffects": "None",
    "rules": [_RULE],
}
_CLAIM = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}]}}
_TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
_OBJECT = {"apiVersion": "v1", "kind": "Pod", "name": "web", "namespace": "default"}
_TIME, _PRECISE = "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000000Z"

# The API version and the kind, then everything but these and the metadata.
_KINDS: dict[tuple[str, str], Object] = {
    ("v1", "Binding"): {"target": {"kind": "Node", "name": "node"}},
    ("v1", "ComponentStatus"): {"conditions": [{"type": "Healthy", "status": "True"}]},
    ("v1", "ConfigMap"): {"data": {"key": "value"}},
    ("v1", "Endpoints"): {"subsets": [{"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 80}]}]},
    ("v1", "Event"): {"involvedObject": _OBJECT, "reason": "Started", "type": "Normal"},
    ("v1", "LimitRange"): {"spec": {"limits": [{"type": "Container", "default": {"cpu": "1"}}]}},
    ("v1", "Namespace"): {},
    ("v1", "Node"): {"status": {"capacity": {"cpu": "4", "pods": "110"}}},
    ("v1", "PersistentVolume"): {
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "hostPath": {"path": "/data"},
        }
    },
    ("v1", "PersistentVolumeClaim"): {
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    },
    ("v1", "Pod"): {"spec": _CONTAINERS},
    ("v1", "PodTemplate"): {"template": _TEMPLATE},
    ("v1", "ReplicationController"): {"spec": {"selector": _LABELS, "template": _TEMPLATE}},
    ("v1", "ResourceQuota"): {"spec": {"hard": {"pods": "10"}}},
    ("v1", "Secret"): {"data": {"key": "dmFsdWU="}},
    ("v1", "Service"): {"spec": {"selector": _LABELS, "ports": [{"port": 80}]}},
    ("v1", "ServiceAccount"): {},
    ("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy"): {
        "spec": {
            "matchConstraints": {"resourceRules": [_RULE]},
            "mutations": [
                {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{}"}}
            ],
            "reinvocationPolicy": "Never",
        }
    },
    ("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicyBinding"): {"spec": {"policyName": "policy"}},
    ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"): {"webhooks": [_WEBHOOK]},
    ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy"): {
        "spec": {
            "matchConstraints": {"resourceRules": [_RULE]},
            "validations": [{"expression": "object.metadata.name != 'bad'"}],
        }
    },
    ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding"): {
        "spec": {"policyName": "policy", "validationActions": ["Deny"]}
    },
    ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"): {"webhooks": [_WEBHOOK]},
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"): {
        "metadata": {"name": "crontabs.stable.example.com"},
        "spec": {
            "group": "stable.example.com",
            "scope": "Namespaced",
            "names": {"plural": "crontabs", "kind": "CronTab", "shortNames": ["ct"]},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "properties": {
                                "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
                            },
                        }
                    },
                }
            ],
        },
    },
    ("apiregistration.k8s.io/v1", "APIService"): {
        "metadata": {"name": "v1.metrics.example.com"},
        "spec": {
            "group": "metrics.example.com",
            "version": "v1",
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
            "service": {"namespace": "default", "name": "metrics"},
        },
    },
    ("apps/v1", "ControllerRevision"): {"revision": 1, "data": {"spec": {}}},
    ("apps/v1", "DaemonSet"): {"spec": {"selector": _SELECTOR, "template": _TEMPLATE}},
    ("apps/v1", "Deployment"): {"spec": {"selector": _SELECTOR, "template": _TEMPLATE}},
    ("apps/v1", "ReplicaSet"): {"spec": {"selector": _SELECTOR, "template": _TEMPLATE}},
    ("apps/v1", "StatefulSet"): {
        "spec": {"serviceName": "web", "selector": _SELECTOR, "template": _TEMPLATE}
    },
    ("authentication.k8s.io/v1", "SelfSubjectReview"): {},
    ("authentication.k8s.io/v1", "TokenReview"): {"spec": {"token": "token"}},
    ("authorization.k8s.io/v1", "LocalSubjectAccessReview"): {
        "metadata": {"namespace": "default"},
        "spec": {
            "user": "jane",
            "resourceAttributes": {"namespace": "default", "verb": "get", "resource": "pods"},
        },
    },
    ("authorization.k8s.io/v1", "SelfSubjectAccessReview"): {
        "metadata": {},
        "spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}},
    },
    ("authorization.k8s.io/v1", "SelfSubjectRulesReview"): {"spec": {"namespace": "default"}},
    ("authorization.k8s.io/v1", "SubjectAccessReview"): {
        "metadata": {},
        "spec": {"user": "jane", "nonResourceAttributes": {"path": "/healthz", "verb": "get"}},
    },
    ("autoscaling/v1", "HorizontalPodAutoscaler"): {"spec": {"scaleTargetRef": _TARGET, "maxReplicas": 3}},
    ("autoscaling/v2", "HorizontalPodAutoscaler"): {"spec": {"scaleTargetRef": _TARGET, "maxReplicas": 3}},
    ("batch/v1", "CronJob"): {
        "spec": {"schedule": "*/5 * * * *", "jobTemplate": {"spec": {"template": _JOB_TEMPLATE}}}
    },
    ("batch/v1", "Job"): {"spec": {"template": _JOB_TEMPLATE}},
    ("certificates.k8s.io/v1", "CertificateSigningRequest"): {
        "spec": {
            "request": pems.encoded(pems.request()),
            "signerName": "example.com/signer",
            "usages": ["client auth"],
        }
    },
    ("certificates.k8s.io/v1", "ClusterTrustBundle"): {"spec": {"trustBundle": pems.certificate()}},
    ("certificates.k8s.io/v1", "PodCertificateRequest"): {
        "spec": {
            "signerName": "example.com/signer",
            "podName": "web",
            "podUID": "1",
            "serviceAccountName": "default",
            "serviceAccountUID": "2",
            "nodeName": "node",
            "nodeUID": "3",
            "stubPKCS10Request": pems.encoded(pems.request("P256", pems.Encoding.DER)),
        }
    },
    ("coordination.k8s.io/v1", "Lease"): {
        "spec": {"holderIdentity": "me", "leaseDurationSeconds": 15, "renewTime": _PRECISE}
    },
    ("discovery.k8s.io/v1", "EndpointSlice"): {
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["10.0.0.1"]}],
        "ports": [{"port": 80}],
    },
    ("events.k8s.io/v1", "Event"): {
        "eventTime": _PRECISE,
        "reportingController": "example.com/controller",
        "reportingInstance": "controller-1",
        "action": "Starting",
        "reason": "Started",
        "type": "Normal",
        "regarding": _OBJECT,
    },
    ("flowcontrol.apiserver.k8s.io/v1", "FlowSchema"): {
        "spec": {"priorityLevelConfiguration": {"name": "level"}}
    },
    ("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration"): {
        "spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}}
    },
    ("networking.k8s.io/v1", "IPAddress"): {
        "metadata": {"name": "10.0.0.1"},
        "spec": {"parentRef": {"resource": "services", "name": "web", "namespace": "default"}},
    },
    ("networking.k8s.io/v1", "Ingress"): {
        "spec": {"defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}}
    },
    ("networking.k8s.io/v1", "IngressClass"): {"spec": {"controller": "example.com/ingress"}},
    ("networking.k8s.io/v1", "NetworkPolicy"): {"spec": {"podSelector": {}}},
    ("networking.k8s.io/v1", "ServiceCIDR"): {"spec": {"cidrs": ["10.1.0.0/16"]}},
    ("node.k8s.io/v1", "RuntimeClass"): {"handler": "runc"},
    ("policy/v1", "PodDisruptionBudget"): {"spec": {"minAvailable": 1, "selector": _SELECTOR}},
    ("rbac.authorization.k8s.io/v1", "ClusterRole"): {
        "rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["nodes"]}]
    },
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"): {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
        "subjects": [{"kind": "User", "name": "jane", "apiGroup": "rbac.authorization.k8s.io"}],
    },
    ("rbac.authorization.k8s.io/v1", "Role"): {
        "rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]
    },
    ("rbac.authorization.k8s.io/v1", "RoleBinding"): {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
        "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": "default"}],
    },
    ("resource.k8s.io/v1", "DeviceClass"): {"spec": {}},
    ("resource.k8s.io/v1", "DeviceTaintRule"): {
        "spec": {"taint": {"key": "broken", "effect": "NoExecute", "timeAdded": _TIME}}
    },
    ("resource.k8s.io/v1", "ResourceClaim"): {"spec": _CLAIM},
    ("resource.k8s.io/v1", "ResourceClaimTemplate"): {"spec": {"spec": _CLAIM}},
    ("resource.k8s.io/v1", "ResourceSlice"): {
        "spec": {
            "driver": "gpu.example.com",
            "nodeName": "node",
            "pool": {"name": "node", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "gpu-0", "attributes": {"model": {"string": "a"}}}],
        }
    },
    ("scheduling.k8s.io/v1", "PriorityClass"): {"value": 1000},
    ("storage.k8s.io/v1", "CSIDriver"): {"spec": {}},
    ("storage.k8s.io/v1", "CSINode"): {"spec": {"drivers": [{"name": "csi.example.com", "nodeID": "node"}]}},
    ("storage.k8s.io/v1", "CSIStorageCapacity"): {
        "storageClassName": "standard",
        "nodeTopology": _SELECTOR,
        "capacity": "1Gi",
    },
    ("storage.k8s.io/v1", "StorageClass"): {"provisioner": "csi.example.com"},
    ("storage.k8s.io/v1", "VolumeAttachment"): {
        "spec": {
            "attacher": "csi.example.com",
            "nodeName": "node",
            "source": {"persistentVolumeName": "volume"},
        }
    },
    ("storage.k8s.io/v1", "VolumeAttributesClass"): {
        "driverName": "csi.example.com",
        "parameters": {"iops": "100"},
    },
    ("storagemigration.k8s.io/v1", "StorageVersionMigration"): {
        "spec": {"resource": {"group": "apps", "resource": "deployments"}}
    },
}
_NAMES = {("v1", "Event"): "web.1", ("events.k8s.io/v1", "Event"): "web.2"}


def example(api_version: str, kind: str) -> Object:
    """Return a manifest of the kind, which the caller may change."""
    name = _NAMES.get((api_version, kind), "example")
    fields = deepcopy(_KINDS[api_version, kind])
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **fields}


def every_example() -> list[Object]:
    """Return the manifests of all kinds."""
    return [example(api_version, kind) for api_version, kind in _KINDS]
