"""NodeRestriction against an independent model: generated writes of two nodes to everything that is restricted."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from pybernetes.control_plane.apiserver.authn.user import User
from tests.control_plane.apiserver.admission.world import Object, World, pod
from tests.support import run

MIRROR = "kubernetes.io/config.mirror"
# Labels by what the documentation says of them.
FREE = (
    "team", "example.com/team", "kubernetes.io.example.com/x", "xkubernetes.io/x", "kubernetes.io/hostname", "kubernetes.io/os",
    "kubernetes.io/arch", "beta.kubernetes.io/os", "beta.kubernetes.io/arch", "beta.kubernetes.io/instance-type",
    "node.kubernetes.io/instance-type", "topology.kubernetes.io/zone", "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region", "kubelet.kubernetes.io/x",
    "deep.kubelet.kubernetes.io/x", "node.kubernetes.io/x", "deep.node.kubernetes.io/x",
)  # fmt: skip
KEPT = (
    "node-restriction.kubernetes.io/x", "deep.node-restriction.kubernetes.io/x", "node-role.kubernetes.io/control-plane",
    "kubernetes.io/x", "k8s.io/x", "deep.k8s.io/x", "cloud.google.com.k8s.io/x", "topology.kubernetes.io/rack",
    "kubernetes.io/hostnames", "xnode.kubernetes.io/x", "beta.kubernetes.io/x", "node-exclude.kubernetes.io/x",
)  # fmt: skip


class Writes:
    """Generated writes, each with whether it is a node's own business."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def some(self, choices: Any, most: int) -> list[Any]:
        return self.random.sample(list(choices), self.random.randint(0, most))

    def changed(self, value: Any, others: tuple[Any, ...]) -> tuple[Any, bool]:
        """Return a value that is the same mostly, and whether it is."""
        if self.random.random() < 0.75:
            return copy.deepcopy(value), True
        other = self.random.choice([one for one in others if one != value])
        return copy.deepcopy(other), False

    def node(self, node: str) -> tuple[str, dict[str, Any], bool]:
        """Return a write of a node object as the arguments of an admission."""
        pick = self.random
        name, own = self.changed(node, ("n1", "n2"))
        labels = dict.fromkeys(self.some(FREE, 3) + self.some(KEPT, 2), "a")
        taints, owners = [{"key": "t", "effect": "NoSchedule"}], [{"uid": "1", "kind": "X", "name": "x"}]
        old = {
            "metadata": {"name": name, "labels": labels, "ownerReferences": owners},
            "spec": {"taints": taints},
        }
        if pick.random() < 0.2:
            fine = own and not set(labels) & set(KEPT)
            new = {"metadata": {"name": name, "labels": labels}, "spec": {"taints": taints}}
            if pick.random() < 0.2:
                new["spec"]["configSource"], fine = {"configMap": {"name": "x"}}, False
            return "nodes", {"new": new}, fine
        new = copy.deepcopy(old)
        fine = own
        for label in self.some(FREE, 3):
            new["metadata"]["labels"][label] = pick.choice("ab")
        if pick.random() < 0.3:
            label = pick.choice(KEPT)
            before = labels.get(label)
            after = pick.choice(("a", "b", None))
            new["metadata"]["labels"].pop(label, None)
            if after is not None:
                new["metadata"]["labels"][label] = after
            fine = fine and before == after
        others: tuple[Any, ...]
        for place, key, others in (
            ("spec", "taints", ([], taints * 2, [{"key": "t", "effect": "NoExecute"}])),
            ("metadata", "ownerReferences", ([], owners * 2, [{**owners[0], "uid": "2"}])),
        ):
            new[place][key], same = self.changed(old[place][key], others)
            fine = fine and same
        new["spec"]["unschedulable"] = pick.choice((True, False))
        new["metadata"]["annotations"] = {"a": pick.choice("ab")}
        new["status"] = {"phase": "x"}
        return "nodes", {"new": new, "old": old, "subresource": pick.choice(("", "status"))}, fine

    def pod(self, node: str) -> tuple[str, dict[str, Any], bool]:
        """Return a write of a pod: its status, its deletion, or something that no node does."""
        pick = self.random
        name = pick.choice(("on-n1", "on-n2", "nowhere"))
        here = name == f"on-{node}"
        old = stored_pod(name)
        what = pick.choice(
            ("status", "status", "status", "delete", "eviction", "update", "ephemeralcontainers", "binding")
        )
        if what == "delete":
            return "pods", {"new": None, "old": old, "operation": "DELETE", "name": name}, here
        if what == "eviction":
            return "pods", {"new": {"metadata": {"name": name}}, "subresource": what, "name": name}, here
        if what in ("update", "binding", "ephemeralcontainers"):
            return "pods", {"new": old, "old": old, "subresource": "" if what == "update" else what}, False
        new = copy.deepcopy(old)
        new["status"] = {"phase": pick.choice(("Running", "Failed")), **old["status"]}
        new["metadata"]["annotations"] = {"a": "b"}
        new["metadata"]["labels"], fine = self.changed(old["metadata"]["labels"], ({}, {"a": "c"}))
        for key, others in (
            ("resourceClaimStatuses", ([], [{"name": "r", "resourceClaimName": "others"}])),
            ("extendedResourceClaimStatus", (None, {"resourceClaimName": "others"})),
        ):
            value, same = self.changed(old["status"][key], others)
            new["status"][key] = value
            if not value:
                del new["status"][key]
            fine = fine and same
        return "pods", {"new": new, "old": old, "subresource": "status"}, fine and here

    def named(self, node: str) -> tuple[str, dict[str, Any], bool]:
        """Return a write of something that has a node's name, or names a node."""
        pick = self.random
        other, own = self.changed(node, ("n1", "n2", ""))
        operation = pick.choice(("CREATE", "UPDATE", "DELETE"))
        resource = pick.choice(
            (
                "leases.coordination.k8s.io",
                "csinodes.storage.k8s.io",
                "resourceslices.resource.k8s.io",
                "persistentvolumeclaims",
            )
        )
        options: dict[str, Any] = {"operation": operation}
        if resource.startswith("lease"):
            options["namespace"] = pick.choice(("kube-node-lease", "kube-node-lease", "one"))
            own = own and options["namespace"] == "kube-node-lease"
        obj: Object = {"metadata": {"name": other or "x"}}
        if resource.startswith("resourceslices"):
            obj = {"metadata": {"name": "s"}, "spec": {"nodeName": other} if other else {"allNodes": True}}
            own = own or operation == "UPDATE"  # the authorizer has looked at what is stored
        if resource == "persistentvolumeclaims":
            return self.claim(operation)
        new, old = {"CREATE": (obj, None), "UPDATE": (obj, obj), "DELETE": (None, obj)}[operation]
        return resource, {"new": new, "old": old, "name": obj["metadata"]["name"], **options}, own

    def claim(self, operation: str) -> tuple[str, dict[str, Any], bool]:
        pick = self.random
        old: Object = {
            "metadata": {"name": "c"},
            "spec": {"volumeName": "v"},
            "status": {"phase": "Bound", "capacity": {"storage": "1"}},
        }
        subresource = pick.choice(("status", "status", ""))
        if operation != "UPDATE":
            new, before = (old, None) if operation == "CREATE" else (None, old)
            return (
                "persistentvolumeclaims",
                {"new": new, "old": before, "operation": operation, "subresource": subresource},
                False,
            )
        new = copy.deepcopy(old)
        new["status"] |= {"capacity": {"storage": "2"}, "conditions": [{"type": "x"}]}
        fine = subresource == "status"
        for place, key, others in (
            ("metadata", "labels", ({"a": "b"},)),
            ("metadata", "finalizers", (["x"],)),
            ("spec", "volumeName", ("w",)),
            ("status", "phase", ("Lost",)),
        ):
            value, same = self.changed(old[place].get(key), others)
            if value is not None:
                new[place][key] = value
            fine = fine and same
        return "persistentvolumeclaims", {"new": new, "old": old, "subresource": subresource}, fine


def stored_pod(name: str) -> Object:
    node: Object = {} if name == "nowhere" else {"nodeName": name.removeprefix("on-")}
    made = pod(name, metadata={"labels": {"a": "b"}}, **node)
    status = {
        "resourceClaimStatuses": [{"name": "r", "resourceClaimName": "mine"}],
        "extendedResourceClaimStatus": {"resourceClaimName": "mine", "requestMappings": []},
    }
    return {**made, "status": status}


@pytest.mark.parametrize("sort", ["node", "pod", "named"])
def test_nodes_write_what_the_model_says(sort: str) -> None:
    async def go() -> None:
        writes, counts = Writes(5), {True: 0, False: 0}
        async with World() as world:
            for name in ("on-n1", "on-n2", "nowhere"):
                await world.add("", "pods", stored_pod(name))
            chain = world.chain("NodeRestriction")
            for _ in range(1500):
                node = writes.random.choice(("n1", "n2"))
                resource, options, fine = getattr(writes, sort)(node)
                given = copy.deepcopy(options)
                new, old = options.pop("new"), options.pop("old", None)
                user = User(f"system:node:{node}", groups=("system:nodes",))
                said = await world.refusal(chain, resource, new, old, user=user, **options)
                assert (said == "") is fine, (node, resource, given, said)
                counts[fine] += 1
                # Others are not restricted, whatever they are called.
                for other in (User(f"system:node:{node}"), User(node, groups=("system:nodes",))):
                    assert await world.refusal(chain, resource, new, old, user=other, **options) == ""
        assert min(counts.values()) > 150, counts

    run(go())
