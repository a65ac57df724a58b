"""A kubelet on a running server with Node authorization."""

from __future__ import annotations

from tests.control_plane.apiserver.authz.users import As
from tests.servers import Server


def test_a_kubelet(server: Server, admin: As) -> None:
    kubelet = As(server, "kubelet")
    container = {"name": "c", "image": "i", "envFrom": [{"secretRef": {"name": "mine"}}]}
    account = {"metadata": {"name": "default"}}
    admin("POST", "/api/v1/namespaces/default/serviceaccounts", account)
    for name, node in (("ours", "n1"), ("theirs", "n2")):
        pod = {"metadata": {"name": name}, "spec": {"nodeName": node, "containers": [
            {**container, "envFrom": [{"secretRef": {"name": f"secret-of-{name}"}}]}]}}  # fmt: skip
        status, answer = admin("POST", "/api/v1/namespaces/default/pods", pod)
        assert status == 201, answer
    base = "/api/v1/namespaces/default"
    assert kubelet("GET", f"{base}/secrets/secret-of-ours")[0] == 404
    status, answer = kubelet("GET", f"{base}/secrets/secret-of-theirs")
    assert (status, answer["message"]) == (403, (
        'secrets "secret-of-theirs" is forbidden: User "system:node:n1" cannot get resource "secrets" in API group "" in the '
        "namespace \"default\": node: no relationship found between node 'n1' and this object"
    ))  # fmt: skip
    assert kubelet("GET", f"{base}/pods/ours")[0] == 200
    assert kubelet("GET", f"{base}/pods/theirs")[0] == 403
    assert kubelet("GET", f"{base}/pods")[0] == 403
    status, answer = kubelet("GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1")
    assert (status, [pod["metadata"]["name"] for pod in answer["items"]]) == (200, ["ours"])
    assert kubelet("GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn2")[0] == 403
    assert kubelet("GET", "/api/v1/nodes/n1")[0] == 404
    assert kubelet("GET", "/api/v1/nodes/n2")[0] == 403
    assert kubelet("GET", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1")[0] == 404
    assert kubelet("GET", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n2")[0] == 403
    admin("DELETE", f"{base}/pods/ours?gracePeriodSeconds=0")
    assert kubelet("GET", f"{base}/secrets/secret-of-ours")[0] == 403
