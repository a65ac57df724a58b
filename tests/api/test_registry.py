"""What discovery tells about every built-in kind: names, scope, verbs and subresources."""

from __future__ import annotations

import pytest

from pybernetes.api.registry import builtin
from pybernetes.api.resource import ALL_VERBS

# Each line: plural, kind, scope; then short names, categories, subresources, and verbs if they are not all.
# The singular name is always the kind in lower case.
FACTS = {
    ("", "v1"): """
        bindings Binding ns verbs=create
        componentstatuses ComponentStatus cluster short=cs verbs=get,list
        configmaps ConfigMap ns short=cm
        endpoints Endpoints ns short=ep
        events Event ns short=ev
        limitranges LimitRange ns short=limits
        namespaces Namespace cluster short=ns sub=finalize,status verbs=create,delete,get,list,patch,update,watch
        nodes Node cluster short=no sub=proxy,status
        persistentvolumeclaims PersistentVolumeClaim ns short=pvc sub=status
        persistentvolumes PersistentVolume cluster short=pv sub=status
        pods Pod ns short=po in=all sub=attach,binding,ephemeralcontainers,eviction,exec,log,portforward,proxy,resize,status
        podtemplates PodTemplate ns
        replicationcontrollers ReplicationController ns short=rc in=all sub=scale,status
        resourcequotas ResourceQuota ns short=quota sub=status
        secrets Secret ns
        serviceaccounts ServiceAccount ns short=sa sub=token
        services Service ns short=svc in=all sub=proxy,status
    """,
    ("admissionregistration.k8s.io", "v1"): """
        mutatingadmissionpolicies MutatingAdmissionPolicy cluster in=api-extensions
        mutatingadmissionpolicybindings MutatingAdmissionPolicyBinding cluster in=api-extensions
        mutatingwebhookconfigurations MutatingWebhookConfiguration cluster in=api-extensions
        validatingadmissionpolicies ValidatingAdmissionPolicy cluster in=api-extensions sub=status
        validatingadmissionpolicybindings ValidatingAdmissionPolicyBinding cluster in=api-extensions
        validatingwebhookconfigurations ValidatingWebhookConfiguration cluster in=api-extensions
    """,
    ("apiextensions.k8s.io", "v1"): """
        customresourcedefinitions CustomResourceDefinition cluster short=crd,crds in=api-extensions sub=status
    """,
    ("apiregistration.k8s.io", "v1"): """
        apiservices APIService cluster in=api-extensions sub=status
    """,
    ("apps", "v1"): """
        controllerrevisions ControllerRevision ns
        daemonsets DaemonSet ns short=ds in=all sub=status
        deployments Deployment ns short=deploy in=all sub=scale,status
        replicasets ReplicaSet ns short=rs in=all sub=scale,status
        statefulsets StatefulSet ns short=sts in=all sub=scale,status
    """,
    ("authentication.k8s.io", "v1"): """
        selfsubjectreviews SelfSubjectReview cluster verbs=create
        tokenreviews TokenReview cluster verbs=create
    """,
    ("authorization.k8s.io", "v1"): """
        localsubjectaccessreviews LocalSubjectAccessReview ns verbs=create
        selfsubjectaccessreviews SelfSubjectAccessReview cluster verbs=create
        selfsubjectrulesreviews SelfSubjectRulesReview cluster verbs=create
        subjectaccessreviews SubjectAccessReview cluster verbs=create
    """,
    ("autoscaling", "v1"): """
        horizontalpodautoscalers HorizontalPodAutoscaler ns short=hpa in=all sub=status
    """,
    ("autoscaling", "v2"): """
        horizontalpodautoscalers HorizontalPodAutoscaler ns short=hpa in=all sub=status
    """,
    ("batch", "v1"): """
        cronjobs CronJob ns short=cj in=all sub=status
        jobs Job ns in=all sub=status
    """,
    ("certificates.k8s.io", "v1"): """
        certificatesigningrequests CertificateSigningRequest cluster short=csr sub=approval,status
        clustertrustbundles ClusterTrustBundle cluster
        podcertificaterequests PodCertificateRequest ns sub=status
    """,
    ("coordination.k8s.io", "v1"): """
        leases Lease ns
    """,
    ("discovery.k8s.io", "v1"): """
        endpointslices EndpointSlice ns
    """,
    ("events.k8s.io", "v1"): """
        events Event ns short=ev
    """,
    ("flowcontrol.apiserver.k8s.io", "v1"): """
        flowschemas FlowSchema cluster sub=status
        prioritylevelconfigurations PriorityLevelConfiguration cluster sub=status
    """,
    ("networking.k8s.io", "v1"): """
        ingressclasses IngressClass cluster
        ingresses Ingress ns short=ing sub=status
        ipaddresses IPAddress cluster short=ip
        networkpolicies NetworkPolicy ns short=netpol
        servicecidrs ServiceCIDR cluster sub=status
    """,
    ("node.k8s.io", "v1"): """
        runtimeclasses RuntimeClass cluster
    """,
    ("policy", "v1"): """
        poddisruptionbudgets PodDisruptionBudget ns short=pdb sub=status
    """,
    ("rbac.authorization.k8s.io", "v1"): """
        clusterrolebindings ClusterRoleBinding cluster
        clusterroles ClusterRole cluster
        rolebindings RoleBinding ns
        roles Role ns
    """,
    ("resource.k8s.io", "v1"): """
        deviceclasses DeviceClass cluster
        devicetaintrules DeviceTaintRule cluster sub=status
        resourceclaims ResourceClaim ns sub=status
        resourceclaimtemplates ResourceClaimTemplate ns
        resourceslices ResourceSlice cluster
    """,
    ("scheduling.k8s.io", "v1"): """
        priorityclasses PriorityClass cluster short=pc
    """,
    ("storage.k8s.io", "v1"): """
        csidrivers CSIDriver cluster
        csinodes CSINode cluster sub=status
        csistoragecapacities CSIStorageCapacity ns
        storageclasses StorageClass cluster short=sc
        volumeattachments VolumeAttachment cluster sub=status
        volumeattributesclasses VolumeAttributesClass cluster short=vac
    """,
    ("storagemigration.k8s.io", "v1"): """
        storageversionmigrations StorageVersionMigration cluster sub=status
    """,
}


def _fact(group: str, version: str, line: str) -> dict[str, object]:
    plural, kind, scope, *rest = line.split()
    more = {key: tuple(sorted(text.split(","))) for key, _, text in (part.partition("=") for part in rest)}
    return {
        "group": group,
        "version": version,
        "plural": plural,
        "kind": kind,
        "singular": kind.lower(),
        "namespaced": scope == "ns",
        "short_names": more.get("short", ()),
        "categories": more.get("in", ()),
        "subresources": more.get("sub", ()),
        "verbs": more.get("verbs", ALL_VERBS),
    }


WANTED = {
    (group, version, line.split()[0]): _fact(group, version, line)
    for (group, version), text in FACTS.items()
    for line in text.strip().splitlines()
}
SERVED = {(resource.group, resource.version, resource.plural): resource for resource in builtin()}


def test_every_kind_is_there() -> None:
    assert sorted(WANTED.keys() - SERVED.keys()) == [], "kinds that are missing"
    assert sorted(SERVED.keys() - WANTED.keys()) == [], "kinds that Kubernetes does not serve"


@pytest.mark.parametrize(
    "key", sorted(WANTED), ids=lambda key: ".".join(part for part in reversed(key) if part)
)
def test_facts(key: tuple[str, str, str]) -> None:
    fact = WANTED[key]
    values = {name: getattr(SERVED[key], name) for name in fact}
    given = {
        name: tuple(sorted(value)) if isinstance(value, tuple) else value for name, value in values.items()
    }
    assert given == fact
