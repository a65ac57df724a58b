"""Nobody grants on a running server what they do not have."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.api.errors import StatusError
from pybernetes.control_plane.apiserver.authz.write_checks.escalation import Escalation
from tests.control_plane.apiserver.authz.users import RBAC, As, Object, grant
from tests.servers import TOKEN, Server


@pytest.fixture(scope="module")
def granted(server: Server) -> None:
    """A user may write roles and bindings, and read pods."""
    kinds = ["roles", "rolebindings", "clusterroles", "clusterrolebindings"]
    rules: list[Object] = [
        {"verbs": ["create", "update", "patch", "get"], "apiGroups": ["rbac.authorization.k8s.io"], "resources": kinds},
        {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]},
        {"verbs": ["escalate", "bind"], "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"],
         "resourceNames": ["trusted", "view"]},
    ]  # fmt: skip
    grant(As(server, TOKEN), "maker", *rules, to={"kind": "User", "name": "maker"})


@pytest.fixture
def maker(server: Server, granted: None, admin: As) -> As:
    """Return somebody who may write roles and bindings, and read pods; what earlier tests made is gone."""
    for path in (
        "clusterroles/x",
        "clusterroles/trusted",
        "clusterrolebindings/b",
        "clusterrolebindings/b2",
        "namespaces/default/rolebindings/b",
    ):
        admin("DELETE", f"{RBAC}/{path}")
    admin("PATCH", f"{RBAC}/clusterroles/cluster-admin", {"metadata": {"finalizers": None}}, MERGE)
    return As(server, "maker")


@pytest.fixture
def role_x(admin: As, maker: As) -> None:
    """There is a role with no more than its holder has, a binding to it, and a finalizer on another role."""
    finalizers = {"metadata": {"finalizers": ["example.com/x"]}}
    assert admin("PATCH", f"{RBAC}/clusterroles/cluster-admin", finalizers, MERGE)[0] == 200
    assert admin("POST", f"{RBAC}/clusterroles", role("x", READ_POD))[0] == 201
    assert admin("POST", f"{RBAC}/clusterrolebindings", bind("ClusterRole", "x"))[0] == 201


MERGE = "application/merge-patch+json"
READ_POD = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["a"]}
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


def check(maker: As, method: str, path: str, body: Any, status: int, message: str | None) -> None:
    """Send a write and compare the answer."""
    verb, _, kind = method.partition(" ")
    content_type = {"merge": "application/merge-patch+json", "json": "application/json-patch+json",
                    "apply": "application/apply-patch+yaml"}.get(kind, "application/json")  # fmt: skip
    code, answer = maker(verb, f"{RBAC}/{path}", body, content_type)
    assert (code, message if message is None else answer.get("message", "")) == (status, message), answer


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
        ("POST", "clusterroles", role("x", READ_POD), 201, ""),
        ("POST", "clusterroles", role("y", aggregationRule={"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}), 403,
         'clusterroles.rbac.authorization.k8s.io "y" is forbidden: must have cluster-admin privileges to use the aggregationRule'),
        ("POST", "clusterroles", role("y", {"verbs": [], "apiGroups": [""], "resources": ["pods"]}), 422, None),
        ("PUT", "clusterroles/trusted", role("trusted", DELETE_PODS), 201, ""),
        ("PATCH merge", "clusterroles/cluster-admin", {"metadata": {"finalizers": ["example.com/x"]}}, 200, ""),
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
        ("POST", "namespaces/default/rolebindings", bind("ClusterRole", "view"), 201, ""),
        ("PATCH merge", "clusterrolebindings/system:node", {"subjects": [{"kind": "User", "name": "maker"}]}, 403, None),
    ],
)  # fmt: skip
def test_nobody_grants_what_they_do_not_have(
    maker: As, method: str, path: str, body: Any, status: int, message: str | None
) -> None:
    check(maker, method, path, body, status, message)


@pytest.mark.usefixtures("role_x")
@pytest.mark.parametrize(
    ("method", "path", "body", "status", "message"),
    [
        ("PATCH merge", "clusterroles/x", {"rules": [DELETE_PODS]}, 403, f'clusterroles.rbac.authorization.k8s.io "x" is forbidden: {MORE}'),
        ("PATCH json", "clusterroles/x", [{"op": "add", "path": "/rules/0/verbs/0", "value": "delete"}], 403,
         'clusterroles.rbac.authorization.k8s.io "x" is forbidden: '
         + HELD + '{APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["delete"]}'),
        ("POST", "clusterrolebindings", bind("ClusterRole", "x", "b2"), 201, ""),
        ("PATCH merge", "clusterrolebindings/b", {"subjects": None}, 200, ""),
        ("PATCH merge", "clusterroles/cluster-admin", {"metadata": {"finalizers": None}}, 200, ""),
    ],
)  # fmt: skip
def test_nobody_adds_what_they_do_not_have(
    maker: As, method: str, path: str, body: Any, status: int, message: str | None
) -> None:
    check(maker, method, path, body, status, message)


def test_a_role_with_countless_combinations_is_refused_at_once(maker: As) -> None:
    words = [f"w{number}" for number in range(100)]
    status, answer = maker(
        "POST", f"{RBAC}/clusterroles", role("z", {"verbs": words, "apiGroups": words, "resources": words})
    )
    assert status == 403 and "more than 200000 combinations" in answer["message"]


@pytest.mark.parametrize("dry", ["", "&dryRun=All"])
def test_creating_by_patch_or_update_is_no_way_around(maker: As, dry: str) -> None:
    for method, kind in (("PATCH", "application/apply-patch+yaml"), ("PUT", "application/json")):
        path = f"{RBAC}/clusterroles/x?fieldManager=m{dry}"
        status, answer = maker(method, path, role("x", DELETE_PODS), kind)
        assert status == 403 and answer["message"].endswith(MORE), answer
        head = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding"}
        binding = {**head, **bind("ClusterRole", "cluster-admin")}
        path = f"{RBAC}/clusterrolebindings/{binding['metadata']['name']}?fieldManager=m{dry}"
        status, answer = maker(method, path, binding, kind)
        assert status == 403 and answer["message"].endswith(EVERYTHING), answer


async def test_large_roles_let_others_have_their_turn() -> None:
    """A role of 190,000 combinations held the event loop for a second."""
    roles = SimpleNamespace(covers=lambda user, namespace, entry: False, absent=lambda user, namespace: [])

    async def nothing() -> None:
        pass

    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    request: Any = SimpleNamespace(
        user=SimpleNamespace(name="maker", groups=[]),
        request_info=SimpleNamespace(namespace="", resource="roles"),
    )
    context: Any = SimpleNamespace(roles=roles, fresh=nothing)
    wide = [{**DELETE_PODS, "verbs": ["a", "b", "c", "d"], "resourceNames": [f"n{n}"]} for n in range(20_000)]
    task = asyncio.create_task(other())
    await asyncio.sleep(0)
    with pytest.raises(StatusError, match="not currently held"):
        await Escalation(context)._confirm(request, role("x"), wide)
    task.cancel()
    assert turns > 5
