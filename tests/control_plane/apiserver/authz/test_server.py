"""Authorization as a client meets it: a running server with RBAC and Node, and users who may do little."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from typing import Any

import pytest

from pybernetes.api.registry import builtin
from pybernetes.control_plane.apiserver.discovery.subresource_kinds import of as subresources_of
from tests.servers import TOKEN, Server, running

Object = dict[str, Any]
RBAC, AUTHORIZATION = "/apis/rbac.authorization.k8s.io/v1", "/apis/authorization.k8s.io/v1"
METHODS = {
    "get": "GET", "list": "GET", "watch": "GET", "create": "POST", "update": "PUT", "patch": "PATCH",
    "delete": "DELETE", "deletecollection": "DELETE",
}  # fmt: skip
TOKENS = f"""{TOKEN},admin,admin,"system:masters"
nobody,nobody,u1,"strangers"
maker,maker,u2,"ops,dev"
kubelet,system:node:n1,u3,"system:nodes"
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    directory = tmp_path_factory.mktemp("authz")
    tokens = directory / "users.csv"
    tokens.write_text(TOKENS)
    with running(directory, "--storage-backend=memory", f"--token-auth-file={tokens}") as server:
        yield server


class As:
    """A user on one connection."""

    def __init__(self, server: Server, token: str) -> None:
        self.connection: http.client.HTTPSConnection = server.connection()
        self.token = token

    def __call__(
        self, method: str, path: str, body: Any = None, content_type: str = "application/json"
    ) -> tuple[int, Any]:
        headers = {"Content-Type": content_type} | (
            {"Authorization": f"Bearer {self.token}"} if self.token else {}
        )
        self.connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = self.connection.getresponse()
        text = response.read()
        return response.status, json.loads(text) if text.startswith(b"{") else text.decode()


@pytest.fixture
def admin(server: Server) -> As:
    return As(server, TOKEN)


@pytest.fixture
def nobody(server: Server) -> As:
    return As(server, "nobody")


def every_verb_of_every_kind() -> Iterator[tuple[str, str, str, str, str, str, str]]:
    """Verb, group, version, resource, namespace, name, subresource."""
    for resource in builtin():
        namespace = "one" if resource.namespaced else ""
        for verb in resource.verbs:
            name = "thing" if verb in ("get", "update", "patch", "delete") else ""
            yield verb, resource.group, resource.version, resource.plural, namespace, name, ""
            if namespace and verb in ("list", "watch"):
                yield verb, resource.group, resource.version, resource.plural, "", "", ""
        for subresource in subresources_of(resource):
            for verb in subresource.verbs:
                yield (
                    verb,
                    resource.group,
                    resource.version,
                    resource.plural,
                    namespace,
                    "thing",
                    subresource.name,
                )


def test_a_user_without_rights_is_refused_every_verb_on_every_kind(nobody: As) -> None:
    granted = {"selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews"}
    count = 0
    for verb, group, version, plural, namespace, name, subresource in every_verb_of_every_kind():
        if plural in granted:
            continue
        count += 1
        start = f"/apis/{group}/{version}" if group else f"/api/{version}"
        middle = f"/namespaces/{namespace}" if namespace else ""
        path = start + middle + "/" + "/".join(filter(None, (plural, name, subresource)))
        if plural == "namespaces" and name:
            namespace = name
        status, answer = nobody(METHODS[verb], path + ("?watch=1" if verb == "watch" else ""), None)
        qualified = f"{plural}.{group}" if group else plural
        whole = f"{plural}/{subresource}" if subresource else plural
        where = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
        assert (status, answer["message"]) == (403, (
            f"{qualified} {f'{chr(34)}{name}{chr(34)} ' if name else ''}is forbidden: "
            f'User "nobody" cannot {verb} resource "{whole}" in API group "{group}" {where}'
        )), path  # fmt: skip
        details = {"name": name, "group": group, "kind": plural}
        assert answer["details"] == {key: value for key, value in details.items() if value}
        assert answer["reason"] == "Forbidden"
    assert count > 500


TRICKS = [
    "/api/v1/namespaces/kube-system/secrets", "/api/v1/namespaces/kube-system/secrets/", "/api/v1/namespaces/kube-system/secrets//",
    "/api/v1/namespaces//secrets", "/api/v1//secrets", "//api/v1/secrets", "///api/v1/secrets", "/api//v1/secrets",
    "/api/v1/namespaces/kube-system//secrets", "/api/v1/namespaces/kube-system/secrets//x", "/api/v1/SECRETS", "/api/V1/secrets",
    "/api/v1/%73ecrets", "/api/v1/s%65crets", "/api%2Fv1%2Fsecrets", "/api/v1%2fsecrets", "/%61pi/v1/secrets", "/api/v1/./secrets",
    "/api/v1/%2e/secrets", "/api/v1/../v1/secrets", "/api/v1/%2e%2e/v1/secrets", "/api/v1/namespaces/a/%2e%2e/kube-system/secrets",
    "/api/v1/namespaces/a/../kube-system/secrets", "/api/v1/namespaces/a%2F..%2Fkube-system/secrets",
    "/api/v1/namespaces/kube-system%2fsecrets", "/api/v1/namespaces/kube-system/secrets%00", "/api/v1/namespaces/kube-system/secrets/x/",
    "/api/v1/namespaces/kube-system/secrets/x/status", "/api/v1/namespaces/kube-system/secrets/x/unknown",
    "/api/v1/namespaces/kube-system/secrets/x/unknown/more", "/api/v1/watch/secrets", "/api/v1/watch/namespaces/kube-system/secrets/x",
    "/api/v1/proxy/nodes/n1", "/api/v1/secrets?watch=true", "/api/v1/secrets?watch=", "/api/v1/secrets?fieldSelector=metadata.name%3Dx",
    "/api/v1/secrets;x=y", "/api/v1/secrets%3Fwatch=1", "/api/v1/secrets%23", "/apis//v1/secrets", "/apis/%20/v1/secrets",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles/", "/apis/RBAC.authorization.k8s.io/v1/clusterroles",
    "/apis/apps/v1/namespaces/kube-system/deployments/x/scale/", "/METRICS", "/metrics/", "/metrics", "//metrics", "/./metrics",
    "/healthz/", "/healthz/ping", "/Healthz", "/readyz/etcd", "//healthz", "/healthz/../metrics", "/healthz/%2e%2e/metrics", "/",
    "/logs", "/logs/", "/debug/pprof", "/swaggerapi", "/api/v1/nodes/n1/proxy/../../secrets",
]  # fmt: skip


@pytest.mark.parametrize("who", ["nobody", ""])
def test_no_spelling_of_a_path_gets_past_authorization(server: Server, who: str) -> None:
    user = As(server, who)
    for path in TRICKS:
        for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"):
            status, answer = user(method, path, None if method in ("GET", "HEAD") else {})
            assert status == 403, (method, path, status, answer)


def test_odd_spellings_reach_nothing_for_those_who_may_everything(admin: As) -> None:
    """What authorization and routing could read differently is not served at all."""
    for path in ("//api/v1/secrets", "/api/v1//secrets", "/apis//v1/secrets", "/api/v1/../v1/secrets", "/api/V1/secrets",
                 "/api/v1/namespaces/kube-system/secrets//x", "/api/v1/namespaces/a/%2e%2e/kube-system/secrets", "//version",
                 "/healthz/../metrics", "/api/v1/namespaces/default/pods//log"):  # fmt: skip
        assert admin("GET", path)[0] == 404, path


def test_discovery_and_health_are_for_everybody_who_may(server: Server, nobody: As) -> None:
    stranger = As(server, "")
    for path in ("/healthz", "/livez", "/readyz", "/version", "/version/"):
        assert stranger("GET", path)[0] == nobody("GET", path)[0] == 200, path
    for path in ("/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/openapi/v2", "/openapi/v3"):
        status, answer = stranger("GET", path)
        assert (status, answer["message"]) == (
            403,
            f'forbidden: User "system:anonymous" cannot get path "{path}"',
        )
        assert answer["details"] == {}
        assert nobody("GET", path)[0] == 200, path
    assert "[+]poststarthook/rbac/bootstrap-roles ok" in stranger("GET", "/readyz?verbose")[1]


# --- grants take effect


def grant(admin: As, name: str, *rules: Object, to: Object, namespace: str = "") -> None:
    assert admin("POST", f"{RBAC}/clusterroles", {"metadata": {"name": name}, "rules": list(rules)})[0] == 201
    binding = {"metadata": {"name": name}, "roleRef": {"kind": "ClusterRole", "name": name}, "subjects": [to]}
    where = f"namespaces/{namespace}/rolebindings" if namespace else "clusterrolebindings"
    status, answer = admin("POST", f"{RBAC}/{where}", binding)
    assert status == 201, answer


def test_grants_by_name_selector_and_subresource(server: Server, admin: As) -> None:
    nobody = As(server, "nobody")
    secrets = {
        "verbs": ["get", "list", "watch"],
        "apiGroups": [""],
        "resources": ["secrets"],
        "resourceNames": ["mine"],
    }
    scales = {"verbs": ["get"], "apiGroups": ["*"], "resources": ["*/scale"]}
    group = {"kind": "Group", "name": "strangers"}
    grant(admin, "few", secrets, scales, {"verbs": ["get"], "nonResourceURLs": ["/metrics"]}, to=group)
    try:
        base = "/api/v1/namespaces/default/secrets"
        assert nobody("GET", f"{base}/mine")[0] == 404
        assert nobody("GET", f"{base}/yours")[0] == 403
        assert nobody("GET", base)[0] == 403
        assert nobody("GET", f"{base}?fieldSelector=metadata.name%3Dmine")[0] == 200
        status, answer = nobody("GET", f"{base}?fieldSelector=metadata.name%3Dyours")
        assert status == 403 and answer["message"].startswith('secrets "yours" is forbidden: ')
        assert nobody("GET", f"{base}?fieldSelector=metadata.name!%3Dmine")[0] == 403
        assert nobody("DELETE", f"{base}?fieldSelector=metadata.name%3Dmine")[0] == 403
        assert nobody("GET", "/apis/apps/v1/namespaces/default/deployments/d/scale")[0] == 404
        assert nobody("GET", "/apis/apps/v1/namespaces/default/deployments/d")[0] == 403
        assert nobody("GET", "/metrics")[0] == 200
    finally:
        admin("DELETE", f"{RBAC}/clusterroles/few")
    status, answer = nobody("GET", "/metrics")
    assert (status, answer["message"]) == (403, (
        'forbidden: User "nobody" cannot get path "/metrics": rbac: RBAC: clusterrole.rbac.authorization.k8s.io "few" not found'
    ))  # fmt: skip
    admin("DELETE", f"{RBAC}/clusterrolebindings/few")
    assert nobody("GET", "/metrics")[1]["message"] == 'forbidden: User "nobody" cannot get path "/metrics"'


# --- escalation


@pytest.fixture(scope="module")
def maker(server: Server) -> As:
    """Somebody who may write roles and bindings, and read pods."""
    kinds = ["roles", "rolebindings", "clusterroles", "clusterrolebindings"]
    rules: list[Object] = [
        {"verbs": ["create", "update", "patch", "get"], "apiGroups": ["rbac.authorization.k8s.io"], "resources": kinds},
        {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]},
        {"verbs": ["escalate", "bind"], "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"],
         "resourceNames": ["trusted", "view"]},
    ]  # fmt: skip
    grant(As(server, TOKEN), "maker", *rules, to={"kind": "User", "name": "maker"})
    return As(server, "maker")


HELD = 'user "maker" (groups=["ops" "dev" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n'
DELETE_PODS = {"verbs": ["get", "delete"], "apiGroups": [""], "resources": ["pods"]}
MORE = HELD + '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}'
EVERYTHING = HELD + '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}\n{NonResourceURLs:["*"], Verbs:["*"]}'


def role(name: str, *rules: Object, **more: Any) -> Object:
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": more.pop("kind", "ClusterRole"),
            "metadata": {"name": name}, "rules": list(rules), **more}  # fmt: skip


def bind(kind: str, name: str, to: str = "b") -> Object:
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}
    return {"metadata": {"name": to}, "roleRef": reference, "subjects": [{"kind": "User", "name": "maker"}]}


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "message"),
    [
        ("POST", "clusterroles", role("x", DELETE_PODS), 403, f'clusterroles.rbac.authorization.k8s.io "x" is forbidden: {MORE}'),
        ("POST", "clusterroles?dryRun=All", role("x", DELETE_PODS), 403, f'clusterroles.rbac.authorization.k8s.io "x" is forbidden: {MORE}'),
        ("PUT", "clusterroles/x", role("x", DELETE_PODS), 403, f'clusterroles.rbac.authorization.k8s.io "x" is forbidden: {MORE}'),
        ("PATCH apply", "clusterroles/x?fieldManager=m", role("x", DELETE_PODS), 403,
         f'clusterroles.rbac.authorization.k8s.io "x" is forbidden: {MORE}'),
        ("POST", "namespaces/default/roles", role("x", DELETE_PODS, kind="Role"), 403,
         f'roles.rbac.authorization.k8s.io "x" is forbidden: {MORE}'),
        ("POST", "clusterroles", role("x", {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["a"]}), 201, ""),
        ("PATCH merge", "clusterroles/x", {"rules": [DELETE_PODS]}, 403, f'clusterroles.rbac.authorization.k8s.io "x" is forbidden: {MORE}'),
        ("PATCH json", "clusterroles/x", [{"op": "add", "path": "/rules/0/verbs/0", "value": "delete"}], 403,
         'clusterroles.rbac.authorization.k8s.io "x" is forbidden: '
         + HELD + '{APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["delete"]}'),
        ("POST", "clusterroles", role("y", aggregationRule={"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}), 403,
         'clusterroles.rbac.authorization.k8s.io "y" is forbidden: must have cluster-admin privileges to use the aggregationRule'),
        ("POST", "clusterroles", role("y", {"verbs": [], "apiGroups": [""], "resources": ["pods"]}), 422, None),
        ("PUT", "clusterroles/trusted", role("trusted", DELETE_PODS), 201, ""),
        ("PATCH merge", "clusterroles/cluster-admin", {"metadata": {"finalizers": ["example.com/x"]}}, 200, ""),
        ("PATCH merge", "clusterroles/cluster-admin", {"metadata": {"finalizers": None}}, 200, ""),
        ("PATCH merge", "clusterroles/cluster-admin", {"metadata": {"labels": {"a": "b"}}}, 403,
         f'clusterroles.rbac.authorization.k8s.io "cluster-admin" is forbidden: {EVERYTHING}'),
        ("POST", "clusterrolebindings", bind("ClusterRole", "cluster-admin"), 403,
         f'clusterrolebindings.rbac.authorization.k8s.io "b" is forbidden: {EVERYTHING}'),
        ("POST", "namespaces/default/rolebindings", bind("ClusterRole", "cluster-admin"), 403,
         f'rolebindings.rbac.authorization.k8s.io "b" is forbidden: {EVERYTHING}'),
        ("POST", "clusterrolebindings", bind("ClusterRole", "none"), 404, 'clusterrolebindings.rbac.authorization.k8s.io "none" not found'),
        ("POST", "namespaces/default/rolebindings", bind("Role", "none"), 404, 'rolebindings.rbac.authorization.k8s.io "none" not found'),
        ("POST", "clusterrolebindings", bind("Role", "none"), 400, "Namespace parameter required."),
        ("POST", "clusterrolebindings", bind("Odd", "none"), 500, 'unsupported role reference kind: "Odd"'),
        ("POST", "clusterrolebindings", bind("ClusterRole", "x"), 201, ""),
        ("PATCH merge", "clusterrolebindings/b", {"subjects": None}, 200, ""),
        ("POST", "namespaces/default/rolebindings", bind("ClusterRole", "view"), 201, ""),
        ("PATCH merge", "clusterrolebindings/system:node", {"subjects": [{"kind": "User", "name": "maker"}]}, 403, None),
    ],
)  # fmt: skip
def test_nobody_grants_what_they_do_not_have(
    maker: As, method: str, path: str, body: Any, status: int, message: str | None
) -> None:
    verb, _, kind = method.partition(" ")
    content_type = {"merge": "application/merge-patch+json", "json": "application/json-patch+json",
                    "apply": "application/apply-patch+yaml"}.get(kind, "application/json")  # fmt: skip
    found, answer = maker(verb, f"{RBAC}/{path}", body, content_type)
    assert (found, message if message is None else answer.get("message", "")) == (status, message), answer


def test_a_role_with_countless_combinations_is_refused_at_once(maker: As) -> None:
    words = [f"w{number}" for number in range(100)]
    status, answer = maker(
        "POST", f"{RBAC}/clusterroles", role("z", {"verbs": words, "apiGroups": words, "resources": words})
    )
    assert status == 403 and "more than 200000 combinations" in answer["message"]


# --- nodes


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


# --- reviews


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
    found = review(nobody, "selfsubjectrulesreviews", {"namespace": "default"})
    resources = [resource for rule in found["resourceRules"] for resource in rule["resources"]]
    assert sorted(resources) == ["selfsubjectaccessreviews", "selfsubjectreviews", "selfsubjectrulesreviews"]
    assert found["incomplete"] is False and "evaluationError" not in found
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
