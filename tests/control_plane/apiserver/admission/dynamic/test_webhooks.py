"""Admission webhooks of a running server, answered by programs on loopback."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pybernetes.control_plane.apiserver.webhooks.caller import Caller, CallFailed
from tests.control_plane.apiserver.admission.world import World
from tests.hook_server import HookServer, allow, answer, deny, hook_server, patch
from tests.servers import TOKEN, Server, running

Object = dict[str, Any]
GROUP = "/apis/admissionregistration.k8s.io/v1"
MAPS = {
    "operations": ["CREATE", "UPDATE"],
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "resources": ["configmaps"],
}


REVIEW = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    flags = ("--storage-backend=memory",)
    with running(tmp_path_factory.mktemp("webhooks"), *flags) as server:
        yield server


@pytest.fixture
def hooks(tmp_path: Path) -> Iterator[HookServer]:
    with hook_server(tmp_path, ("hook.default.svc",)) as made:
        yield made


@pytest.fixture
def namespace(server: Server) -> str:
    status, made = server.call("POST", "/api/v1/namespaces", {"metadata": {"generateName": "test-"}})
    assert status == 201
    return made["metadata"]["name"]


def hook(hooks: HookServer, path: str = "/", name: str = "hook.example.com", **more: Any) -> Object:
    return {
        "name": name,
        "clientConfig": hooks.client(path),
        "rules": [MAPS],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        **more,
    }


@contextmanager
def registered(
    server: Server, namespace: str, *webhooks: Object, sort: str = "validating", name: str = "it"
) -> Iterator[None]:
    """A configuration that is about one namespace."""
    plural = f"{sort}webhookconfigurations"
    selector = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    given = [{"namespaceSelector": selector, **webhook} for webhook in webhooks]
    status, made = server.call("POST", f"{GROUP}/{plural}", {"metadata": {"name": name}, "webhooks": given})
    assert status == 201, made
    try:
        yield
    finally:
        server.call("DELETE", f"{GROUP}/{plural}/{name}")


def create(server: Server, namespace: str, name: str = "m", **more: Any) -> tuple[int, Object]:
    query = more.pop("query", None)
    body = {"metadata": {"name": name, **more.pop("metadata", {})}, **more}
    return server.call("POST", f"/api/v1/namespaces/{namespace}/configmaps", body, query=query)


def test_a_webhook_sees_the_write_and_may_refuse_it(
    server: Server, hooks: HookServer, namespace: str
) -> None:
    hooks.respond = lambda path, review: deny(review, message="too late", code=403, reason="Forbidden")
    with registered(server, namespace, hook(hooks)):
        status, said = create(server, namespace, data={"a": "b"})
        assert (status, said["reason"]) == (403, "Forbidden")
        assert said["message"] == 'admission webhook "hook.example.com" denied the request: too late'
        (_, review) = hooks.asked[0]
        request = review["request"]
        assert request["kind"] == {"group": "", "version": "v1", "kind": "ConfigMap"}
        assert request["resource"] == {"group": "", "version": "v1", "resource": "configmaps"}
        assert (request["operation"], request["namespace"], request["name"]) == ("CREATE", namespace, "m")
        assert request["object"]["data"] == {"a": "b"} and request["oldObject"] is None
        assert request["userInfo"]["username"] and request["dryRun"] is False
        assert request["options"] == {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"}
        assert server.call("GET", f"/api/v1/namespaces/{namespace}/configmaps/m")[0] == 404
        hooks.respond = lambda path, review: answer(review, allowed=False)
        status, said = create(server, namespace)
        assert status == 400
        assert (
            said["message"] == 'admission webhook "hook.example.com" denied the request without explanation'
        )


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (b"garbage", "json parse error: json: cannot unmarshal string into Go value of type struct {"),
        (b'{"kind"', "json parse error: unexpected end of JSON input"),
        (b"[]", "json parse error: json: cannot unmarshal array into Go value of type struct {"),
        (b"", "0-length response with status code: 200 and content type: application/json"),
        ((500, b"broken"), 'an error on the server ("unknown") has prevented the request from succeeding'),
        ((404, b""), "the server could not find the requested resource"),
        ({"kind": "Pod", "apiVersion": "v1"}, 'no kind "Pod" is registered for version "v1" in scheme'),
        (
            {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1beta1"},
            "converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion",
        ),
        (REVIEW, "webhook response was absent"),
        (REVIEW | {"response": {"uid": "x"}}, "expected response.uid="),
        (
            REVIEW | {"response": {"allowed": "yes"}},
            "json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool",
        ),
        (REVIEW | {"response": {"patch": "%"}}, "illegal base64 data at input byte 0"),
    ],
)
def test_answers_that_make_no_sense(
    server: Server, hooks: HookServer, namespace: str, given: Any, why: str
) -> None:
    hooks.respond = lambda path, review: given
    for sort in ("validating", "mutating"):
        with registered(server, namespace, hook(hooks), sort=sort):
            status, said = create(server, namespace)
            assert status == 500 and said["reason"] == "InternalError"
            assert said["message"].startswith(
                'Internal error occurred: failed calling webhook "hook.example.com": '
            )
            assert why in said["message"]
            assert server.call("GET", f"/api/v1/namespaces/{namespace}/configmaps/m")[0] == 404
        with registered(server, namespace, hook(hooks, failurePolicy="Ignore"), sort=sort):
            assert create(server, namespace, f"{sort}-ignored")[0] == 201


@pytest.mark.parametrize(
    ("operations", "why"),
    [
        (
            [{"op": "remove", "path": "/data/missing"}],
            "error in remove for path: '/data/missing': Unable to remove nonexistent key: missing: missing value",
        ),
        (
            [{"op": "add", "path": "/data/c", "value": "d"}, {"op": "test", "path": "/data/a", "value": "x"}],
            "testing value /data/a failed: test failed",
        ),
        (
            [{"op": "replace", "path": "/data", "value": 7}],
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string",
        ),
        (
            [{"op": "add", "path": "/metadata/labels", "value": {"a": 1}}],
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (
            [{"op": "replace", "path": "/apiVersion", "value": "v9"}],
            'no kind "ConfigMap" is registered for version "v9" in scheme "pkg/api/legacyscheme/scheme.go:30"',
        ),
        (
            [{"op": "replace", "path": "/kind", "value": "Namespace"}],
            "converting (v1.Namespace) to (core.ConfigMap): unknown conversion",
        ),
    ],
)
def test_patches_that_do_not_apply(
    server: Server, hooks: HookServer, namespace: str, operations: list[Object], why: str
) -> None:
    hooks.respond = lambda path, review: patch(review, *operations)
    with registered(server, namespace, hook(hooks, failurePolicy="Ignore"), sort="mutating"):
        status, said = create(server, namespace, data={"a": "b"})
        assert (status, said["message"]) == (500, f"Internal error occurred: {why}")
        assert server.call("GET", f"/api/v1/namespaces/{namespace}/configmaps/m")[0] == 404


@pytest.mark.parametrize("sort", ["mutating", "validating"])
def test_nothing_is_left_of_a_write_that_a_hook_spoils(
    server: Server, hooks: HookServer, namespace: str, sort: str
) -> None:
    hooks.respond = lambda path, review: b"garbage"
    path = f"/api/v1/namespaces/{namespace}/services"
    ports = [{"port": 80, "nodePort": 30777}]
    service = {
        "metadata": {"name": "s"},
        "spec": {"type": "NodePort", "clusterIP": "10.0.0.77", "ports": ports},
    }
    spoiling = hook(hooks, rules=[{**MAPS, "operations": ["*"], "resources": ["services"]}])
    with registered(server, namespace, spoiling, sort=sort):
        assert server.call("POST", path, service)[0] == 500
    assert server.call("GET", "/apis/networking.k8s.io/v1/ipaddresses/10.0.0.77")[0] == 404
    status, made = server.call("POST", path, service)
    assert status == 201, made  # the address and the port are free
    with registered(server, namespace, spoiling, sort=sort):
        moved = {**made, "spec": {**made["spec"], "ports": [{"port": 80, "nodePort": 30778}]}}
        assert server.call("PUT", f"{path}/s", moved)[0] == 500
        assert server.call("DELETE", f"{path}/s")[0] == 500
    found = server.call("GET", f"{path}/s")[1]
    assert found["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
    other = {"metadata": {"name": "o"}, "spec": {"type": "NodePort", "ports": moved["spec"]["ports"]}}
    assert server.call("POST", path, other)[0] == 201
    for name in ("s", "o"):
        assert server.call("DELETE", f"{path}/{name}")[0] == 200


def test_a_hook_that_hangs_or_is_not_there(server: Server, hooks: HookServer, namespace: str) -> None:
    gate = threading.Event()
    hooks.respond = lambda path, review: (gate.wait(30), allow(review))[1]
    try:
        with registered(server, namespace, hook(hooks, timeoutSeconds=1)):
            status, said = create(server, namespace)
            assert status == 500
            assert said["message"].endswith(
                f'failed to call webhook: Post "https://127.0.0.1:{hooks.port}/?timeout=1s": context deadline exceeded'
            )
        with registered(server, namespace, hook(hooks, timeoutSeconds=30)):
            status, said = create(server, namespace, query={"timeout": "200ms"})
            assert (status, said["reason"]) == (504, "Timeout")
            assert said["message"].startswith("Timeout: request did not complete within requested timeout")
        with registered(server, namespace, hook(hooks, timeoutSeconds=1, failurePolicy="Ignore")):
            assert create(server, namespace)[0] == 201
    finally:
        gate.set()
    away = hook(hooks, clientConfig={"service": {"namespace": "default", "name": "away", "path": "/x"}})
    with registered(server, namespace, away):
        _, said = create(server, namespace, "n")
        assert said["message"].endswith(
            'Post "https://away.default.svc:443/x?timeout=10s": service "away" not found'
        )
    untrusted = hook(hooks, clientConfig={"url": f"https://127.0.0.1:{hooks.port}/"})
    with registered(server, namespace, untrusted):
        _, said = create(server, namespace, "n")
        assert "x509: certificate signed by unknown authority" in said["message"]


def test_changes_are_decoded_completed_and_owned_by_nobody(
    server: Server, hooks: HookServer, namespace: str
) -> None:
    label = {"op": "add", "path": "/metadata/labels", "value": {"by": "hook"}}
    extra = {"op": "add", "path": "/spec/containers/-", "value": {"name": "more", "image": "i"}}
    unknown = {"op": "add", "path": "/spec/nonsense", "value": 1}
    hooks.respond = lambda path, review: patch(review, label, extra, unknown, warnings=["changed"])
    rule = {**MAPS, "resources": ["pods"], "operations": ["CREATE"]}
    server.call("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": "default"}})
    with registered(server, namespace, hook(hooks, rules=[rule]), sort="mutating"):
        pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        connection = server.connection()
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        connection.request("POST", f"/api/v1/namespaces/{namespace}/pods", json.dumps(pod), headers)
        response = connection.getresponse()
        made = json.loads(response.read())
        connection.close()
        assert response.status == 201, made
        assert response.headers.get_all("Warning") == ['299 - "changed"']
        assert made["metadata"]["labels"] == {"by": "hook"}
        more = made["spec"]["containers"][1]
        assert more["terminationMessagePath"] == "/dev/termination-log" and "nonsense" not in made["spec"]
        owned = json.dumps(made["metadata"]["managedFields"])
        assert "by" not in owned and '{\\"name\\":\\"more\\"}' not in owned and "f:image" in owned


def test_fields_keep_their_owners_when_a_hook_makes_nonsense_of_them(
    server: Server, hooks: HookServer, namespace: str
) -> None:
    hooks.respond = lambda path, review: patch(
        review, {"op": "replace", "path": "/metadata/managedFields/0/operation", "value": "Nonsense"}
    )
    with registered(server, namespace, hook(hooks), sort="mutating"):
        status, made = create(server, namespace, data={"a": "b"})
        assert status == 201 and made["metadata"]["managedFields"][0]["operation"] == "Update"


def test_reinvocation_and_order(server: Server, hooks: HookServer, namespace: str) -> None:
    def respond(path: str, review: Object) -> Object:
        seen = review["request"]["object"].get("data", {})
        return patch(review, {"op": "add", "path": "/data", "value": {**seen, path[1:]: str(len(seen))}})

    hooks.respond = respond
    webhooks = [
        hook(hooks, "/one", "one.example.com", reinvocationPolicy="IfNeeded"),
        hook(hooks, "/two", "two.example.com"),
    ]
    with (
        registered(server, namespace, *webhooks, sort="mutating", name="b"),
        registered(server, namespace, hook(hooks, "/zero", "zero.example.com"), sort="mutating", name="a"),
    ):
        status, made = create(server, namespace)
        assert status == 201
        assert [path for path, _ in hooks.asked] == ["/zero", "/one", "/two", "/one"]
        assert made["data"] == {"zero": "0", "one": "3", "two": "2"}


def test_validating_hooks_are_asked_at_once_on_kept_connections(
    server: Server, hooks: HookServer, namespace: str
) -> None:
    together = threading.Barrier(3, timeout=20)
    hooks.respond = lambda path, review: (together.wait(), allow(review))[1]
    webhooks = [hook(hooks, f"/{n}", f"n{n}.example.com") for n in range(3)]
    with registered(server, namespace, *webhooks):
        for n in range(4):
            assert create(server, namespace, f"m{n}")[0] == 201
        assert len(hooks.asked) == 12 and hooks.connections == 3


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
        assert hooks.asked[-1][1]["request"]["options"]["kind"] == "PatchOptions"
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
        status, found = server.call("GET", path)
        found["metadata"]["labels"] = {"a": "b"}
        assert server.call("PUT", path, found)[0] == 200
        review = {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}
        where = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        assert server.call("POST", where, review)[0] == 201
    assert server.call("POST", "/api/v1/namespaces", {"metadata": {"name": "locked"}})[0] == 201


def test_calls_are_counted(server: Server, hooks: HookServer, namespace: str) -> None:
    hooks.respond = lambda path, review: deny(review, message="no", code=403)
    with registered(server, namespace, hook(hooks, name="counted.example.com")):
        create(server, namespace)
        text = server.call("GET", "/metrics")[1]
        labels = 'name="counted.example.com",operation="CREATE",rejected="true",type="validating"'
        assert f'apiserver_admission_webhook_request_total{{code="403",{labels}}} 1' in text
        assert f"apiserver_admission_webhook_admission_duration_seconds_count{{{labels}}} 1" in text
        assert 'apiserver_admission_webhook_rejection_count{error_type="no_error",name="counted' in text


def test_a_service_is_reached_at_its_endpoints(hooks: HookServer) -> None:
    async def scenario() -> None:
        async with World() as world:
            caller = Caller(world.context)
            reference = {"namespace": "default", "name": "hook", "path": "/here", "port": 8443}
            config = {"service": reference, "caBundle": hooks.bundle}
            review = {"kind": "AdmissionReview", "apiVersion": "v1", "request": {"uid": "u"}}
            service = {"metadata": {"name": "hook"}, "spec": {"ports": [{"name": "https", "port": 8443}]}}
            await world.add("", "services", service, "default")
            with pytest.raises(CallFailed, match='no endpoints available for service "hook"'):
                await caller.post(config, review, 10)
            piece = {
                "metadata": {"name": "hook-1", "labels": {"kubernetes.io/service-name": "hook"}},
                "endpoints": [
                    {"addresses": ["127.0.0.2"], "conditions": {"ready": False}},
                    {"addresses": ["127.0.0.1"]},
                ],
                "ports": [{"name": "https", "port": hooks.port}],
            }
            await world.add("discovery.k8s.io", "endpointslices", piece, "default")
            assert (await caller.post(config, review, 10))["response"] == {"uid": "u", "allowed": True}
            assert hooks.asked[0][0] == "/here"
            with pytest.raises(CallFailed, match="no service port 1 found"):
                await caller.post({"service": {**reference, "port": 1}}, review, 10)
            world.context.https.close()

    asyncio.run(scenario())


def test_connections_are_seen_with_their_options(server: Server, hooks: HookServer, namespace: str) -> None:
    server.call("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": "default"}})
    spec = {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]}
    pod = {"metadata": {"name": "p"}, "spec": spec}
    assert server.call("POST", f"/api/v1/namespaces/{namespace}/pods", pod)[0] == 201
    hooks.respond = lambda path, review: deny(review, message="not this one")
    rule = {**MAPS, "operations": ["CONNECT"], "resources": ["pods/*"]}
    with registered(server, namespace, hook(hooks, rules=[rule])):
        path = f"/api/v1/namespaces/{namespace}/pods/p"
        status, said = server.call("POST", f"{path}/attach", query={"container": "c", "stdin": "true"})
        assert status == 400 and said["message"].endswith("not this one")
        request = hooks.asked[-1][1]["request"]
        assert request["kind"]["kind"] == "PodAttachOptions" and request["operation"] == "CONNECT"
        assert request["object"] == {
            "kind": "PodAttachOptions",
            "apiVersion": "v1",
            "stdin": True,
            "container": "c",
        }
        query = {"container": "c", "command": ["ls", "-l"], "stdout": "1"}
        assert server.call("POST", f"{path}/exec", query=query)[0] == 400
        assert hooks.asked[-1][1]["request"]["object"]["command"] == ["ls", "-l"]
        assert server.call("GET", f"{path}/proxy/some/path")[0] == 400
        assert hooks.asked[-1][1]["request"]["object"] == {
            "kind": "PodProxyOptions",
            "apiVersion": "v1",
            "path": "/some/path",
        }
