"""Lists of one moment in chunks."""

from __future__ import annotations

from tests.control_plane.apiserver.verbs.config_maps import make, path
from tests.servers import Server


def test_chunks_show_one_moment(server: Server, namespace: str) -> None:
    for index in range(10):
        make(server, namespace, f"c{index}")
    _, first = server.call("GET", path(namespace), query={"limit": 4})
    assert [item["metadata"]["name"] for item in first["items"]] == ["c0", "c1", "c2", "c3"]
    assert first["metadata"]["remainingItemCount"] == 6
    make(server, namespace, "c99")
    server.call("DELETE", f"{path(namespace)}/c5")
    names, token = [], first["metadata"]["continue"]
    while token:
        _, page = server.call("GET", path(namespace), query={"limit": 4, "continue": token})
        assert page["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
        names += [item["metadata"]["name"] for item in page["items"]]
        token = page["metadata"].get("continue")
    assert names == ["c4", "c5", "c6", "c7", "c8", "c9"]


def test_lists_of_a_version(server: Server, namespace: str) -> None:
    make(server, namespace, "old")
    version = server.call("GET", path(namespace))[1]["metadata"]["resourceVersion"]
    make(server, namespace, "new")
    exact = {"resourceVersion": version, "resourceVersionMatch": "Exact"}
    assert [i["metadata"]["name"] for i in server.call("GET", path(namespace), query=exact)[1]["items"]] == [
        "old"
    ]
    since = {"resourceVersion": version, "resourceVersionMatch": "NotOlderThan"}
    assert len(server.call("GET", path(namespace), query=since)[1]["items"]) == 2
    status, answer = server.call("GET", path(namespace), query={"resourceVersion": str(int(version) + 10**9)})
    assert status == 504 and "Too large resource version" in answer["message"]


def test_selectors(server: Server, namespace: str) -> None:
    make(server, namespace, "s1", tier="front")
    make(server, namespace, "s2", tier="back")

    def names(**query: str) -> list[str]:
        return [
            item["metadata"]["name"] for item in server.call("GET", path(namespace), query=query)[1]["items"]
        ]

    assert names(labelSelector="tier in (front,back)") == ["s1", "s2"]
    assert names(labelSelector="tier=front") == names(labelSelector="tier!=back,tier") == ["s1"]
    assert names(fieldSelector="metadata.name=s2") == ["s2"]
    assert names(labelSelector="tier", limit="1") == ["s1"]
