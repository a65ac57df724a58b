"""NodeRestriction: what a kubelet is refused, and what it is not."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.control_plane.apiserver.admission.plugins.node_restriction.nodes import is_forbidden
from pybernetes.control_plane.apiserver.authn.user import User
from tests.control_plane.apiserver.admission.world import Object, World, pod
from tests.support import run

NODE = User("system:node:n1", groups=("system:nodes",))
MIRROR = {"kubernetes.io/config.mirror": "x"}
OWNER = {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "uid-of-n1", "controller": True}
MINE = {**pod("mine", nodeName="n1", serviceAccountName="sa"), "status": {}}
OTHERS = pod("others", nodeName="n2")


async def refused(
    resource: str, *arguments: Any, user: User = NODE, allowed: Any = (), **options: Any
) -> str:
    async with World() as world:
        await world.add("", "nodes", {"metadata": {"name": "n1"}})
        for given in (MINE, OTHERS):
            await world.add("", "pods", given)
        await world.add("", "serviceaccounts", {"metadata": {"name": "sa"}})
        for group, plural, obj in options.pop("objects", ()):
            await world.add(group, plural, obj)
        world.permissions.allowed = set(allowed)
        return await world.refusal(world.chain("NodeRestriction"), resource, *arguments, user=user, **options)


def message(resource: str, name: str, why: str) -> str:
    return f'{resource} "{name}" is forbidden: {why}' if why else ""


def mirror(*owners: Object, node: str = "n1", annotations: Any = MIRROR, **spec: Any) -> Object:
    meta = {"annotations": annotations, "ownerReferences": list(owners)}
    return pod(nodeName=node, metadata=meta, **spec)


def volume(**source: Any) -> Object:
    return {"volumes": [{"name": "v", **source}]}


SOURCE = "projected"
REFERENCES: list[tuple[Object, str]] = [
    ({"serviceAccountName": "sa"}, "serviceaccounts"),
    ({"imagePullSecrets": [{"name": "x"}]}, "secrets"),
    (volume(configMap={"name": "x"}), "configmaps"),
    ({"resourceClaims": [{"name": "x"}]}, "resourceclaims"),
    (volume(csi={"driver": "d"}), "csidrivers (via CSI volumes)"),
    (volume(glusterfs={"endpoints": "e"}), "endpoints (via glusterFS volumes)"),
    (volume(persistentVolumeClaim={"claimName": "x"}), "persistentvolumeclaims"),
    (volume(ephemeral={}), "persistentvolumeclaims (via ephemeral volumes)"),
    (volume(projected={"sources": [{"serviceAccountToken": {}}]}), "serviceaccounts (via projected volumes)"),
    (volume(projected={"sources": [{"clusterTrustBundle": {}}]}), "clustertrustbundles"),
]  # fmt: skip
CREATE_CASES = [
    (mirror(OWNER), ""),
    (mirror(OWNER, **volume(hostPath={"path": "/"})), ""),
    (mirror(OWNER, **volume(projected={"sources": [{"downwardAPI": {}}]})), ""),
    (
        mirror(OWNER, annotations={}),
        'pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods',
    ),
    (mirror(OWNER, node="n2"), 'node "n1" can only create pods with spec.nodeName set to itself'),
    (mirror(), 'node "n1" can only create pods with an owner reference set to itself'),
    (mirror(OWNER, OWNER), 'node "n1" can only create pods with a single owner reference set to itself'),
    (mirror({**OWNER, "name": "n2"}), 'node "n1" can only create pods with an owner reference set to itself'),
    (mirror({**OWNER, "controller": False}),
     'node "n1" can only create pods with a controller owner reference set to itself'),
    (mirror({**OWNER, "blockOwnerDeletion": True}), 'node "n1" must not set blockOwnerDeletion on an owner reference'),
    (mirror({**OWNER, "uid": "z"}), "node n1 UID mismatch: expected z got uid-of-n1"),
    *(
        (mirror(OWNER, **spec), f'node "n1" can not create pods that reference {told}')
        for spec, told in REFERENCES
    ),
]  # fmt: skip


@pytest.mark.parametrize(("given", "why"), CREATE_CASES)
def test_mirror_pods(given: Object, why: str) -> None:
    assert run(refused("pods", given)) == message("pods", "p", why)


def status(name: str = "mine", node: str = "n1", labels: Any = None, **status: Any) -> Object:
    return {**pod(name, nodeName=node, metadata={"labels": labels} if labels else {}), "status": status}


@pytest.mark.parametrize(
    ("new", "old", "options", "why"),
    [
        (None, MINE, {"operation": "DELETE"}, ""),
        (
            None,
            OTHERS,
            {"operation": "DELETE"},
            'node "n1" can only delete pods with spec.nodeName set to itself',
        ),
        (MINE, MINE, {}, 'unexpected operation "UPDATE", node "n1" can only create and delete mirror pods'),
        (status(phase="Running"), status(), {"subresource": "status"}, ""),
        (
            status(node="n2"),
            status(node="n2"),
            {"subresource": "status"},
            'node "n1" can only update pod status for pods with spec.nodeName set to itself',
        ),
        (
            status(labels={"a": "b"}),
            status(),
            {"subresource": "status"},
            'node "n1" cannot update labels through pod status',
        ),
        (
            status(resourceClaimStatuses=[{"name": "x"}]),
            status(),
            {"subresource": "status"},
            'node "n1" cannot update resource claim statues',
        ),
        (
            status(extendedResourceClaimStatus={"resourceClaimName": "x"}),
            status(),
            {"subresource": "status"},
            'node "n1" cannot update extended resource claim status',
        ),
        (
            MINE,
            MINE,
            {"subresource": "resize"},
            "unexpected pod subresource \"resize\", only 'status' and 'eviction' are allowed",
        ),
        ({"metadata": {"name": "mine"}}, None, {"subresource": "eviction"}, ""),
        (
            {"metadata": {"name": "others"}},
            None,
            {"subresource": "eviction"},
            "node n1 can only evict pods with spec.nodeName set to itself",
        ),
    ],
)
def test_pods(new: Any, old: Any, options: Any, why: str) -> None:
    name = (new or old)["metadata"]["name"]
    assert run(refused("pods", new, old, **options)) == message("pods", name, why)


def test_what_is_gone_is_not_found() -> None:
    gone = {"metadata": {"name": "gone"}}
    assert run(refused("pods", gone, subresource="eviction")) == 'pod "gone" not found'
    other = User("system:node:n9", groups=("system:nodes",))
    given = mirror({**OWNER, "name": "n9"}, node="n9")
    assert run(refused("pods", given, user=other)) == 'node "n9" not found'


@pytest.mark.parametrize(
    ("label", "forbidden"),
    [
        ("anything", False),
        ("example.com/x", False),
        ("kubernetes.io/hostname", False),
        ("kubernetes.io/other", True),
        ("topology.kubernetes.io/zone", False),
        ("node.kubernetes.io/x", False),
        ("a.node.kubernetes.io/x", False),
        ("kubelet.kubernetes.io/x", False),
        ("node-role.kubernetes.io/control-plane", True),
        ("k8s.io/x", True),
        ("a.k8s.io/x", True),
        ("notk8s.io/x", False),
        ("node-restriction.kubernetes.io/x", True),
        ("a.node-restriction.kubernetes.io/x", True),
    ],
)
def test_labels_that_a_kubelet_may_not_set(label: str, forbidden: bool) -> None:
    assert is_forbidden(label) is forbidden


def node(name: str = "n1", labels: Any = None, owners: Any = None, **spec: Any) -> Object:
    return {"metadata": {"name": name, "labels": labels or {}, "ownerReferences": owners or []}, "spec": spec}


@pytest.mark.parametrize(
    ("new", "old", "why"),
    [
        (node(labels={"kubernetes.io/os": "linux"}), None, ""),
        (node("n2"), None, 'node "n1" is not allowed to modify node "n2"'),
        (
            node(labels={"k8s.io/b": "1", "k8s.io/a": "1"}),
            None,
            'node "n1" is not allowed to set the following labels: k8s.io/a, k8s.io/b',
        ),
        (node(configSource={}), None, 'node "n1" is not allowed to create pods with a non-nil configSource'),
        (node(), node(), ""),
        (node(taints=[{"key": "a"}]), node(), 'node "n1" is not allowed to modify taints'),
        (node(owners=[OWNER]), node(), 'node "n1" is not allowed to modify ownerReferences'),
        (node(), node(labels={"k8s.io/a": "1"}), "is not allowed to modify labels: k8s.io/a"),
        (
            node(configSource={"a": 1}),
            node(),
            'node "n1" is not allowed to update configSource to a new non-nil configSource',
        ),
        (node(), node(configSource={"a": 1}), ""),
    ],
)
def test_nodes(new: Object, old: Object | None, why: str) -> None:
    assert run(refused("nodes", new, old)) == message("nodes", new["metadata"]["name"], why)


LEASES = "leases.coordination.k8s.io"
SLICES = "resourceslices.resource.k8s.io"


@pytest.mark.parametrize(
    ("resource", "name", "options", "why"),
    [
        (LEASES, "n1", {"namespace": "kube-node-lease"}, ""),
        (LEASES, "n1", {}, 'can only access leases in the "kube-node-lease" system namespace'),
        (
            LEASES,
            "n2",
            {"namespace": "kube-node-lease"},
            "can only access node lease with the same name as the requesting node",
        ),
        ("csinodes.storage.k8s.io", "n1", {}, ""),
        (
            "csinodes.storage.k8s.io",
            "n2",
            {},
            "can only access CSINode with the same name as the requesting node",
        ),
        (SLICES, "n1", {}, ""),
        (SLICES, "n2", {}, "can only create ResourceSlice with the same NodeName as the requesting node"),
    ],
)
def test_what_is_named_like_a_node(resource: str, name: str, options: Any, why: str) -> None:
    given = {"metadata": {"name": name}, "spec": {"nodeName": name}}
    assert run(refused(resource, given, **options)) == message(resource, name, why)
    if resource == SLICES:
        problem = run(refused(resource, None, given, operation="DELETE"))
        assert problem == message(resource, name, why.replace("create", "delete"))
        assert not run(refused(resource, given, given))


def claim(**status: Any) -> Object:
    return {"metadata": {"name": "c"}, "spec": {}, "status": status}


def test_the_status_of_claims() -> None:
    resource = "persistentvolumeclaims"
    assert run(refused(resource, claim())) == message(resource, "c", "may only update PVC status")
    new = claim(capacity={"storage": "1Gi"}, conditions=[{}], allocatedResources={})
    assert not run(refused(resource, new, claim(), subresource="status"))
    problem = run(refused(resource, claim(phase="Lost"), claim(phase="Bound"), subresource="status"))
    why = 'node "n1" is not allowed to update fields other than status.quantity and status.conditions: '
    assert problem.startswith(message(resource, "c", why)) and "Lost" in problem


def token(*audiences: str, **bound: Any) -> Object:
    reference = {"apiVersion": "v1", "kind": "Pod", "name": "mine", "uid": "uid-of-mine", **bound}
    return {"metadata": {"name": "sa"}, "spec": {"boundObjectRef": reference, "audiences": list(audiences)}}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"metadata": {"name": "sa"}, "spec": {}}, "node requested token not bound to a pod"),
        (token(kind="Secret"), "node requested token not bound to a pod"),
        (token(uid=""), "node requested token with a pod binding without a uid"),
        (
            token(uid="z"),
            "the UID in the bound object reference (z) does not match the UID in record. The object might have been "
            "deleted and then recreated",
        ),
        (
            token(name="others", uid="uid-of-others"),
            "node requested token bound to a pod scheduled on a different node",
        ),
        (token("a", "b"), "node may only request 0 or 1 audiences"),
        (token("a"), 'system:node:n1 is not authorized to request tokens for audience "a"'),
    ],
)
def test_tokens(given: Object, why: str) -> None:
    problem = run(refused("serviceaccounts", given, subresource="token"))
    assert problem == message("serviceaccounts", "sa", why)


PROJECTED = volume(projected={"sources": [{"serviceAccountToken": {"audience": "a"}}]})
DRIVER = (
    "storage.k8s.io",
    "csidrivers",
    {"metadata": {"name": "d"}, "spec": {"tokenRequests": [{"audience": "a"}]}},
)
EBS = ("storage.k8s.io", "csidrivers",
       {"metadata": {"name": "ebs.csi.aws.com"}, "spec": {"tokenRequests": [{"audience": "a"}]}})  # fmt: skip
CLAIM = ("", "persistentvolumeclaims", {"metadata": {"name": "c"}, "spec": {"volumeName": "pv"}})
OWN_CLAIM = ("", "persistentvolumeclaims", {"metadata": {"name": "mine-v"}, "spec": {"volumeName": "pv"}})
VOLUME = ("", "persistentvolumes", {"metadata": {"name": "pv"}, "spec": {"csi": {"driver": "d"}}})


@pytest.mark.parametrize(
    ("spec", "objects", "allowed", "why"),
    [
        (PROJECTED, [], (), ""),
        (volume(csi={"driver": "d"}), [DRIVER], (), ""),
        (volume(awsElasticBlockStore={}), [EBS], (), ""),
        (volume(persistentVolumeClaim={"claimName": "c"}), [DRIVER, CLAIM, VOLUME], (), ""),
        (volume(ephemeral={"volumeClaimTemplate": {}}), [DRIVER, OWN_CLAIM, VOLUME], (), ""),
        ({}, [], [("request-serviceaccounts-token-audience", "a", "sa")], ""),
        (
            volume(persistentVolumeClaim={"claimName": "c"}),
            [],
            (),
            'error validating audience "a": persistentvolumeclaim "c" not found',
        ),
        (
            volume(persistentVolumeClaim={"claimName": "c"}),
            [CLAIM],
            (),
            'error validating audience "a": persistentvolume "pv" not found',
        ),
        (
            volume(csi={"driver": "d"}),
            [],
            (),
            'error validating audience "a": csidriver.storage.k8s.io "d" not found',
        ),
    ],
)
def test_audiences_that_volumes_need(spec: Object, objects: Any, allowed: Any, why: str) -> None:
    mine = ("", "pods", pod("mine", nodeName="n1", **spec))
    problem = run(
        refused("serviceaccounts", token("a"), subresource="token", objects=[mine, *objects], allowed=allowed)
    )
    assert problem == message("serviceaccounts", "sa", why)


CERTIFICATES = "podcertificaterequests.certificates.k8s.io"
RIGHT = {
    "nodeName": "n1", "nodeUID": "uid-of-n1", "podName": "mine", "podUID": "uid-of-mine", "serviceAccountName": "sa",
    "serviceAccountUID": "uid-of-sa", "signerName": "example.com/s",
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (
            {"nodeName": "n2"},
            'PodCertificateRequest.Spec.NodeName="n2", which is not the requesting node "n1"',
        ),
        ({"nodeUID": "z"}, 'names node UID "z", inconsistent with the running node ("uid-of-n1")'),
        (
            {"podName": "gone"},
            'while retrieving pod "one/gone" named in the PodCertificateRequest: pod "gone" not found',
        ),
        ({"podUID": "z"}, 'contains pod UID ("z") which differs from running pod "uid-of-mine"'),
        (
            {"podName": "others", "podUID": "uid-of-others"},
            'pod "one/others" is not running on node "n1" named in the PodCertificateRequest',
        ),
        (
            {"serviceAccountName": "x"},
            'contains serviceAccountName ("x") that differs from running pod ("sa")',
        ),
        ({"serviceAccountUID": "x"}, 'which differs from the running service account ("uid-of-sa")'),
        (
            {},
            'pod "one/mine" does not mount a podCertificate projected volume for signer "example.com/s"',
        ),
    ],
)
def test_certificates_for_pods(change: Object, why: str) -> None:
    given = {"metadata": {"name": "r"}, "spec": {**RIGHT, **change}}
    assert run(refused(CERTIFICATES, given)).endswith(why)


def test_certificates_that_pods_mount() -> None:
    given = {"metadata": {"name": "r"}, "spec": RIGHT}
    source = {"sources": [{"podCertificate": {"signerName": "example.com/s"}}]}
    mounting = ("", "pods", pod("mine", nodeName="n1", serviceAccountName="sa", **volume(projected=source)))
    assert not run(refused(CERTIFICATES, given, objects=[mounting]))
    allowed = [("request-serviceaccounts-podcertificate-signer", "example.com:s", "sa")]
    assert not run(refused(CERTIFICATES, given, allowed=allowed))
    assert "unexpected operation UPDATE" in run(refused(CERTIFICATES, given, given))


def test_others_are_not_restricted() -> None:
    for user in (User("admin"), User("system:node:n1"), User("x", groups=("system:nodes",))):
        assert not run(refused("nodes", node("n2"), user=user))
    nobody = User("system:node:", groups=("system:nodes",))
    why = 'could not determine node from user "system:node:"'
    assert run(refused("nodes", node(), user=nobody)) == message("nodes", "n1", why)
