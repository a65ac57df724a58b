"""Reviews of access on a running server, and kubectl auth."""

from __future__ import annotations

from typing import Any

import pytest

from tests.control_plane.apiserver.authz.users import AUTHORIZATION, As, Object
from tests.servers import Server


def review(user: As, kind: str, spec: Object, namespace: str = "") -> Object:
    where = f"namespaces/{namespace}/{kind}" if namespace else kind
    status, answer = user("POST", f"{AUTHORIZATION}/{where}", {"spec": spec})
    assert status == 201, answer
    return answer["status"]


def about(**attributes: Any) -> Object:
    return {"resourceAttributes": attributes}


SELF, OTHERS = "selfsubjectaccessreviews", "subjectaccessreviews"
NODE = {"user": "system:node:n1", "groups": ["system:nodes"]}


def test_may_i(admin: As, nobody: As) -> None:
    assert review(nobody, SELF, about(verb="get", resource="pods", namespace="default")) == {"allowed": False}
    assert review(admin, SELF, about(verb="*", resource="*", group="*")) == {"allowed": True}
    assert review(nobody, SELF, {"nonResourceAttributes": {"verb": "get", "path": "/apis/apps"}}) == {
        "allowed": True,
        "reason": 'RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery" to Group '
        '"system:authenticated"',
    }


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"user": "system:kube-scheduler", **about(verb="create", resource="pods", subresource="binding")},
         {"allowed": True, "reason": 'RBAC: allowed by ClusterRoleBinding "system:kube-scheduler" of ClusterRole '
                                     '"system:kube-scheduler" to User "system:kube-scheduler"'}),
        ({"groups": ["system:masters"], **about(verb="get", resource="x")}, {"allowed": True}),
        ({**NODE, **about(verb="list", resource="pods", fieldSelector={"rawSelector": "spec.nodeName=n1"})}, {"allowed": True}),
        ({**NODE, **about(verb="list", resource="pods", fieldSelector={"requirements": [
            {"key": "spec.nodeName", "operator": "In", "values": ["n1"]}, {"key": "x", "operator": "New"}]})},
         {"allowed": True, "evaluationError": "spec.resourceAttributes.fieldSelector partially ignored due to parse error"}),
        ({**NODE, **about(verb="list", resource="pods", fieldSelector={"rawSelector": "x"}, labelSelector={"rawSelector": "x in (a"})},
         {"allowed": False, "reason": "node: can only list/watch pods with spec.nodeName field selector",
          "evaluationError": "spec.resourceAttributes.fieldSelector ignored due to parse error; "
                             "spec.resourceAttributes.labelSelector ignored due to parse error"}),
    ],
)  # fmt: skip
def test_may_they(admin: As, spec: Object, expected: Object) -> None:
    assert review(admin, OTHERS, spec) == expected


def test_may_they_here(admin: As, nobody: As) -> None:
    kind, spec = (
        "localsubjectaccessreviews",
        {"user": "x", **about(verb="get", resource="pods", namespace="anywhere")},
    )
    assert review(admin, kind, spec, "anywhere") == {"allowed": False}
    status, answer = admin("POST", f"{AUTHORIZATION}/namespaces/default/{kind}", {"spec": spec})
    assert status == 422 and "must match metadata.namespace" in answer["message"]
    assert nobody("POST", f"{AUTHORIZATION}/namespaces/default/{kind}", {"spec": spec})[0] == 403
    assert admin("POST", f"{AUTHORIZATION}/{kind}", {"spec": spec})[0] == 404


def test_questions_that_make_no_sense(nobody: As) -> None:
    status, answer = nobody("POST", f"{AUTHORIZATION}/{SELF}", {"spec": {}})
    assert (status, answer["message"]) == (422, (
        '.authorization.k8s.io "" is invalid: spec: Invalid value: null: exactly one of nonResourceAttributes or '
        "resourceAttributes must be specified"
    ))  # fmt: skip
    status, answer = nobody("POST", f"{AUTHORIZATION}/selfsubjectrulesreviews", {"spec": {}})
    assert (status, answer["message"]) == (400, "no namespace on request")
    assert nobody("GET", f"{AUTHORIZATION}/{SELF}")[0] == 403


def test_what_may_i(nobody: As, server: Server) -> None:
    status = review(nobody, "selfsubjectrulesreviews", {"namespace": "default"})
    resources = [resource for rule in status["resourceRules"] for resource in rule["resources"]]
    assert sorted(resources) == ["selfsubjectaccessreviews", "selfsubjectreviews", "selfsubjectrulesreviews"]
    assert status["incomplete"] is False and "evaluationError" not in status
    node = review(As(server, "kubelet"), "selfsubjectrulesreviews", {"namespace": "default"})
    assert (node["incomplete"], node["evaluationError"]) == (
        True,
        "node authorizer does not support user rule resolution",
    )


def test_kubectl_auth(server: Server) -> None:
    listing = server.kubectl("auth", "can-i", "--list", "--token=nobody", "--kubeconfig=/dev/null", f"--server=https://127.0.0.1:{server.port}",
                             f"--certificate-authority={server.authority}")  # fmt: skip
    assert listing.splitlines()[0].split() == [
        "Resources",
        "Non-Resource",
        "URLs",
        "Resource",
        "Names",
        "Verbs",
    ]
    assert any(
        line.split() == ["selfsubjectaccessreviews.authorization.k8s.io", "[]", "[]", "[create]"]
        for line in listing.splitlines()
    )
    assert "[/api/*]" in listing
    assert server.kubectl("auth", "can-i", "create", "deployments.apps").strip() == "yes"
    assert server.kubectl("auth", "can-i", "get", "pods", "--subresource=log").strip() == "yes"
    assert server.kubectl("auth", "can-i", "get", "/metrics").strip() == "yes"
    assert "*.*" in server.kubectl("auth", "can-i", "--list")
