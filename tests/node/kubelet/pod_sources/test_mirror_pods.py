"""The mirror pods of static pods: what they are, and that they follow what is wanted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.lib.clock import ManualClock
from pybernetes.node.kubelet.pod_kinds import MIRROR, is_mirror
from pybernetes.node.kubelet.pod_sources.mirror_pods import MirrorPods, mirror_pod
from pybernetes.node.kubelet.pod_sources.static_pod import parse_static_pod

TEXT = "kind: Pod\nmetadata: {name: s, labels: {a: b}}\nspec: {containers: [{name: c, image: i}]}"
NODE = {"metadata": {"name": "node", "uid": "node-uid"}}


def static(image: str = "i") -> Object:
    return parse_static_pod(TEXT.replace("image: i", f"image: {image}"), Path("/m/s.yaml"), "node", "now")


class Api:
    """The part of a client and of an informer that mirrors need: the pods of one namespace by name."""

    def __init__(self) -> None:
        self.pods: dict[str, Object] = {}
        self.calls: list[str] = []

    async def wait_synced(self) -> None:
        pass

    def get(self, key: str) -> Object | None:
        return self.pods.get(key)

    async def create(self, ref: Any, pod: Object, namespace: str) -> None:
        key = f"{namespace}/{pod['metadata']['name']}"
        self.calls.append("create")
        assert key not in self.pods
        self.pods[key] = {**pod, "metadata": {**pod["metadata"], "uid": f"uid-{len(self.calls)}"}}

    async def delete(self, ref: Any, name: str, namespace: str, *, uid: str, grace: int) -> None:
        self.calls.append("delete")
        assert self.pods.pop(f"{namespace}/{name}")["metadata"]["uid"] == uid and grace == 0


def test_a_mirror_is_owned_by_its_node() -> None:
    made = static()
    mirror = mirror_pod(made, NODE)
    assert is_mirror(mirror) and mirror["metadata"]["annotations"][MIRROR] == made["metadata"]["uid"]
    assert mirror["metadata"]["labels"] == {"a": "b"} and "uid" not in mirror["metadata"]
    assert mirror["metadata"]["ownerReferences"][0]["uid"] == "node-uid"
    assert "ownerReferences" not in mirror_pod(made, {})["metadata"]


async def test_mirrors_follow_what_is_wanted() -> None:
    api: Any = Api()
    wanted: dict[str, Object] = {}
    mirrors = MirrorPods(api, api, ManualClock(), wanted.get, lambda: NODE)
    first = static()
    wanted["default/s-node"] = first
    await mirrors.sync(first)
    await mirrors.sync(first)
    assert api.calls == ["create"]
    wanted["default/s-node"] = static("other")  # its file changed
    await mirrors.sync(first)
    assert api.calls == ["create", "delete", "create"]
    wanted.clear()
    await mirrors.sync(first)
    assert not api.pods
