"""A pod gets its node."""

from __future__ import annotations

from tests.servers import Server


def path(namespace: str, name: str = "", plural: str = "configmaps") -> str:
    return f"/api/v1/namespaces/{namespace}/{plural}" + (f"/{name}" if name else "")


def test_a_pod_is_bound_once(server: Server, namespace: str) -> None:
    pods = path(namespace, plural="pods")
    server.call(
        "POST", pods, {"metadata": {"name": "b"}, "spec": {"containers": [{"name": "a", "image": "b"}]}}
    )
    binding = {"metadata": {"name": "b"}, "target": {"kind": "Node", "name": "n1"}}
    assert server.call("POST", f"{pods}/b/binding", binding)[0] == 201
    pod = server.call("GET", f"{pods}/b")[1]
    assert pod["spec"]["nodeName"] == "n1" and pod["status"]["conditions"][0]["type"] == "PodScheduled"
    status, answer = server.call("POST", f"{pods}/b/binding", binding)
    assert status == 409 and 'pod b is already assigned to node "n1"' in answer["message"]
