"""The Node authorizer: the graph, how it follows the store, and what it lets a kubelet do."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from pybernetes.api.registry import builtin
from pybernetes.control_plane.apiserver.assembly.server_context import new_context
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.authz.modes.node import NodeAuthorizer, node_of
from pybernetes.control_plane.apiserver.authz.node import references
from pybernetes.control_plane.apiserver.authz.node.graph import Graph
from pybernetes.control_plane.apiserver.authz.node.populator import Populator
from pybernetes.control_plane.apiserver.request_info import RequestInfo
from pybernetes.control_plane.apiserver.storage.kinds import Kinds
from pybernetes.control_plane.store.open import open_store
from pybernetes.control_plane.store.protocol import Record, Store, StoreError
from tests.support import run

Object = dict[str, Any]
POD: Object = {
    "metadata": {"name": "p", "namespace": "one", "uid": "u1"},
    "spec": {
        "nodeName": "n1",
        "serviceAccountName": "sa",
        "imagePullSecrets": [{"name": "pull"}, {}],
        "initContainers": [{"envFrom": [{"secretRef": {"name": "init-env"}}]}],
        "containers": [
            {
                "env": [
                    {"name": "A", "value": "x"},
                    {"name": "B", "valueFrom": {"secretKeyRef": {"name": "env", "key": "k"}}},
                    {"name": "C", "valueFrom": {"configMapKeyRef": {"name": "env-map", "key": "k"}}},
                    {"name": "D", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                ],
                "envFrom": [{"configMapRef": {"name": "all-map"}}],
            }
        ],
        "volumes": [
            {"name": "v1", "secret": {"secretName": "volume"}},
            {"name": "v2", "configMap": {"name": "volume-map"}},
            {"name": "v3", "projected": {"sources": [{"secret": {"name": "proj"}}, {"configMap": {"name": "proj-map"}},
                                                     {"serviceAccountToken": {"path": "t"}}]}},
            {"name": "v4", "persistentVolumeClaim": {"claimName": "claim"}},
            {"name": "v5", "ephemeral": {"volumeClaimTemplate": {}}},
            {"name": "v6", "csi": {"driver": "d", "nodePublishSecretRef": {"name": "csi"}}},
            {"name": "v7", "iscsi": {"secretRef": {"name": "iscsi"}}},
            {"name": "v8", "azureFile": {"secretName": "azure", "shareName": "s"}},
            {"name": "v9", "emptyDir": {}},
        ],
        "resourceClaims": [
            {"name": "r1", "resourceClaimName": "direct"},
            {"name": "r2", "resourceClaimTemplateName": "t"},
            {"name": "r3", "resourceClaimTemplateName": "t"},
        ],
    },
    "status": {
        "resourceClaimStatuses": [{"name": "r2", "resourceClaimName": "made"}, {"name": "r3"}],
        "extendedResourceClaimStatus": {"resourceClaimName": "extended"},
    },
}  # fmt: skip


def test_what_a_pod_needs() -> None:
    needed: dict[str, set[str]] = {}
    for resource, name in references.of_pod(POD):
        needed.setdefault(resource, set()).add(name)
    assert needed == {
        "serviceaccounts": {"sa"},
        "secrets": {"pull", "init-env", "env", "volume", "proj", "csi", "iscsi", "azure"},
        "configmaps": {"env-map", "all-map", "volume-map", "proj-map"},
        "persistentvolumeclaims": {"claim", "p-v5"},
        "resourceclaims": {"direct", "made", "extended"},
    }


def test_a_mirror_pod_gives_its_node_nothing() -> None:
    annotations = {"kubernetes.io/config.mirror": "x"}
    assert references.of_pod({**POD, "metadata": {"name": "p", "annotations": annotations}}) == set()


@pytest.mark.parametrize(
    ("source", "secrets"),
    [
        ({"azureFile": {"secretName": "s"}}, {("home", "s")}),
        ({"azureFile": {"secretName": "s", "secretNamespace": "x"}}, {("x", "s")}),
        ({"cephfs": {"secretRef": {"name": "s"}}}, {("home", "s")}),
        ({"rbd": {"secretRef": {"name": "s", "namespace": "x"}}}, {("x", "s")}),
        ({"cinder": {"secretRef": {"name": "s", "namespace": "x"}}}, {("x", "s")}),
        ({"csi": {"nodePublishSecretRef": {"name": "a", "namespace": "x"}, "nodeStageSecretRef": {"name": "b", "namespace": "x"},
                  "nodeExpandSecretRef": {"name": "c", "namespace": "x"},
                  "controllerPublishSecretRef": {"name": "d", "namespace": "x"}}}, {("x", "a"), ("x", "b"), ("x", "c")}),
        ({"nfs": {"server": "s", "path": "/"}}, set()),
    ],
)  # fmt: skip
def test_what_a_volume_needs(source: Object, secrets: set[tuple[str, str]]) -> None:
    assert (
        references.of_volume({"spec": {**source, "claimRef": {"namespace": "home", "name": "c"}}}) == secrets
    )


def test_the_graph() -> None:
    graph = Graph()
    secret, claim, deep = (
        ("secrets", "one", "s"),
        ("persistentvolumeclaims", "one", "c"),
        ("secrets", "two", "deep"),
    )
    first, second = ("pods", "one", "a"), ("pods", "one", "b")
    graph.bind(first, "n1", [secret, claim])
    graph.bind(second, "n1", [secret])
    graph.claim("pv", claim, [deep])
    volume = ("persistentvolumes", "", "pv")
    for target in (first, second, secret, claim, deep, volume):
        assert graph.reaches("n1", target) and not graph.reaches("n2", target), target
    graph.unbind(first)
    assert [graph.reaches("n1", target) for target in (first, secret, claim, deep, volume)] == [
        False,
        True,
        False,
        False,
        False,
    ]
    graph.bind(second, "n2", [claim])
    assert [graph.reaches("n2", target) for target in (second, secret, claim, deep, volume)] == [
        True,
        False,
        True,
        True,
        True,
    ]
    graph.release("pv")
    assert not graph.reaches("n2", deep) and not graph.reaches("n2", volume)
    graph.unbind(second)
    assert not graph._nodes and not graph._bound and not graph._volumes and not graph._volumes_of_secret


class Kubelets:
    """A store, and the authorizer that follows it."""

    def __init__(self, store: Store) -> None:
        self.store, self.context = store, new_context(store, Kinds(builtin()))
        self.mode = NodeAuthorizer(self.context)

    async def put(self, group: str, plural: str, obj: Object) -> None:
        kind = self.context.kinds.find(group, plural)
        key = kind.key(obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
        value = orjson.dumps({"kind": kind.resource.kind, "apiVersion": kind.resource.api_version, **obj})
        if self.store.get(key) is None:
            await self.store.create(key, value)
        else:
            await self.store.update(key, value, 0)

    def may(
        self, node: str, verb: str, resource: str, name: str = "", namespace: str = "", **more: Any
    ) -> bool:
        return self.says(node, verb, resource, name, namespace, **more)[0]

    def says(
        self, node: str, verb: str, resource: str, name: str = "", namespace: str = "", **more: Any
    ) -> tuple[bool, str]:
        resource, _, subresource = resource.partition("/")
        user = User(f"system:node:{node}", groups=("system:nodes", "system:authenticated"))
        verdict = self.mode.authorize(user, RequestInfo(
            verb, is_resource=True, resource=resource, subresource=subresource, name=name, namespace=namespace, **more,
        ))  # fmt: skip
        return verdict.allowed, verdict.reason


def with_kubelets(test: Any) -> None:
    async def go() -> None:
        store = open_store("memory")
        await store.start()
        try:
            await test(Kubelets(store))
        finally:
            await store.close()

    run(go())


@pytest.mark.parametrize("late", [False, True])
def test_a_kubelet_reads_what_its_pods_need(late: bool) -> None:
    async def test(kubelets: Kubelets) -> None:
        if not late:
            kubelets.mode.start()
        await kubelets.put("", "pods", POD)
        await kubelets.put("", "persistentvolumes", {
            "metadata": {"name": "pv"},
            "spec": {"claimRef": {"namespace": "one", "name": "claim"}, "rbd": {"secretRef": {"name": "deep"}}},
        })  # fmt: skip
        await kubelets.put(
            "storage.k8s.io",
            "volumeattachments",
            {"metadata": {"name": "va", "uid": "1"}, "spec": {"nodeName": "n1"}},
        )
        if late:
            kubelets.mode.start()
        readable = [
            ("secrets", "env", "one"), ("secrets", "deep", "one"), ("configmaps", "all-map", "one"), ("pods", "p", "one"),
            ("persistentvolumeclaims", "claim", "one"), ("persistentvolumes", "pv", ""), ("serviceaccounts", "sa", "one"),
        ]  # fmt: skip
        for resource, name, namespace in readable:
            assert kubelets.may("n1", "get", resource, name, namespace), resource
            assert not kubelets.may("n2", "get", resource, name, namespace), resource
            assert not kubelets.may("n1", "get", resource, name + "x", namespace), resource
            assert not kubelets.may("n1", "delete", resource, name, namespace) or resource == "pods", resource
        assert not kubelets.may("n1", "get", "secrets", "env", "two")
        assert kubelets.may("n1", "get", "resourceclaims", "made", "one", group="resource.k8s.io")
        assert kubelets.may("n1", "get", "volumeattachments", "va", group="storage.k8s.io")
        assert not kubelets.may("n2", "get", "volumeattachments", "va", group="storage.k8s.io")
        assert kubelets.may("n1", "create", "serviceaccounts/token", "sa", "one")
        assert not kubelets.may("n2", "create", "serviceaccounts/token", "sa", "one")
        assert kubelets.may("n1", "watch", "secrets", "env", "one") and not kubelets.may(
            "n1", "list", "secrets", "", "one"
        )
        await kubelets.store.delete("/registry/pods/one/p", 0)
        for resource, name, namespace in readable:
            assert not kubelets.may("n1", "get", resource, name, namespace), resource

    with_kubelets(test)


def test_the_graph_follows_pods() -> None:
    async def test(kubelets: Kubelets) -> None:
        kubelets.mode.start()
        metadata = {"name": "p", "namespace": "one", "uid": "u1"}
        spec: Object = {"containers": [{"envFrom": [{"secretRef": {"name": "s"}}]}]}

        def may(node: str, name: str = "s") -> bool:
            return kubelets.may(node, "get", "secrets", name, "one")

        await kubelets.put("", "pods", {"metadata": metadata, "spec": spec})
        assert not may("n1")
        await kubelets.put("", "pods", {"metadata": metadata, "spec": {**spec, "nodeName": "n1"}})
        assert may("n1")
        # A status that changes is not even decoded.
        before = kubelets.mode._graph._bound["pods", "one", "p"]
        await kubelets.put(
            "",
            "pods",
            {"metadata": metadata, "spec": {**spec, "nodeName": "n1"}, "status": {"phase": "Running"}},
        )
        assert kubelets.mode._graph._bound["pods", "one", "p"] is before
        debugger = {"ephemeralContainers": [{"envFrom": [{"secretRef": {"name": "debug"}}]}]}
        await kubelets.put("", "pods", {"metadata": metadata, "spec": {**spec, **debugger, "nodeName": "n1"}})
        assert may("n1", "debug")
        # Another pod of the same name, seen as a change because its deletion was missed.
        await kubelets.put(
            "", "pods", {"metadata": {**metadata, "uid": "u2"}, "spec": {**spec, "nodeName": "n2"}}
        )
        assert may("n2") and not may("n1")
        # What only looks like a node's name in a text binds nothing.
        await kubelets.put("", "pods", {
            "metadata": {"name": "q", "namespace": "one", "uid": "u3", "annotations": {"x": '{"nodeName":"n3"}', "nodeName": "n3"}},
            "spec": spec,
        })  # fmt: skip
        assert not may("n3")

    with_kubelets(test)


def test_a_pod_that_was_made_anew_unseen() -> None:
    """A pod that names as its owner the one whose name it took over is another one all the same."""
    pods: list[Record] = []
    ends: list[Any] = []

    class LosesItsPlace:
        def list(self, prefix: str) -> Any:
            return SimpleNamespace(records=pods if prefix == "/registry/pods/" else [], revision=1)

        def watch(self, prefix: str, revision: int, take: Any, closed: Any) -> None:
            ends.append(closed)

    def record(node: str, uid: str, secret: str, **metadata: Any) -> Record:
        spec = {"nodeName": node, "imagePullSecrets": [{"name": secret}]}
        pod = {"metadata": {"name": "p", "namespace": "one", "uid": uid, **metadata}, "spec": spec}
        return Record("/registry/pods/one/p", orjson.dumps({"kind": "Pod", "apiVersion": "v1", **pod}), 1)

    graph = Graph()
    store: Any = LosesItsPlace()
    pods[:] = [record("n1", "u1", "old")]
    Populator(store, Kinds(builtin()), graph).start()
    assert graph.reaches("n1", ("secrets", "one", "old"))
    pods[:] = [record("n2", "u2", "new", ownerReferences=[{"uid": "u1"}])]
    for closed in list(ends):
        closed(StoreError("compacted"))
    assert not graph.reaches("n1", ("secrets", "one", "old"))
    assert graph.reaches("n2", ("secrets", "one", "new"))


LEASES = {"group": "coordination.k8s.io"}
STORAGE = {"group": "storage.k8s.io"}
DRA = {"group": "resource.k8s.io"}
CERTIFICATES = {"group": "certificates.k8s.io"}
OWN = {"fields": (("spec.nodeName", "n1", True),)}
OTHER = {"fields": (("spec.nodeName", "n2", True),)}
NOT_OWN = {"fields": (("spec.nodeName", "n1", False),)}
NO_RELATION = "no relationship found between node 'n1' and this object"


@pytest.mark.parametrize(
    ("verb", "resource", "name", "namespace", "more", "reason"),
    [
        ("get", "nodes", "n1", "", {}, None),
        ("watch", "nodes", "n1", "", {}, None),
        ("get", "nodes", "n2", "", {}, "node 'n1' cannot read 'n2', only its own Node object"),
        ("list", "nodes", "", "", {}, "node 'n1' cannot read all nodes, only its own Node object"),
        ("create", "nodes", "", "", {}, None),
        ("patch", "nodes", "n1", "", {}, None),
        ("patch", "nodes/status", "n1", "", {}, None),
        ("delete", "nodes", "n1", "", {}, ""),
        ("get", "nodes/proxy", "n1", "", {}, ""),
        ("get", "secrets", "s", "one", {}, NO_RELATION),
        ("get", "secrets", "s", "", {}, "can only read namespaced object of this type"),
        ("list", "secrets", "", "one", {}, "No Object name found"),
        ("update", "secrets", "s", "one", {}, "can only read resources of this type"),
        ("get", "secrets/x", "s", "one", {}, "cannot read subresource"),
        ("list", "persistentvolumeclaims", "", "one", {}, "can only get individual resources of this type"),
        ("get", "persistentvolumes/status", "v", "", {}, "cannot get subresource"),
        ("patch", "persistentvolumeclaims/status", "c", "one", {}, NO_RELATION),
        ("get", "persistentvolumeclaims/status", "c", "one", {}, "can only get/update/patch this type"),
        ("create", "serviceaccounts", "", "one", {}, "can only create tokens for individual service accounts"),
        ("create", "serviceaccounts/x", "sa", "one", {}, "can only create token subresource of serviceaccount"),
        ("create", "serviceaccounts/token", "sa", "one", {}, NO_RELATION),
        ("get", "leases", "n1", "kube-node-lease", LEASES, None),
        ("create", "leases", "", "kube-node-lease", LEASES, None),
        ("get", "leases", "n2", "kube-node-lease", LEASES, "can only access node lease with the same name as the requesting node"),
        ("update", "leases", "n1", "one", LEASES, 'can only access leases in the "kube-node-lease" system namespace'),
        ("list", "leases", "", "kube-node-lease", LEASES, "can only get, create, update, patch, or delete a node lease"),
        ("update", "csinodes", "n1", "", STORAGE, None),
        ("update", "csinodes", "n2", "", STORAGE, "can only access CSINode with the same name as the requesting node"),
        ("list", "csinodes", "", "", STORAGE, "can only get, create, update, patch, or delete a CSINode"),
        ("get", "csinodes/x", "n1", "", STORAGE, "cannot authorize CSINode subresources"),
        ("list", "pods", "", "", OWN, None),
        ("watch", "pods", "", "", OWN, None),
        ("list", "pods", "", "", OTHER, "can only list/watch pods with spec.nodeName field selector"),
        ("list", "pods", "", "", NOT_OWN, "can only list/watch pods with spec.nodeName field selector"),
        ("list", "pods", "p", "one", {}, NO_RELATION),
        ("create", "pods", "", "one", {}, None),
        ("delete", "pods", "p", "one", {}, None),
        ("patch", "pods/status", "p", "one", {}, None),
        ("create", "pods/eviction", "p", "one", {}, None),
        ("patch", "pods", "p", "one", {}, ""),
        ("get", "pods/log", "p", "one", {}, ""),
        ("create", "pods/binding", "p", "one", {}, ""),
        ("create", "resourceslices", "", "", DRA, None),
        ("deletecollection", "resourceslices", "", "", {**DRA, **OWN}, None),
        ("list", "resourceslices", "", "", {**DRA, **OTHER}, "can only list/watch/deletecollection resourceslices with nodeName field selector"),
        ("delete", "resourceslices", "x", "", DRA, NO_RELATION),
        ("create", "podcertificaterequests", "", "one", CERTIFICATES, None),
        ("watch", "podcertificaterequests", "", "", {**CERTIFICATES, **OWN}, None),
        ("list", "podcertificaterequests", "", "", CERTIFICATES, "can only list/watch podcertificaterequests with nodeName field selector"),
        ("delete", "podcertificaterequests", "x", "one", CERTIFICATES, "nodes may not delete podcertificaterequests"),
        ("update", "podcertificaterequests/status", "x", "one", CERTIFICATES, "nodes may not access the status subresource of PodCertificateRequests"),
        ("list", "services", "", "", {}, None),
        ("create", "services", "", "one", {}, ""),
        ("create", "tokenreviews", "", "", {"group": "authentication.k8s.io"}, None),
        ("list", "clusterroles", "", "", {"group": "rbac.authorization.k8s.io"}, ""),
    ],
)  # fmt: skip
def test_verbs(verb: str, resource: str, name: str, namespace: str, more: Object, reason: str | None) -> None:
    kubelets = Kubelets(open_store("memory"))
    expected = (True, "") if reason is None else (False, reason)
    assert kubelets.says("n1", verb, resource, name, namespace, **more) == expected


@pytest.mark.parametrize(
    ("user", "node"),
    [
        (User("system:node:n1", groups=("system:nodes",)), "n1"),
        (User("system:node:", groups=("system:nodes",)), ""),
        (User("system:node:n1"), None),
        (User("n1", groups=("system:nodes",)), None),
        (User("xsystem:node:n1", groups=("system:nodes",)), None),
    ],
)
def test_who_is_a_node(user: User, node: str | None) -> None:
    assert node_of(user) == node
    verdict = Kubelets(open_store("memory")).mode.authorize(
        user, RequestInfo("create", is_resource=True, resource="nodes")
    )
    assert verdict.allowed is (node == "n1")
    assert verdict.reason == ('unknown node for user "system:node:"' if node == "" else "")
