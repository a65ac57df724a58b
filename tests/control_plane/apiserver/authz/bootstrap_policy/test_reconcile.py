"""The default roles and bindings, and how they are kept up."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import orjson
import pytest

from pybernetes.api.field import Errors
from pybernetes.api.rbac_rules import RuleSet, keys
from pybernetes.api.registry import builtin
from pybernetes.control_plane.apiserver.assembly.server_context import new_context
from pybernetes.control_plane.apiserver.authn.user import ANONYMOUS, User
from pybernetes.control_plane.apiserver.authz.bootstrap_policy import defaults
from pybernetes.control_plane.apiserver.authz.bootstrap_policy.reconcile import completed, reconcile
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request_info import RequestInfo
from pybernetes.control_plane.apiserver.storage.kinds import Kinds
from pybernetes.control_plane.apiserver.storage.resource_version import stamp
from pybernetes.control_plane.store.open import open_store
from tests.support import run

Object = dict[str, Any]
ANNOTATION = "rbac.authorization.kubernetes.io/autoupdate"


def by_name(plural: str) -> dict[str, Object]:
    return {
        "/".join(filter(None, (obj["metadata"].get("namespace"), obj["metadata"]["name"]))): obj
        for kind, obj in defaults.objects()
        if kind == plural
    }


def test_there_are_as_many_as_upstream_has() -> None:
    plurals = ("clusterroles", "clusterrolebindings", "roles", "rolebindings")
    assert [len(by_name(plural)) for plural in plurals] == [73, 54, 7, 7]


def test_every_one_is_valid() -> None:
    kinds = Kinds(builtin())
    for plural, obj in defaults.objects():
        problems = Errors()
        validate = kinds.find("rbac.authorization.k8s.io", plural).resource.validate
        assert validate is not None
        validate(obj, problems)
        assert not problems, obj["metadata"]


def test_every_controller_has_its_role_bound_to_its_account() -> None:
    bindings = by_name("clusterrolebindings")
    controllers = [name for name in by_name("clusterroles") if name.startswith("system:controller:")]
    assert len(controllers) == 41
    for name in controllers:
        account = name.removeprefix("system:controller:")
        assert bindings[name]["roleRef"]["name"] == name
        assert bindings[name]["subjects"] == [
            {"kind": "ServiceAccount", "name": account, "namespace": "kube-system"}
        ]


@pytest.mark.parametrize(
    ("role", "question", "allowed"),
    [
        ("view", ("get", "", "pods", ""), True),
        ("view", ("get", "", "pods", "log"), True),
        ("view", ("get", "", "secrets", ""), False),
        ("view", ("create", "", "pods", ""), False),
        ("view", ("list", "rbac.authorization.k8s.io", "roles", ""), False),
        ("edit", ("get", "", "pods", ""), True),
        ("edit", ("get", "", "secrets", ""), True),
        ("edit", ("create", "apps", "deployments", ""), True),
        ("edit", ("create", "", "pods", "exec"), True),
        ("edit", ("create", "rbac.authorization.k8s.io", "roles", ""), False),
        ("edit", ("update", "", "resourcequotas", ""), False),
        ("admin", ("create", "rbac.authorization.k8s.io", "rolebindings", ""), True),
        ("admin", ("create", "apps", "deployments", ""), True),
        ("admin", ("get", "", "pods", "log"), True),
        ("admin", ("update", "", "namespaces", ""), False),
        ("cluster-admin", ("any", "thing", "at", "all"), True),
        ("system:node", ("create", "", "nodes", ""), True),
        ("system:kube-scheduler", ("create", "", "pods", "binding"), True),
        ("system:kube-controller-manager", ("list", "example.com", "things", ""), True),
        ("system:controller:namespace-controller", ("delete", "example.com", "things", ""), True),
    ],
)
def test_roles(role: str, question: tuple[str, ...], allowed: bool) -> None:
    assert RuleSet(by_name("clusterroles")[role]["rules"]).allows(keys(*question), "x") is allowed


def test_roles_that_gather_others_have_gathered_them() -> None:
    roles = by_name("clusterroles")
    for whole, parts in {
        "view": ["system:aggregate-to-view"],
        "edit": ["system:aggregate-to-edit", "view"],
        "admin": ["edit", "system:aggregate-to-admin"],
    }.items():
        label = f"rbac.authorization.k8s.io/aggregate-to-{whole}"
        selectors = roles[whole]["aggregationRule"]["clusterRoleSelectors"]
        assert selectors == [{"matchLabels": {label: "true"}}]
        chosen = sorted(
            name for name, role in roles.items() if role["metadata"]["labels"].get(label) == "true"
        )
        assert chosen == parts
        assert roles[whole]["rules"] == [rule for part in parts for rule in roles[part]["rules"]]


PODS = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}
NODES = {"verbs": ["get"], "apiGroups": [""], "resources": ["nodes"]}


def role(*rules: Object, **metadata: Any) -> Object:
    metadata = {"labels": {"l": "1"}, "annotations": {ANNOTATION: "true"}, **metadata}
    return {"metadata": {"name": "r", **metadata}, "rules": list(rules)}


def binding(to: str, *subjects: str, **metadata: Any) -> Object:
    reference = {"kind": "ClusterRole", "name": to}
    result = {
        **role(**metadata),
        "roleRef": reference,
        "subjects": [{"kind": "User", "name": name} for name in subjects],
    }
    del result["rules"]
    return result


def gathering(*labels: str, rules: tuple[Object, ...] = ()) -> Object:
    selectors = [{"matchLabels": {label: "true"}} for label in labels]
    return {**role(*rules), "aggregationRule": {"clusterRoleSelectors": selectors}}


@pytest.mark.parametrize(
    ("existing", "wanted", "result"),
    [
        (role(PODS), role(PODS), None),
        (role(PODS), role(PODS, NODES), role(PODS, NODES)),
        (role(NODES, PODS), role(PODS), None),
        (role({**PODS, "verbs": ["*"]}), role(PODS), None),
        (role(), role({**PODS, "verbs": ["get", "list"]}), role(PODS, {**PODS, "verbs": ["list"]})),
        (role(annotations={ANNOTATION: "false"}), role(PODS), None),
        (role(PODS, labels={"x": "y"}), role(PODS), role(PODS, labels={"l": "1", "x": "y"})),
        (role(PODS, labels={"l": "2"}), role(PODS), None),
        (role(PODS, annotations={}), role(PODS), role(PODS)),
        (gathering("a"), gathering("a", rules=(PODS,)), None),
        (gathering("b"), gathering("a", rules=(PODS,)), gathering("b", "a")),
        (role(NODES), gathering("a", rules=(PODS,)), gathering("a", rules=(NODES,))),
        (gathering("a"), role(PODS), role(PODS)),
        (binding("r", "ann"), binding("r", "ann"), None),
        (binding("r", "bea"), binding("r", "ann"), binding("r", "bea", "ann")),
        (binding("r", "bea", annotations={ANNOTATION: "false"}), binding("r", "ann"), None),
        (binding("other", "bea", annotations={ANNOTATION: "false"}), binding("r", "ann"), None),
    ],
)
def test_what_is_lacking_is_added(existing: Object, wanted: Object, result: Object | None) -> None:
    before = copy.deepcopy(existing)
    assert completed(existing, wanted) == result
    assert existing == before


def test_a_binding_to_another_role_is_made_anew() -> None:
    wanted = binding("r", "ann")
    assert completed(binding("other", "bea"), wanted) is wanted


def on_api(test: Any) -> None:
    async def go() -> None:
        store = open_store("memory", stamp=stamp)
        await store.start()
        context = new_context(store, Kinds(builtin()))
        context.roles.start()
        try:
            await test(context)
        finally:
            await store.close()

    run(go())


def test_several_servers_may_start_at_once() -> None:
    async def test(context: ServerContext) -> None:
        await asyncio.gather(*[reconcile(context) for _ in range(3)])
        revision = context.store.revision
        assert revision >= 141
        await reconcile(context)
        assert context.store.revision == revision

    on_api(test)


def test_what_was_changed_is_put_right() -> None:
    async def test(context: ServerContext) -> None:
        await reconcile(context)
        changed = {
            "/registry/clusterroles/system:basic-user": lambda obj: obj.update(rules=[PODS]),
            "/registry/clusterroles/view": lambda obj: obj.update(rules=[PODS]),
            "/registry/clusterrolebindings/system:discovery": lambda obj: obj.pop("subjects"),
            "/registry/clusterrolebindings/system:basic-user": lambda obj: obj["roleRef"].update(name="cluster-admin"),
            "/registry/clusterroles/system:discovery": lambda obj: (
                obj.pop("rules"), obj["metadata"]["annotations"].update({ANNOTATION: "false"})
            ),
        }  # fmt: skip
        for key, change in changed.items():
            obj = orjson.loads(context.store.get(key).value)  # type: ignore[union-attr]
            del obj["metadata"]["resourceVersion"]
            change(obj)
            await context.store.update(key, orjson.dumps(obj), 0)
        await context.store.delete("/registry/rolebindings/kube-public/system:controller:bootstrap-signer", 0)
        await reconcile(context)

        def now(key: str) -> Object:
            return orjson.loads(context.store.get(f"/registry/{key}").value)  # type: ignore[union-attr]

        assert PODS in now("clusterroles/system:basic-user")["rules"]
        assert len(now("clusterroles/system:basic-user")["rules"]) == 4
        assert now("clusterroles/view")["rules"] == [PODS]  # the aggregation controller's business
        assert now("clusterrolebindings/system:discovery")["subjects"][0]["name"] == "system:authenticated"
        assert now("clusterrolebindings/system:basic-user")["roleRef"]["name"] == "system:basic-user"
        assert "rules" not in now("clusterroles/system:discovery")
        assert now("rolebindings/kube-public/system:controller:bootstrap-signer")
        assert now("clusterroles/admin")["metadata"]["managedFields"][0]["manager"] == "kube-apiserver"

    on_api(test)


def test_what_strangers_may_see() -> None:
    async def test(context: ServerContext) -> None:
        await reconcile(context)
        paths = ["/healthz", "/livez", "/readyz", "/version", "/version/", "/api", "/apis/apps", "/openapi/v2", "/metrics",
                 "/healthz/etcd", "/"]  # fmt: skip
        anybody = User("ann", groups=("system:authenticated",))
        monitor = User("prometheus", groups=("system:monitoring", "system:authenticated"))
        for user, allowed in ((ANONYMOUS, 5), (anybody, 8), (monitor, 10)):
            verdicts = [context.roles.authorize(user, RequestInfo("get", path)).allowed for path in paths]
            assert verdicts == [True] * allowed + [False] * (len(paths) - allowed), user
            assert not context.roles.authorize(
                user, RequestInfo("list", is_resource=True, resource="pods")
            ).allowed

    on_api(test)
