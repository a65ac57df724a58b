"""Admission policies of a running server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.servers import TOKEN, Server, running

Object = dict[str, Any]
GROUP = "/apis/admissionregistration.k8s.io/v1"
MAPS = {
    "operations": ["CREATE", "UPDATE"],
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "resources": ["configmaps"],
}
DEPLOYMENTS = {**MAPS, "apiGroups": ["apps"], "resources": ["deployments"]}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("policies"), "--storage-backend=memory") as server:
        yield server


@pytest.fixture
def namespace(server: Server) -> str:
    body = {"metadata": {"generateName": "test-", "labels": {"team": "red"}}}
    status, made = server.call("POST", "/api/v1/namespaces", body)
    assert status == 201
    return made["metadata"]["name"]


@contextmanager
def policy(
    server: Server,
    namespace: str,
    spec: Object,
    binding: Object | None = None,
    sort: str = "validating",
    name: str = "p",
) -> Iterator[None]:
    """Yield a policy that is in force in one namespace."""
    selector = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    rules = spec.pop("rules", [MAPS])
    full = {"matchConstraints": {"resourceRules": rules, "namespaceSelector": selector}, **spec}
    bound: Object = {"policyName": name, **(binding or {})}
    if sort == "validating":
        bound.setdefault("validationActions", ["Deny"])
    else:
        full.setdefault("reinvocationPolicy", "Never")
    paths = f"{GROUP}/{sort}admissionpolicies", f"{GROUP}/{sort}admissionpolicybindings"
    status, made = server.call("POST", paths[0], {"metadata": {"name": name}, "spec": full})
    assert status == 201, made
    status, made = server.call("POST", paths[1], {"metadata": {"name": f"{name}-b"}, "spec": bound})
    assert status == 201, made
    try:
        yield
    finally:
        server.call("DELETE", f"{paths[1]}/{name}-b")
        server.call("DELETE", f"{paths[0]}/{name}")


def create(server: Server, namespace: str, name: str = "m", **more: Any) -> tuple[int, Object]:
    body = {"metadata": {"name": name, **more.pop("metadata", {})}, **more}
    return server.call("POST", f"/api/v1/namespaces/{namespace}/configmaps", body)


def deployment(**spec: Any) -> Object:
    pod = {"containers": [{"name": "c", "image": "i"}]}
    return {
        "metadata": {"name": "d"},
        "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": pod},
            **spec,
        },
    }


def test_a_validation_refuses_with_its_message_and_reason(server: Server, namespace: str) -> None:
    validations = [
        {"expression": "object.data.size() < 2", "messageExpression": "'has ' + string(object.data.size())"},
        {"expression": "!has(object.data.bad)", "message": "bad", "reason": "Forbidden"},
        {"expression": "object.metadata.name != 'x'"},
    ]
    with policy(server, namespace, {"validations": validations}):
        assert create(server, namespace, data={"a": "1"})[0] == 201
        status, said = create(server, namespace, "n", data={"a": "1", "b": "2"})
        message = "ValidatingAdmissionPolicy 'p' with binding 'p-b' denied request: has 2"
        assert (status, said["reason"]) == (422, "Invalid")
        assert said["message"] == f'configmaps "n" is forbidden: {message}'
        assert said["details"]["causes"] == [{"message": message}]
        status, said = create(server, namespace, "n", data={"bad": "1"})
        assert (status, said["reason"]) == (403, "Forbidden")
        status, said = create(server, namespace, "x", data={})
        assert said["message"].endswith("object.metadata.name != 'x'") or "no such key" in said["message"]


def test_an_expression_that_fails(server: Server, namespace: str) -> None:
    validations = [{"expression": "object.data.missing == 'x'"}]
    with policy(server, namespace, {"validations": validations}):
        status, said = create(server, namespace, data={"a": "1"})
        assert status == 422
        assert (
            "expression 'object.data.missing == 'x'' resulted in error: no such key: missing"
            in said["message"]
        )
    with policy(server, namespace, {"validations": validations, "failurePolicy": "Ignore"}):
        assert create(server, namespace, data={"a": "1"})[0] == 201


def test_warnings_instead_of_refusals(server: Server, namespace: str) -> None:
    with policy(
        server, namespace, {"validations": [{"expression": "false", "message": "no"}]}, {"validationActions": ["Warn", "Audit"]}
    ):  # fmt: skip
        connection = server.connection()
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        body = json.dumps({"metadata": {"name": "w"}})
        connection.request("POST", f"/api/v1/namespaces/{namespace}/configmaps", body, headers)
        response = connection.getresponse()
        response.read()
        connection.close()
        assert response.status == 201
        text = "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p-b': no"
        assert response.headers.get_all("Warning") == [f'299 - "{text}"']


def test_variables_conditions_namespace_and_authorizer(server: Server, namespace: str) -> None:
    spec: Object = {
        "matchConditions": [{"name": "not-free", "expression": "object.metadata.name != 'free'"}],
        "variables": [
            {"name": "team", "expression": "namespaceObject.metadata.labels['team']"},
            {"name": "known", "expression": "variables.team in ['blue', 'green']"},
        ],
        "validations": [
            {"expression": "variables.known", "messageExpression": "'unknown team ' + variables.team"},
            {
                "expression": "authorizer.group('').resource('pods').namespace('default').check('list').allowed()"
            },
            {"expression": "authorizer.requestResource.check('custom').allowed()"},
            {"expression": "request.userInfo.username == 'admin' && request.operation == 'CREATE'"},
        ],
    }
    with policy(server, namespace, spec):
        assert create(server, namespace, "free")[0] == 201
        _, said = create(server, namespace)
        assert said["message"].endswith("unknown team red")
        path = f"/api/v1/namespaces/{namespace}"
        merge = {"Content-Type": "application/merge-patch+json"}
        server.call("PATCH", path, {"metadata": {"labels": {"team": "blue"}}}, headers=merge)
        assert create(server, namespace)[0] == 201


def test_parameters(server: Server, namespace: str) -> None:
    spec: Object = {
        "paramKind": {"apiVersion": "v1", "kind": "Secret"},
        "validations": [{"expression": "object.metadata.name != params.metadata.labels.taken"}],
    }
    reference = {"name": "limits", "parameterNotFoundAction": "Deny"}
    with policy(server, namespace, dict(spec), {"paramRef": reference}):
        status, said = create(server, namespace)
        assert status == 422 and said["message"].endswith(
            "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
        )
        secret = {"metadata": {"name": "limits", "labels": {"taken": "m", "use": "yes"}}}
        assert server.call("POST", f"/api/v1/namespaces/{namespace}/secrets", secret)[0] == 201
        assert create(server, namespace)[0] == 422
        assert create(server, namespace, "n")[0] == 201
    chosen = {"selector": {"matchLabels": {"use": "yes"}}, "parameterNotFoundAction": "Allow"}
    with policy(server, namespace, dict(spec), {"paramRef": chosen}):
        assert create(server, namespace)[0] == 422
    unknown = {**spec, "paramKind": {"apiVersion": "example.com/v1", "kind": "Missing"}}
    with policy(server, namespace, unknown, {"paramRef": reference}):
        _, said = create(server, namespace)
        assert (
            "failed to find resource referenced by paramKind: 'example.com/v1, Kind=Missing'"
            in said["message"]
        )


def test_expressions_are_checked_when_a_policy_is_made(server: Server) -> None:
    spec: Object = {
        "matchConstraints": {"resourceRules": [MAPS]},
        "variables": [{"name": "a", "expression": "1 +"}],
        "validations": [
            {"expression": "object.x.y"},
            {"expression": "nobody == 1"},
            {"expression": "true", "messageExpression": "1"},
        ],
    }
    status, said = server.call(
        "POST", f"{GROUP}/validatingadmissionpolicies", {"metadata": {"name": "bad"}, "spec": spec}
    )
    assert status == 422
    causes = {cause["field"]: cause["message"] for cause in said["details"]["causes"]}
    assert "Syntax error" in causes["spec.variables[0].expression"]
    assert "must evaluate to bool but got dyn" in causes["spec.validations[0].expression"]
    assert "undeclared reference to 'nobody'" in causes["spec.validations[1].expression"]
    assert "must evaluate to string but got int" in causes["spec.validations[2].messageExpression"]


def test_mutation_by_apply_configuration(server: Server, namespace: str) -> None:
    side = "Object.spec.template.spec.containers{name: 'side', image: 'proxy', ports: [Object.spec.template.spec.containers.ports{containerPort: 80, protocol: 'TCP'}]}"
    expression = (
        "Object{metadata: Object.metadata{labels: {'by': 'policy'}}, spec: Object.spec{replicas: object.spec.replicas + 1, "
        f"template: Object.spec.template{{spec: Object.spec.template.spec{{containers: [{side}]}}}}}}}}"
    )
    mutations = [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}]
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    with policy(server, namespace, {"rules": [DEPLOYMENTS], "mutations": mutations}, sort="mutating"):
        status, made = server.call("POST", path, deployment(replicas=2))
        assert status == 201, made
        assert made["metadata"]["labels"] == {"by": "policy"} and made["spec"]["replicas"] == 3
        containers = made["spec"]["template"]["spec"]["containers"]
        assert [(one["name"], one["image"]) for one in containers] == [("c", "i"), ("side", "proxy")]
        assert containers[1]["terminationMessagePath"] == "/dev/termination-log"
        assert "f:by" not in json.dumps(made["metadata"]["managedFields"])
    wrong = "Object{spec: Object.spec{template: Object.spec.wrong{}}}"
    atomic = "Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {'x': 'y'}}}}"
    for expression, why in (
        (wrong, "type mismatch"),
        (atomic, "may not mutate atomic arrays, maps or structs: .spec.selector"),
    ):
        mutations = [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}]
        with policy(server, namespace, {"rules": [DEPLOYMENTS], "mutations": mutations}, sort="mutating"):
            status, said = server.call("POST", path, deployment())
            assert status == 403 and why in said["message"], said
            assert said["message"].startswith("policy 'p' with binding 'p-b' denied request: ")


def test_mutation_by_json_patch(server: Server, namespace: str) -> None:
    expression = (
        "[JSONPatch{op: 'test', path: '/data/a', value: '1'}, "
        "JSONPatch{op: 'add', path: '/metadata/annotations', value: {'a': 'b'}}, "
        "JSONPatch{op: 'add', path: '/metadata/annotations/' + jsonpatch.escapeKey('x/y'), value: params == null ? 'none' : 'some'}, "
        "JSONPatch{op: 'add', path: '/metadata/labels', value: {'l': object.metadata.name}}]"
    )
    mutations = [{"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}]
    spec: Object = {"mutations": mutations, "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}
    with policy(server, namespace, spec, sort="mutating"):
        status, made = create(server, namespace, data={"a": "1"})
        assert status == 201, made
        assert made["metadata"]["annotations"] == {"a": "b", "x/y": "none"}
        assert made["metadata"]["labels"] == {"l": "m"}
        status, made = create(server, namespace, "n", data={"a": "2"})
        assert (status, made["data"]) == (201, {"a": "2"})


def test_policies_are_asked_again_after_later_changes(server: Server, namespace: str) -> None:
    def adds(key: str, value: str) -> list[Object]:
        expression = f"[JSONPatch{{op: 'add', path: '/data/{key}', value: string({value})}}]"
        return [{"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}]

    first: Object = {"mutations": adds("first", "object.data.size()"), "reinvocationPolicy": "IfNeeded"}
    second: Object = {"mutations": adds("second", "object.data.size()")}
    with (
        policy(server, namespace, first, sort="mutating", name="a"),
        policy(server, namespace, second, sort="mutating", name="b"),
    ):
        status, made = create(server, namespace, data={"x": "1"})
        assert (status, made["data"]) == (201, {"x": "1", "first": "3", "second": "2"})


def test_rules_narrow_what_a_policy_is_about(server: Server, namespace: str) -> None:
    """Names of objects, exceptions and the scope of rules are honoured, each."""
    refusing = {"validations": [{"expression": "false", "message": "no"}]}
    with policy(server, namespace, {**refusing, "rules": [{**MAPS, "resourceNames": ["named"]}]}):
        assert [create(server, namespace, name)[0] for name in ("named", "other")] == [422, 201]
    selector = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    excepted = {"resourceRules": [MAPS], "excludeResourceRules": [{**MAPS, "resourceNames": ["free"]}]}
    match = {"matchConstraints": {**excepted, "namespaceSelector": selector}}
    with policy(server, namespace, {**refusing, **match}):
        assert [create(server, namespace, name)[0] for name in ("free", "bound")] == [201, 422]
    for scope, status in (("Cluster", 201), ("Namespaced", 422), ("*", 422)):
        with policy(server, namespace, {**refusing, "rules": [{**MAPS, "scope": scope}]}):
            assert create(server, namespace, f"scope-{scope.lower().strip('*') or 'any'}")[0] == status
