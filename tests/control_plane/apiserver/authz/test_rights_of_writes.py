"""Every right is asked for where it is used: a write that creates needs ``create``, and admission sees what is done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pybernetes.api.registry import builtin
from tests.control_plane.apiserver.authz.users import RBAC, As, grant
from tests.servers import Server
from tests.support import until

Object = dict[str, Any]
APPLY, MERGE = "application/apply-patch+yaml", "application/merge-patch+json"
MAPS = "/api/v1/namespaces/default/configmaps"
POLICIES = "/apis/admissionregistration.k8s.io/v1"


@pytest.fixture
def editor(server: Server, admin: As) -> Iterator[As]:
    """Yield somebody who may read and change everything, and create nothing."""
    grant(
        admin,
        "editing",
        {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "update", "patch", "escalate", "bind"]},
        to={"kind": "User", "name": "maker"},
    )
    yield As(server, "maker")
    for kind in ("clusterrolebindings", "clusterroles"):
        admin("DELETE", f"{RBAC}/{kind}/editing")


@pytest.fixture
def creator(server: Server, admin: As) -> Iterator[As]:
    """Yield somebody who may change and create config maps named ``mine``."""
    names = {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["mine"]}
    rule = {**names, "verbs": ["create", "patch"]}
    grant(admin, "creating", rule, to={"kind": "User", "name": "nobody"}, namespace="default")
    yield As(server, "nobody")
    admin("DELETE", f"{RBAC}/namespaces/default/rolebindings/creating")
    admin("DELETE", f"{RBAC}/clusterroles/creating")
    admin("DELETE", f"{MAPS}/mine")


def places() -> Iterator[tuple[str, Object, bool]]:
    """Yield the path of an object that is not there, the object, and whether an update would create it, for each kind."""
    for resource in builtin():
        if not {"create", "patch", "get"} <= set(resource.verbs):
            continue
        start = f"/apis/{resource.group}/{resource.version}" if resource.group else f"/api/{resource.version}"
        middle = "/namespaces/default" if resource.namespaced else ""
        obj = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": {"name": "missing"}}
        yield f"{start}{middle}/{resource.plural}/missing", obj, resource.create_on_update


def test_who_may_change_may_not_create_of_any_kind(admin: As, editor: As) -> None:
    asked = updated = 0
    for path, obj, create_on_update in places():
        for dry in ("", "&dryRun=All"):
            status, answer = editor("PATCH", f"{path}?fieldManager=m{dry}", obj, APPLY)
            assert status == 403 and "cannot create resource" in answer["message"], (path, answer)
            assert answer["details"]["name"] == "missing"
            status, answer = editor("PUT", f"{path}?fieldManager=m{dry}", obj)
            if create_on_update:
                assert status == 403 and "cannot create resource" in answer["message"], (path, answer)
            else:
                assert status in (404, 422), (path, answer)
            updated += create_on_update
            asked += 1
        assert editor("PATCH", path, {}, MERGE)[0] in (404, 405, 415)
        assert admin("GET", path)[0] == 404
    assert asked > 100 and updated >= 20


def test_an_applied_object_is_created_by_who_may_create_it(admin: As, creator: As) -> None:
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "mine"}, "data": {"a": "b"}}
    assert creator("PATCH", f"{MAPS}/mine?fieldManager=m", obj, APPLY)[0] == 201
    assert creator("PATCH", f"{MAPS}/mine?fieldManager=m", obj, APPLY)[0] == 200
    other = {**obj, "metadata": {"name": "other"}}
    status, answer = creator("PATCH", f"{MAPS}/other?fieldManager=m", other, APPLY)
    assert (status, answer["message"]) == (
        403,
        'configmaps "other" is forbidden: User "nobody" cannot patch resource "configmaps" in API group "" '
        'in the namespace "default"',
    )


@pytest.fixture
def policy(admin: As, request: pytest.FixtureRequest) -> Iterator[str]:
    """Yield the name of a policy that refuses the given operation on config maps with the label ``judged``."""
    rules = [
        {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": [request.param]}
    ]
    selector = {"matchLabels": {"judged": "yes"}}
    spec: Object = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": rules, "objectSelector": selector},
        "validations": [{"expression": "false", "message": "refused by the policy"}],
    }
    policies, bindings = (
        f"{POLICIES}/validatingadmissionpolicies",
        f"{POLICIES}/validatingadmissionpolicybindings",
    )
    binding = {"policyName": "judge", "validationActions": ["Deny"]}
    assert admin("POST", policies, {"metadata": {"name": "judge"}, "spec": spec})[0] == 201
    assert admin("POST", bindings, {"metadata": {"name": "judge"}, "spec": binding})[0] == 201
    yield request.param
    admin("DELETE", f"{bindings}/judge")
    admin("DELETE", f"{policies}/judge")
    for name in ("judged", "probe"):
        admin("DELETE", f"{MAPS}/{name}")


def judged(name: str) -> Object:
    metadata = {"name": name, "labels": {"judged": "yes"}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "b"}}


def refused(answer: tuple[int, Any]) -> bool:
    return answer[0] == 422 and "refused by the policy" in answer[1]["message"]


@pytest.mark.parametrize("policy", ["CREATE"], indirect=True)
def test_admission_sees_that_an_apply_creates(admin: As, policy: str) -> None:
    until(lambda: refused(admin("POST", f"{MAPS}?dryRun=All", judged("probe"))))
    assert refused(admin("PATCH", f"{MAPS}/judged?fieldManager=m", judged("judged"), APPLY))
    assert refused(admin("PATCH", f"{MAPS}/judged?fieldManager=m&dryRun=All", judged("judged"), APPLY))
    assert admin("GET", f"{MAPS}/judged")[0] == 404


@pytest.mark.parametrize("policy", ["UPDATE"], indirect=True)
def test_a_write_that_changes_nothing_is_judged(admin: As, policy: str) -> None:
    made = admin("POST", MAPS, judged("judged"))
    assert made[0] == 201, made
    changed = {**judged("judged"), "data": {"c": "d"}}
    until(lambda: refused(admin("PUT", f"{MAPS}/judged?dryRun=All", changed)))
    for method, body, kind in (
        ("PUT", made[1], "application/json"),
        ("PUT", judged("judged"), "application/json"),
        ("PATCH", {}, MERGE),
        ("PATCH", [], "application/json-patch+json"),
        ("PATCH", {}, "application/strategic-merge-patch+json"),
    ):
        for query in ("", "?dryRun=All"):
            assert refused(admin(method, f"{MAPS}/judged{query}", body, kind)), (method, kind, query)


def test_a_write_that_changes_nothing_is_not_stored(admin: As) -> None:
    version = admin("POST", MAPS, judged("same"))[1]["metadata"]["resourceVersion"]
    try:
        for method, body, kind in (("PUT", judged("same"), "application/json"), ("PATCH", {}, MERGE)):
            status, answer = admin(method, f"{MAPS}/same", body, kind)
            assert (status, answer["metadata"]["resourceVersion"]) == (200, version)
    finally:
        admin("DELETE", f"{MAPS}/same")


def test_quota_counts_what_an_apply_creates(admin: As) -> None:
    quotas = "/api/v1/namespaces/limited/resourcequotas"
    admin("POST", "/api/v1/namespaces", {"metadata": {"name": "limited"}})
    hard = {"count/configmaps": "0"}
    quota = {"metadata": {"name": "none"}, "spec": {"hard": hard}}
    assert admin("POST", quotas, quota)[0] == 201
    status = {**quota, "status": {"hard": hard, "used": {"count/configmaps": "0"}}}
    assert admin("PUT", f"{quotas}/none/status", status)[0] == 200
    path = "/api/v1/namespaces/limited/configmaps/one"
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}}

    def exceeded() -> bool:
        code, answer = admin("PATCH", f"{path}?fieldManager=m", obj, APPLY)
        return code == 403 and "exceeded quota: none" in answer["message"]

    until(exceeded)
    assert admin("GET", path)[0] == 404
    admin("DELETE", "/api/v1/namespaces/limited")
