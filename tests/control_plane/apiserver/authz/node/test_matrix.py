"""Node authorization against an independent model: generated clusters that change, and questions of every node."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from pybernetes.api.registry import builtin
from pybernetes.control_plane.apiserver.assembly.server_context import new_context
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.authz.modes.node import NodeAuthorizer
from pybernetes.control_plane.apiserver.request_info import RequestInfo
from pybernetes.control_plane.apiserver.storage.kinds import Kinds
from pybernetes.control_plane.store.open import open_store
from pybernetes.control_plane.store.protocol import Store
from tests.control_plane.apiserver.authz.node.model import STATIC, Asked, Model, Thing
from tests.support import run

Object = dict[str, Any]
NODES = ("n1", "n2", "n3")
NAMESPACES = ("one", "two")
VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "proxy")
MIRROR = {"kubernetes.io/config.mirror": "x"}
# Resources with the subresources that are asked for, and the names that objects of them may have.
THINGS = {
    ("", "secrets"): ("", "status"),
    ("", "configmaps"): ("", "status"),
    ("", "persistentvolumeclaims"): ("", "status", "x"),
    ("", "persistentvolumes"): ("", "status"),
    ("", "serviceaccounts"): ("", "token", "x"),
    ("", "pods"): ("", "status", "eviction", "exec", "ephemeralcontainers", "binding", "log", "resize"),
    ("", "nodes"): ("", "status", "proxy", "metrics"),
    ("resource.k8s.io", "resourceclaims"): ("", "status"),
    ("resource.k8s.io", "resourceslices"): ("", "status"),
    ("storage.k8s.io", "volumeattachments"): ("", "status"),
    ("storage.k8s.io", "csinodes"): ("", "x"),
    ("coordination.k8s.io", "leases"): ("",),
    ("certificates.k8s.io", "podcertificaterequests"): ("", "status"),
    ("apps", "deployments"): ("",),
    ("", "namespaces"): ("",),
    ("rbac.authorization.k8s.io", "clusterroles"): ("",),
    ("apps", "secrets"): ("",),
    **{place: ("", "status") for place in STATIC},
}
SCOPED = {"persistentvolumes", "nodes", "resourceslices", "volumeattachments", "csinodes", "clusterroles", "namespaces"}  # fmt: skip
# The ways in which a container, and a volume, refers to something.
IN_CONTAINER = {
    "secrets": (
        lambda name: {"envFrom": [{"secretRef": {"name": name}}]},
        lambda name: {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": name, "key": "k"}}}]},
    ),
    "configmaps": (
        lambda name: {"envFrom": [{"configMapRef": {"name": name}}]},
        lambda name: {"env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": name, "key": "k"}}}]},
    ),
}
REFERENCE = lambda name: {"secretRef": {"name": name}}  # noqa: E731
IN_VOLUME = {
    "secrets": (
        lambda name: {"secret": {"secretName": name}},
        lambda name: {"projected": {"sources": [{"downwardAPI": {}}, {"secret": {"name": name}}]}},
        lambda name: {"azureFile": {"secretName": name, "shareName": "s"}},
        lambda name: {"csi": {"driver": "d", "nodePublishSecretRef": {"name": name}}},
        *((lambda name, type_=type_: {type_: REFERENCE(name)})
          for type_ in ("cephfs", "cinder", "flexVolume", "rbd", "scaleIO", "iscsi", "storageos")),
    ),
    "configmaps": (
        lambda name: {"configMap": {"name": name}},
        lambda name: {"projected": {"sources": [{"configMap": {"name": name}}]}},
    ),
    "persistentvolumeclaims": (lambda name: {"persistentVolumeClaim": {"claimName": name}},),
}  # fmt: skip


class Cluster:
    """A store, the authorizer that follows it, and the model; every change is made to both."""

    def __init__(self, store: Store, seed: int) -> None:
        self.store, self.random, self.model = store, random.Random(seed), Model()
        self.context = new_context(store, Kinds(builtin()))
        self.mode = NodeAuthorizer(self.context)
        self.uids = 0
        self.pods: dict[Thing, Object] = {}

    async def put(self, group: str, plural: str, namespace: str, name: str, obj: Object | None) -> None:
        kind = self.context.kinds.find(group, plural)
        key = kind.key(namespace, name)
        exists = self.store.get(key) is not None
        if obj is None:
            if exists:
                await self.store.delete(key, 0)
            return
        meta = {"name": name, "namespace": namespace, **obj.pop("metadata", {})}
        head = {"kind": kind.resource.kind, "apiVersion": kind.resource.api_version}
        value = orjson.dumps({**head, "metadata": meta, **obj})
        if exists:
            await self.store.update(key, value, 0)
        else:
            await self.store.create(key, value)

    def name(self) -> str:
        return f"x{self.random.randint(0, 4)}"

    def uid(self) -> str:
        self.uids += 1
        return f"u{self.uids}"

    async def change(self) -> None:
        """Make one change at random."""
        pick = self.random
        namespace = pick.choice(NAMESPACES)
        match pick.choice(("pod", "pod", "pod", "pod change", "pod change", "volume", "plain", "plain")):
            case "pod":
                await self.pod(namespace, f"p{pick.randint(0, 5)}")
            case "pod change":
                await self.change_of_pod()
            case "volume":
                await self.volume(f"x{pick.randint(0, 4)}")
            case _:
                group, plural = pick.choice(
                    (("storage.k8s.io", "volumeattachments"), ("resource.k8s.io", "resourceslices"),
                     ("certificates.k8s.io", "podcertificaterequests"))
                )  # fmt: skip
                await self.plain(group, plural, namespace if plural == "podcertificaterequests" else "")

    async def pod(self, namespace: str, name: str) -> None:
        """Delete a pod if there is one, or make one, bound or not."""
        pod_key = ("pods", namespace, name)
        if pod_key in self.pods:
            del self.pods[pod_key]
            self.model.node_of.pop(pod_key, None)
            self.model.needs.pop(pod_key, None)
            await self.put("", "pods", namespace, name, None)
            return
        pick, needs = self.random, set()
        spec: Object = {}
        for kind in ("initContainers", "containers"):
            resource = pick.choice(tuple(IN_CONTAINER))
            needs.add((resource, used := self.name()))
            spec[kind] = [{"name": "c", **pick.choice(IN_CONTAINER[resource])(used)}]
        spec["volumes"] = [{"name": "empty", "emptyDir": {}}]
        for number in range(pick.randint(0, 3)):
            resource = pick.choice(tuple(IN_VOLUME))
            needs.add((resource, used := self.name()))
            spec["volumes"].append({"name": f"v{number}", **pick.choice(IN_VOLUME[resource])(used)})
        if pick.random() < 0.3:
            spec["volumes"].append({"name": "own", "ephemeral": {"volumeClaimTemplate": {}}})
            needs.add(("persistentvolumeclaims", f"{name}-own"))
        if pick.random() < 0.5:
            spec["serviceAccountName"] = self.name()
            needs.add(("serviceaccounts", spec["serviceAccountName"]))
        if pick.random() < 0.3:
            spec["imagePullSecrets"] = [{"name": self.name()}, {}]
            needs.add(("secrets", spec["imagePullSecrets"][0]["name"]))
        if pick.random() < 0.4:
            spec["resourceClaims"] = [
                {"name": "direct", "resourceClaimName": self.name()}, {"name": "made", "resourceClaimTemplateName": "t"},
            ]  # fmt: skip
            needs.add(("resourceclaims", spec["resourceClaims"][0]["resourceClaimName"]))
        metadata: Object = {"uid": self.uid()}
        if pick.random() < 0.15:
            metadata["annotations"] = MIRROR
            needs = set()
        pod = {"metadata": metadata, "spec": spec, "status": {}, "needs": needs}
        self.pods[pod_key] = pod
        if pick.random() < 0.8:
            spec["nodeName"] = pick.choice(NODES)
        await self.store_pod(pod_key)

    async def change_of_pod(self) -> None:
        """Bind a pod, give it an ephemeral container, or change its status."""
        if not self.pods:
            return
        pick = self.random
        pod_key = pick.choice(sorted(self.pods))
        pod = self.pods[pod_key]
        mirror = "annotations" in pod["metadata"]
        match pick.randint(0, 4):
            case 0:
                pod["spec"].setdefault("nodeName", pick.choice(NODES))
            case 1:
                used = self.name()
                containers = pod["spec"].setdefault("ephemeralContainers", [])
                containers.append({"name": f"e{len(containers)}", **IN_CONTAINER["secrets"][0](used)})
                if not mirror:
                    pod["needs"].add(("secrets", used))
            case 2:
                pod["status"]["resourceClaimStatuses"] = [{"name": "made", "resourceClaimName": self.name()}]
            case 3:
                pod["status"].pop("resourceClaimStatuses", None)
                pod["status"].pop("extendedResourceClaimStatus", None)
                pod["status"]["phase"] = "Running"
            case _:
                pod["status"]["extendedResourceClaimStatus"] = {"resourceClaimName": self.name()}
        await self.store_pod(pod_key)

    async def store_pod(self, pod_key: Thing) -> None:
        pod, (_, namespace, name) = self.pods[pod_key], pod_key
        node = pod["spec"].get("nodeName", "")
        if node:
            needs = {(resource, namespace, used) for resource, used in pod["needs"]}
            if "annotations" not in pod["metadata"]:
                claims = [pod["status"].get("extendedResourceClaimStatus", {}).get("resourceClaimName")]
                if "resourceClaims" in pod["spec"]:
                    claims += [
                        one["resourceClaimName"] for one in pod["status"].get("resourceClaimStatuses", ())
                    ]
                needs |= {("resourceclaims", namespace, claim) for claim in claims if claim}
            self.model.node_of[pod_key] = node
            self.model.needs[pod_key] = needs
        shown = {key: value for key, value in pod.items() if key != "needs"}
        await self.put("", "pods", namespace, name, shown)

    async def volume(self, name: str) -> None:
        """Make, change or delete a volume."""
        pick = self.random
        self.model.claim_of.pop(name, None)
        self.model.secrets_of.pop(name, None)
        if pick.random() < 0.2:
            await self.put("", "persistentvolumes", "", name, None)
            return
        home, other = pick.sample(NAMESPACES, 2)
        secret = self.name()
        spec: Object
        secrets: set[tuple[str, str]]
        spec, secrets = pick.choice((
            ({"csi": {"driver": "d", "nodeStageSecretRef": {"name": secret, "namespace": other},
                      "controllerPublishSecretRef": {"name": "hidden", "namespace": other}}}, {(other, secret)}),
            ({"csi": {"driver": "d", "nodeExpandSecretRef": {"name": secret, "namespace": other}}}, {(other, secret)}),
            ({"rbd": {"secretRef": {"name": secret}}}, {(home, secret)}),
            ({"cephfs": {"secretRef": {"name": secret, "namespace": other}}}, {(other, secret)}),
            ({"azureFile": {"secretName": secret}}, {(home, secret)}),
            ({"cinder": {"secretRef": {"name": secret, "namespace": other}}}, {(other, secret)}),
            ({"nfs": {"server": "s", "path": "/"}}, set()),
        ))  # fmt: skip
        if pick.random() < 0.8:
            claim = {"namespace": home, "name": pick.choice((self.name(), "p0-own"))}
            spec = {**spec, "claimRef": claim}
            self.model.claim_of[name] = ("persistentvolumeclaims", home, claim["name"])
            self.model.secrets_of[name] = {("secrets", *place) for place in secrets}
        await self.put("", "persistentvolumes", "", name, {"metadata": {"uid": self.uid()}, "spec": spec})

    async def plain(self, group: str, plural: str, namespace: str) -> None:
        """Make or delete something that names its node."""
        name = self.name()
        key = (plural, namespace, name)
        if key in self.model.node_of or self.random.random() < 0.2:
            self.model.node_of.pop(key, None)
            await self.put(group, plural, namespace, name, None)
            return
        node = self.random.choice((*NODES, ""))
        await self.put(group, plural, namespace, name, None)
        spec = {"nodeName": node} if node else {}
        if node:
            self.model.node_of[key] = node
        await self.put(group, plural, namespace, name, {"metadata": {"uid": self.uid()}, "spec": spec})

    def compare(self, questions: list[Asked]) -> int:
        allowed = 0
        for asked in questions:
            node, verb, group, resource, subresource, namespace, name, selected = asked
            user = User(f"system:node:{node}", groups=("system:nodes", "system:authenticated"))
            fields = (("spec.nodeName", selected, True),) if selected else ()
            info = RequestInfo(
                verb, is_resource=True, group=group, resource=resource, subresource=subresource,
                namespace=namespace, name=name, fields=fields,
            )  # fmt: skip
            expected = self.model.allows(asked)
            assert self.mode.authorize(user, info).allowed is expected, asked
            allowed += expected
        return allowed


def questions() -> Iterator[Asked]:
    for node in NODES:
        for (group, resource), subresources in THINGS.items():
            names = ["", "x0", "x1", "x3", "p0", "p1", "p0-own", "hidden", "n1", "n2"]
            places = ("", "one") if resource in SCOPED else ("", "one", "two", "kube-node-lease")
            for subresource in subresources:
                for verb in VERBS:
                    for namespace in places:
                        for name in names:
                            yield Asked(node, verb, group, resource, subresource, namespace, name)
                    for selected in NODES:
                        yield Asked(node, verb, group, resource, subresource, selected=selected)


QUESTIONS = list(questions())
# Where it is decided object by object: most questions are about these.
DEEP = [
    asked
    for asked in QUESTIONS
    if asked.verb == "get" and asked.name[:1] in ("x", "p") and not asked.subresource
]


@pytest.mark.parametrize("seed", range(4))
def test_nodes_may_do_what_the_model_says(seed: int) -> None:
    async def go() -> None:
        store = open_store("memory")
        await store.start()
        try:
            cluster = Cluster(store, seed)
            if seed % 2:
                cluster.mode.start()
            for _ in range(30):
                await cluster.change()
            if not seed % 2:  # what was there before the server started
                cluster.mode.start()
            allowed = 0
            for _ in range(25):
                for _ in range(5):
                    await cluster.change()
                allowed += cluster.compare(cluster.random.sample(DEEP, 250))
                allowed += cluster.compare(cluster.random.sample(QUESTIONS, 150))
            assert allowed > 400
        finally:
            await store.close()

    run(go())


def test_every_question_of_every_node() -> None:
    async def go() -> None:
        store = open_store("memory")
        await store.start()
        try:
            cluster = Cluster(store, 99)
            cluster.mode.start()
            for _ in range(60):
                await cluster.change()
            assert cluster.compare(QUESTIONS) > 1000
            assert len(QUESTIONS) > 30_000
        finally:
            await store.close()

    run(go())


@pytest.mark.parametrize(
    "user",
    [
        User("system:node:n1"),
        User("system:node:n1", groups=("system:authenticated",)),
        User("system:node:", groups=("system:nodes",)),
        User("n1", groups=("system:nodes",)),
        User("System:node:n1", groups=("system:nodes",)),
        User("system:serviceaccount:system:node:n1", groups=("system:nodes",)),
    ],
)
def test_who_is_not_a_node_gets_nothing(user: User) -> None:
    mode = NodeAuthorizer(new_context(open_store("memory"), Kinds(builtin())))
    for verb in VERBS:
        for (group, resource), subresources in THINGS.items():
            for subresource in subresources:
                info = RequestInfo(
                    verb, is_resource=True, group=group, resource=resource, subresource=subresource, name="n1"
                )
                assert not mode.authorize(user, info).allowed
