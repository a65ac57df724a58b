"""Which writes webhooks are asked about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.control_plane.apiserver.admission.dynamic.registered_webhooks import (
    GROUP,
    MAPS,
    Object,
    create,
    hook,
    registered,
)
from tests.hook_server import HookServer, allow, deny, patch
from tests.servers import Server


def test_selectors_conditions_and_dry_runs(server: Server, hooks: HookServer, namespace: str) -> None:
    hooks.respond = lambda path, review: deny(review, message="no")
    chosen = hook(hooks, objectSelector={"matchLabels": {"a": "b"}})
    with registered(server, namespace, chosen):
        assert create(server, namespace, "free")[0] == 201
        assert create(server, namespace, "held", metadata={"labels": {"a": "b"}})[0] == 400
    conditions = [
        {"name": "not-me", "expression": "object.metadata.name != 'skipped'"},
        {"name": "user", "expression": "request.userInfo.username == 'admin'"},
    ]
    with registered(server, namespace, hook(hooks, matchConditions=conditions)):
        assert create(server, namespace, "skipped")[0] == 201
        assert create(server, namespace, "asked")[0] == 400
    broken = [{"name": "broken", "expression": "object.nothing.here == 1"}]
    with registered(server, namespace, hook(hooks, matchConditions=broken)):
        status, said = create(server, namespace, "broken")
        assert status == 403 and "no such key: nothing" in said["message"]
    with registered(server, namespace, hook(hooks, matchConditions=broken, failurePolicy="Ignore")):
        assert create(server, namespace, "broken")[0] == 201
    hooks.asked.clear()
    hooks.respond = lambda path, review: allow(review)
    with registered(server, namespace, hook(hooks, sideEffects="NoneOnDryRun")):
        assert create(server, namespace, "dry", query={"dryRun": "All"})[0] == 201
        assert hooks.asked[0][1]["request"]["dryRun"] is True
        assert hooks.asked[0][1]["request"]["options"]["dryRun"] == ["All"]


def test_operations_and_subresources(server: Server, hooks: HookServer, namespace: str) -> None:
    def respond(path: str, review: Object) -> Object:
        return deny(review, message=f"{review['request']['operation']} {review['request']['kind']['kind']}")

    path = f"/api/v1/namespaces/{namespace}/configmaps/m"
    create(server, namespace)
    hooks.respond = respond
    rules = [{**MAPS, "operations": ["*"], "apiGroups": ["*"], "resources": ["*/*"], "apiVersions": ["*"]}]
    deployment = {
        "metadata": {"name": "d"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"a": "b"}},
            "template": {
                "metadata": {"labels": {"a": "b"}},
                "spec": {"containers": [{"name": "c", "image": "i"}]},
            },
        },
    }
    deployments = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    assert server.call("POST", deployments, deployment)[0] == 201
    with registered(server, namespace, hook(hooks, rules=rules)):
        status, said = server.call("DELETE", path)
        assert status == 400 and said["message"].endswith(": DELETE ConfigMap")
        assert hooks.asked[-1][1]["request"]["oldObject"]["metadata"]["name"] == "m"
        change: Callable[[str, Object], Any] = lambda where, body: server.call(  # noqa: E731
            "PATCH", where, body, headers={"Content-Type": "application/merge-patch+json"}
        )
        assert change(path, {"data": {"x": "y"}})[1]["message"].endswith(": UPDATE ConfigMap")
        assert hooks.asked[-1][1]["request"]["options"]["kind"] == "UpdateOptions"
        _, said = change(f"{deployments}/d/scale", {"spec": {"replicas": 4}})
        assert said["message"].endswith(": UPDATE Scale")
        assert hooks.asked[-1][1]["request"]["object"]["spec"] == {"replicas": 4}
        assert hooks.asked[-1][1]["request"]["subResource"] == "scale"
    hooks.respond = lambda path, review: patch(
        review, {"op": "replace", "path": "/spec/replicas", "value": 3}
    )
    with registered(server, namespace, hook(hooks, rules=rules), sort="mutating"):
        status, made = change(f"{deployments}/d/scale", {"spec": {"replicas": 4}})
        assert (status, made["spec"]["replicas"]) == (200, 3)


def test_other_versions_of_the_same_resource(server: Server, hooks: HookServer, namespace: str) -> None:
    rule = {
        "operations": ["CREATE"],
        "apiGroups": ["autoscaling"],
        "apiVersions": ["v1"],
        "resources": ["horizontalpodautoscalers"],
    }
    scaler = {
        "metadata": {"name": "h"},
        "spec": {
            "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"},
            "maxReplicas": 3,
            "metrics": [
                {
                    "type": "Resource",
                    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
                }
            ],
        },
    }
    path = f"/apis/autoscaling/v2/namespaces/{namespace}/horizontalpodautoscalers"
    hooks.respond = lambda path, review: patch(review, {"op": "add", "path": "/spec/minReplicas", "value": 2})
    with registered(server, namespace, hook(hooks, rules=[rule], matchPolicy="Exact"), sort="mutating"):
        assert server.call("POST", path, scaler)[0] == 201
        assert not hooks.asked
        server.call("DELETE", f"{path}/h")
    with registered(server, namespace, hook(hooks, rules=[rule]), sort="mutating"):
        status, made = server.call("POST", path, scaler)
        assert (status, made["spec"]["minReplicas"]) == (201, 2)
        assert made["apiVersion"] == "autoscaling/v2" and made["spec"]["metrics"][0]["type"] == "Resource"
        request = hooks.asked[0][1]["request"]
        assert request["kind"]["version"] == "v1" and request["requestKind"]["version"] == "v2"
        assert request["object"]["spec"]["targetCPUUtilizationPercentage"] == 50


def test_what_configures_admission_is_exempt(server: Server, hooks: HookServer) -> None:
    hooks.respond = lambda path, review: deny(review, message="locked")
    rules = [{**MAPS, "operations": ["*"], "apiGroups": ["*"], "resources": ["*/*"], "apiVersions": ["*"]}]
    everything = {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "Exists"}]}
    with registered(server, "", hook(hooks, rules=rules, namespaceSelector=everything), name="locks"):
        status, said = server.call("POST", "/api/v1/namespaces", {"metadata": {"name": "locked"}})
        assert status == 400 and "locked" in said["message"]
        path = f"{GROUP}/validatingwebhookconfigurations/locks"
        status, stored = server.call("GET", path)
        stored["metadata"]["labels"] = {"a": "b"}
        assert server.call("PUT", path, stored)[0] == 200
        review = {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}
        where = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        assert server.call("POST", where, review)[0] == 201
    assert server.call("POST", "/api/v1/namespaces", {"metadata": {"name": "locked"}})[0] == 201
