"""A kubelet's identity on a server with Node authorization and NodeRestriction: its own node, pods and tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.servers import TOKEN, Server, running

Object = dict[str, Any]
BASE = "/api/v1/namespaces/default"
MERGE = "application/merge-patch+json"
OTHER = 'node "n1" is not allowed to modify node "n2"'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    directory = tmp_path_factory.mktemp("node-identity")
    users = directory / "users.csv"
    users.write_text(f'{TOKEN},admin,admin,"system:masters"\nkubelet,system:node:n1,u1,"system:nodes"\n')
    flags = (
        "--storage-backend=memory",
        f"--token-auth-file={users}",
    )
    with running(directory, *flags, "--disable-admission-plugins=ServiceAccount") as server:
        server.call("POST", f"{BASE}/serviceaccounts", {"metadata": {"name": "sa"}})
        server.call("POST", "/api/v1/nodes", {"metadata": {"name": "n2"}})
        for name, node in (("ours", "n1"), ("theirs", "n2")):
            token = {"name": "token", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}
            spec = {"serviceAccountName": "sa", "nodeName": node, "containers": [{"name": "c", "image": "i"}],
                    "volumes": [token]}  # fmt: skip
            assert server.call("POST", f"{BASE}/pods", {"metadata": {"name": name}, "spec": spec})[0] == 201
        yield server


def bound(server: Server, pod: str, **more: Any) -> Object:
    uid = server.call("GET", f"{BASE}/pods/{pod}")[1]["metadata"]["uid"]
    return {"spec": {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": pod, "uid": uid}, **more}}


@pytest.fixture
def own_node(server: Server) -> None:
    """The node of the kubelet is registered."""
    assert server.call("POST", "/api/v1/nodes", {"metadata": {"name": "n1"}})[0] in (201, 409)


def test_a_kubelet_registers_its_own_node(server: Server) -> None:
    server.call("DELETE", "/api/v1/nodes/n1")
    status, answer = server.call("POST", "/api/v1/nodes", {"metadata": {"name": "n1"}}, token="kubelet")
    assert status == 201, answer


@pytest.mark.usefixtures("own_node")
@pytest.mark.parametrize(
    ("method", "path", "body", "status", "message"),
    [
        ("POST", "/api/v1/nodes", {"metadata": {"name": "n3"}}, 403,
         'nodes "n3" is forbidden: node "n1" is not allowed to modify node "n3"'),
        ("PATCH", "/api/v1/nodes/n1/status", {"status": {"capacity": {"cpu": "1"}}}, 200, ""),
        ("PATCH", "/api/v1/nodes/n2/status", {"status": {}}, 403, f'nodes "n2" is forbidden: {OTHER}'),
        ("PATCH", "/api/v1/nodes/n1", {"metadata": {"labels": {"kubernetes.io/os": "linux"}}}, 200, ""),
        ("PATCH", "/api/v1/nodes/n1", {"metadata": {"labels": {"node-restriction.kubernetes.io/x": "y"}}}, 403,
         'nodes "n1" is forbidden: is not allowed to modify labels: node-restriction.kubernetes.io/x'),
        ("PATCH", "/api/v1/nodes/n1", {"spec": {"taints": []}}, 403,
         'nodes "n1" is forbidden: node "n1" is not allowed to modify taints'),
        ("PATCH", f"{BASE}/pods/ours/status", {"status": {"phase": "Running"}}, 200, ""),
        ("PATCH", f"{BASE}/pods/theirs/status", {"status": {"phase": "Running"}}, 403,
         'pods "theirs" is forbidden: node "n1" can only update pod status for pods with spec.nodeName set to itself'),
        ("DELETE", f"{BASE}/pods/theirs", None, 403,
         'pods "theirs" is forbidden: node "n1" can only delete pods with spec.nodeName set to itself'),
        ("PATCH", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n2", {}, 403, None),
    ],
)  # fmt: skip
def test_what_a_kubelet_writes(
    server: Server, method: str, path: str, body: Any, status: int, message: str | None
) -> None:
    headers = {"Content-Type": MERGE} if method == "PATCH" else {}
    code, answer = server.call(method, path, body, headers=headers, token="kubelet")
    assert (code, message if message is None else answer.get("message", "")) == (status, message), answer


def test_tokens_only_of_the_pods_of_the_node(server: Server) -> None:
    path = f"{BASE}/serviceaccounts/sa/token"
    status, made = server.call("POST", path, bound(server, "ours"), token="kubelet")
    assert status == 201 and made["status"]["token"], made
    start = 'serviceaccounts "sa" is forbidden: '
    for body, why in (
        ({"spec": {}}, "node requested token not bound to a pod"),
        (bound(server, "theirs"), "node requested token bound to a pod scheduled on a different node"),
        (
            bound(server, "ours", audiences=["vault"]),
            'system:node:n1 is not authorized to request tokens for audience "vault"',
        ),
    ):
        status, answer = server.call("POST", path, body, token="kubelet")
        assert (status, answer["message"]) == (403, start + why)
    # Who is no node is not restricted.
    assert server.call("POST", path, {"spec": {"audiences": ["vault"]}})[0] == 201
