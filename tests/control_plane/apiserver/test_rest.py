"""What every client relies on: status codes, versions, conflicts, deletion, dry runs, forms of answers."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tests.servers import TOKEN, Server

MERGE = {"Content-Type": "application/merge-patch+json"}


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def path(namespace: str, name: str = "", plural: str = "configmaps") -> str:
    return f"/api/v1/namespaces/{namespace}/{plural}" + (f"/{name}" if name else "")


def test_an_object_from_creation_to_deletion(server: Server, namespace: str) -> None:
    status, made = server.call("POST", path(namespace), config_map("a", key="1"))
    assert status == 201 and made["metadata"]["uid"] and made["metadata"]["creationTimestamp"]
    assert server.call("GET", path(namespace, "a")) == (200, made)
    changed = {**made, "data": {"key": "2"}}
    status, updated = server.call("PUT", path(namespace, "a"), changed)
    assert status == 200 and int(updated["metadata"]["resourceVersion"]) > int(
        made["metadata"]["resourceVersion"]
    )
    status, conflict = server.call("PUT", path(namespace, "a"), changed)
    assert (status, conflict["reason"]) == (409, "Conflict")
    assert conflict["message"] == (
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )
    status, gone = server.call("DELETE", path(namespace, "a"))
    assert status == 200 and gone["status"] == "Success" and gone["details"]["uid"] == made["metadata"]["uid"]
    status, missing = server.call("GET", path(namespace, "a"))
    assert (status, missing["message"]) == (404, 'configmaps "a" not found')


def test_a_write_that_changes_nothing_keeps_the_version(server: Server, namespace: str) -> None:
    _, made = server.call("POST", path(namespace), config_map("same", key="1"))
    _, again = server.call("PUT", path(namespace, "same"), made)
    assert again["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


@pytest.mark.parametrize(
    ("method", "where", "body", "status", "message"),
    [
        ("POST", "", {"metadata": {"name": "A_b"}}, 422, "a lowercase RFC 1123 subdomain"),
        (
            "POST",
            "",
            {"metadata": {}},
            422,
            "metadata.name: Required value: name or generateName is required",
        ),
        ("POST", "", b"{", 400, "json parse error"),
        ("POST", "", b"[]", 400, "the object provided is unrecognized"),
        ("POST", "", {"kind": "Pod", "apiVersion": "v1"}, 400, "cannot be handled as a ConfigMap"),
        (
            "POST",
            "",
            {"apiVersion": "v2", "kind": "ConfigMap"},
            400,
            'no kind "ConfigMap" is registered for version "v2"',
        ),
        (
            "POST",
            "",
            {"metadata": {"name": "a"}, "data": {"k": 1}},
            400,
            "cannot unmarshal number into Go struct field ConfigMap.data of type string",
        ),
        ("POST", "", {"metadata": {"name": "a", "namespace": "other"}}, 400, "does not match the namespace"),
        ("PUT", "/missing", {"metadata": {"name": "missing"}}, 404, 'configmaps "missing" not found'),
        ("PUT", "/a", {"metadata": {"name": "b"}}, 400, "does not match the name on the URL"),
        ("PATCH", "/missing", {}, 415, "Unsupported Media Type"),
        ("GET", "?labelSelector=a%20in", None, 400, "unable to parse requirement"),
        ("GET", "?fieldSelector=x%3D1", None, 400, "field selector"),
        ("GET", "?resourceVersion=x", None, 400, "invalid resource version"),
        ("GET", "?limit=33454437999741633560576", None, 400, "value out of range"),
        ("GET", "?timeoutSeconds=", None, 400, 'strconv.ParseInt: parsing "": invalid syntax'),
        ("GET", "?resourceVersion=" + "9" * 5000, None, 400, "value out of range"),
        ("GET", "?limit=x", None, 400, 'parsing "x"'),
        ("GET", "?continue=x", None, 400, "continue key is not valid"),
        ("GET", "?resourceVersionMatch=Exact", None, 422, "resourceVersionMatch is forbidden unless"),
        ("POST", "/a", {"metadata": {"name": "a"}}, 405, "the server does not allow this method"),
    ],
)
def test_bad_input_gets_kubernetes_own_error(
    server: Server, namespace: str, method: str, where: str, body: Any, status: int, message: str
) -> None:
    got, answer = server.call(method, path(namespace) + where, body)
    assert got == status, answer
    assert answer["kind"] == "Status" and answer["status"] == "Failure" and answer["code"] == status
    assert message in answer["message"]


def test_what_has_no_namespace_may_name_one(server: Server, namespace: str) -> None:
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    role = {"metadata": {"name": f"of-{namespace}", "namespace": "anywhere"}, "rules": []}
    status, made = server.call("POST", roles, role)
    assert (status, made["metadata"].get("namespace")) == (201, None)
    where = f"{roles}/of-{namespace}"
    assert server.call("PUT", where, role)[0] == 200
    status, patched = server.call("PATCH", where, {"metadata": {"namespace": "other"}}, headers=MERGE)
    assert (status, patched["metadata"].get("namespace")) == (200, None)
    assert server.call("DELETE", where)[0] == 200
    elsewhere = {"metadata": {"name": "a", "namespace": "elsewhere"}}
    for method, target in (("POST", path(namespace)), ("PUT", path(namespace, "a"))):
        status, refused = server.call(method, target, elsewhere)
        assert status == 400
        assert refused["message"] == (
            "the namespace of the provided object does not match the namespace sent on the request"
        )


def test_unknown_places(server: Server, namespace: str) -> None:
    status, answer = server.call("GET", f"/api/v1/namespaces/{namespace}/nothings")
    assert (status, answer["message"]) == (404, "the server could not find the requested resource")
    status, answer = server.call("GET", "/nowhere")
    assert (status, answer) == (404, "404 page not found\n")
    status, answer = server.call("POST", path("no-such-namespace"), config_map("a"))
    assert (status, answer["message"]) == (404, 'namespaces "no-such-namespace" not found')


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_nothing_is_written_across_namespaces(server: Server, namespace: str, method: str) -> None:
    assert server.call("POST", path(namespace), config_map("stays"))[0] == 201
    status, answer = server.call(
        method, "/api/v1/configmaps", {}, headers=MERGE if method == "PATCH" else None
    )
    assert (status, answer["reason"]) == (405, "MethodNotAllowed")
    assert server.call("GET", path(namespace, "stays"))[0] == 200
    assert server.call("GET", "/api/v1/bindings")[0] == 404


def test_field_validation(server: Server, namespace: str) -> None:
    body = '{"metadata":{"name":"f"},"nonsense":1,"data":{"a":"1","a":"2"}}'
    status, answer = server.call("POST", path(namespace), body, query={"fieldValidation": "Strict"})
    assert status == 400
    assert 'strict decoding error: unknown field "nonsense", duplicate field "data.a"' in answer["message"]
    connection = server.connection()
    connection.request("POST", path(namespace), body, {"Authorization": "Bearer the-administrators-token"})
    response = connection.getresponse()
    response.read()
    warnings = response.headers.get_all("Warning") or []
    assert response.status == 201
    assert warnings == ['299 - "unknown field \\"nonsense\\""', '299 - "duplicate field \\"data.a\\""']
    connection.close()


def test_dry_run_keeps_nothing(server: Server, namespace: str) -> None:
    status, made = server.call("POST", path(namespace), config_map("dry"), query={"dryRun": "All"})
    assert status == 201 and "resourceVersion" not in made["metadata"]
    assert server.call("GET", path(namespace, "dry"))[0] == 404
    server.call("POST", path(namespace), config_map("dry", a="1"))
    server.call("PATCH", path(namespace, "dry"), {"data": {"a": "2"}}, headers=MERGE, query={"dryRun": "All"})
    server.call("DELETE", path(namespace, "dry"), query={"dryRun": "All"})
    assert server.call("GET", path(namespace, "dry"))[1]["data"] == {"a": "1"}
    status, _ = server.call("POST", path(namespace), config_map("x"), query={"dryRun": "Some"})
    assert status == 422


def test_generated_names(server: Server, namespace: str) -> None:
    body = {"metadata": {"generateName": "made-"}}
    names = {server.call("POST", path(namespace), body)[1]["metadata"]["name"] for _ in range(5)}
    assert len(names) == 5 and all(name.startswith("made-") and len(name) == 10 for name in names)


def test_finalizers_hold_an_object_until_they_are_gone(server: Server, namespace: str) -> None:
    body = config_map("held")
    body["metadata"]["finalizers"] = ["example.com/hold"]
    server.call("POST", path(namespace), body)
    status, held = server.call("DELETE", path(namespace, "held"))
    assert status == 200 and held["metadata"]["deletionTimestamp"]
    assert held["metadata"]["deletionGracePeriodSeconds"] == 0
    status, refused = server.call(
        "PATCH", path(namespace, "held"), {"metadata": {"finalizers": ["example.com/hold", "example.com/more"]}},
        headers=MERGE,
    )  # fmt: skip
    assert status == 422 and "no new finalizers can be added" in refused["message"]
    server.call("PATCH", path(namespace, "held"), {"metadata": {"finalizers": None}}, headers=MERGE)
    assert server.call("GET", path(namespace, "held"))[0] == 404


@pytest.mark.parametrize(
    ("policy", "finalizer"), [("Orphan", "orphan"), ("Foreground", "foregroundDeletion")]
)
def test_propagation_policies_leave_their_finalizer(
    server: Server, namespace: str, policy: str, finalizer: str
) -> None:
    name = policy.lower()
    server.call("POST", path(namespace), config_map(name))
    _, answer = server.call("DELETE", path(namespace, name), {"propagationPolicy": policy})
    assert answer["metadata"]["finalizers"] == [finalizer]
    server.call("PATCH", path(namespace, name), {"metadata": {"finalizers": None}}, headers=MERGE)


def test_preconditions(server: Server, namespace: str) -> None:
    _, made = server.call("POST", path(namespace), config_map("sure"))
    status, answer = server.call("DELETE", path(namespace, "sure"), {"preconditions": {"uid": "other"}})
    assert status == 409 and "the UID in the precondition (other) does not match" in answer["message"]
    uid = made["metadata"]["uid"]
    assert server.call("DELETE", path(namespace, "sure"), {"preconditions": {"uid": uid}})[0] == 200


def test_a_running_pod_is_deleted_with_grace(server: Server, namespace: str) -> None:
    pods = path(namespace, plural="pods")
    spec = {"containers": [{"name": "a", "image": "b"}], "nodeName": "somewhere"}
    server.call("POST", pods, {"metadata": {"name": "p"}, "spec": spec})
    status, going = server.call("DELETE", f"{pods}/p")
    assert status == 200 and going["metadata"]["deletionGracePeriodSeconds"] == 30
    assert server.call("GET", f"{pods}/p")[0] == 200
    assert server.call("DELETE", f"{pods}/p", {"gracePeriodSeconds": 0})[0] == 200
    assert server.call("GET", f"{pods}/p")[0] == 404


def test_delete_collection(server: Server, namespace: str) -> None:
    for name, label in (("one", "x"), ("two", "x"), ("three", "y")):
        body = config_map(name)
        body["metadata"]["labels"] = {"set": label}
        server.call("POST", path(namespace), body)
    status, answer = server.call("DELETE", path(namespace), query={"labelSelector": "set=x"})
    assert status == 200 and {item["metadata"]["name"] for item in answer["items"]} == {"one", "two"}
    _, left = server.call("GET", path(namespace), query={"labelSelector": "set"})
    assert [item["metadata"]["name"] for item in left["items"]] == ["three"]


def test_tables_and_metadata(server: Server, namespace: str) -> None:
    server.call("POST", path(namespace), config_map("t", a="1", b="2"))
    accept = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    _, table = server.call("GET", path(namespace), headers=accept)
    assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "Data", "Age"]
    row = next(row for row in table["rows"] if row["cells"][0] == "t")
    assert row["cells"][1] == 2 and row["object"]["kind"] == "PartialObjectMetadata"
    accept = {"Accept": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}
    _, listed = server.call("GET", path(namespace), headers=accept)
    assert listed["kind"] == "PartialObjectMetadataList" and "data" not in listed["items"][0]
    assert server.call("GET", path(namespace), headers={"Accept": "application/xml"})[0] == 406


def test_yaml_bodies_and_answers(server: Server, namespace: str) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\ndata: {a: '1'}\n"
    status, _ = server.call("POST", path(namespace), text, headers={"Content-Type": "application/yaml"})
    assert status == 201
    _, answer = server.call("GET", path(namespace, "yaml"), headers={"Accept": "application/yaml"})
    assert "data:\n  a: '1'\n" in answer


def test_scale(server: Server, namespace: str) -> None:
    deployments = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "b"}]}}
    spec = {"replicas": 2, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    server.call("POST", deployments, {"metadata": {"name": "d"}, "spec": spec})
    _, scale = server.call("GET", f"{deployments}/d/scale")
    assert scale["spec"] == {"replicas": 2} and scale["status"]["selector"] == "a=b"
    scale["spec"]["replicas"] = 5
    assert server.call("PUT", f"{deployments}/d/scale", scale)[1]["spec"] == {"replicas": 5}
    _, deployment = server.call("GET", f"{deployments}/d")
    assert deployment["spec"]["replicas"] == 5 and deployment["metadata"]["generation"] == 2
    status, answer = server.call("PATCH", f"{deployments}/d/scale", {"spec": {"replicas": -1}}, headers=MERGE)
    assert status == 422 and "must be greater than or equal to 0" in answer["message"]


def test_status_is_written_apart(server: Server, namespace: str) -> None:
    pods = path(namespace, plural="pods")
    body = {"metadata": {"name": "s"}, "spec": {"containers": [{"name": "a", "image": "b"}]}}
    server.call("POST", pods, {**body, "status": {"phase": "Running"}})
    assert server.call("GET", f"{pods}/s")[1]["status"]["phase"] == "Pending"
    server.call("PATCH", f"{pods}/s/status", {"status": {"phase": "Running"}}, headers=MERGE)
    server.call("PATCH", f"{pods}/s", {"status": {"phase": "Failed"}}, headers=MERGE)
    assert server.call("GET", f"{pods}/s")[1]["status"]["phase"] == "Running"


def test_a_budget_holds_evictions_back(server: Server, namespace: str) -> None:
    pods = path(namespace, plural="pods")
    spec = {"containers": [{"name": "a", "image": "b"}], "nodeName": "somewhere"}
    server.call("POST", pods, {"metadata": {"name": "e", "labels": {"app": "e"}}, "spec": spec})
    ready = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    server.call("PATCH", f"{pods}/e/status", ready, headers=MERGE)
    budgets = f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets"
    budget = {
        "metadata": {"name": "b"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "e"}}},
    }
    assert server.call("POST", budgets, budget)[0] == 201
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "e"}}
    status, answer = server.call("POST", f"{pods}/e/eviction", eviction)
    assert (status, answer["reason"]) == (429, "TooManyRequests")
    allowed = {"status": {"observedGeneration": 1, "disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1,
                          "expectedPods": 2}}  # fmt: skip
    assert server.call("PATCH", f"{budgets}/b/status", allowed, headers=MERGE)[0] == 200
    assert server.call("POST", f"{pods}/e/eviction", eviction)[0] == 201
    assert server.call("GET", f"{pods}/e")[1]["metadata"]["deletionTimestamp"]
    assert server.call("GET", f"{budgets}/b")[1]["status"]["disruptionsAllowed"] == 0


def test_a_pod_is_bound_once(server: Server, namespace: str) -> None:
    pods = path(namespace, plural="pods")
    server.call(
        "POST", pods, {"metadata": {"name": "b"}, "spec": {"containers": [{"name": "a", "image": "b"}]}}
    )
    binding = {"metadata": {"name": "b"}, "target": {"kind": "Node", "name": "n1"}}
    assert server.call("POST", f"{pods}/b/binding", binding)[0] == 201
    pod = server.call("GET", f"{pods}/b")[1]
    assert pod["spec"]["nodeName"] == "n1" and pod["status"]["conditions"][0]["type"] == "PodScheduled"
    status, answer = server.call("POST", f"{pods}/b/binding", binding)
    assert status == 409 and 'pod b is already assigned to node "n1"' in answer["message"]


def test_what_is_being_deleted(server: Server, namespace: str) -> None:
    pod = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    assert server.call("POST", path(namespace, plural="pods"), pod)[0] == 201
    status, gone = server.call("DELETE", path(namespace, "a", "pods"), query={"gracePeriodSeconds": 0})
    meta = gone["metadata"]
    assert (status, meta["deletionGracePeriodSeconds"], meta["generation"]) == (200, 0, 2)
    assert meta["deletionTimestamp"]
    stays = {"metadata": {"name": "b", "finalizers": ["example.com/x"]}}
    assert server.call("POST", path(namespace), stays)[0] == 201
    assert server.call("DELETE", path(namespace, "b"))[0] == 200
    status, refused = server.call("POST", path(namespace), stays)
    assert (status, refused["message"]) == (
        409,
        'object is being deleted: configmaps "b" already exists',
    )
    server.call("PATCH", path(namespace, "b"), {"metadata": {"finalizers": None}}, headers=MERGE)


@pytest.mark.parametrize("review", ["authentication.k8s.io/v1/selfsubjectreviews",
                                    "authorization.k8s.io/v1/selfsubjectaccessreviews"])  # fmt: skip
def test_reviews_have_no_table(server: Server, review: str) -> None:
    table = "application/json;as=Table;v=v1;g=meta.k8s.io"
    body = {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}} if "access" in review else {}
    for accept, wanted in ((table, 406), (f"{table},application/json", 201)):
        status, answer = server.call("POST", f"/apis/{review}", body, headers={"Accept": accept})
        assert (status, answer["kind"] == "Status") == (wanted, wanted == 406), answer


def test_yaml_has_no_anchors(server: Server, namespace: str) -> None:
    made = {"metadata": {"name": "y"}, "data": {"a": "1", "b": "2"}}
    status, text = server.call("POST", path(namespace), made, headers={"Accept": "application/yaml"})
    assert status == 201 and "&id" not in text, text


def test_old_annotations_about_app_armor(server: Server, namespace: str) -> None:
    key = "container.apparmor.security.beta.kubernetes.io/c"
    pod = {
        "metadata": {"name": "a", "annotations": {key: "runtime/default"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    connection = server.connection()
    connection.request(
        "POST", path(namespace, plural="pods"), json.dumps(pod), {"Authorization": f"Bearer {TOKEN}"}
    )
    response = connection.getresponse()
    made = json.loads(response.read())
    connection.close()
    assert f"metadata.annotations[{key}]: deprecated since v1.30" in response.headers["Warning"]
    assert made["spec"]["containers"][0]["securityContext"]["appArmorProfile"] == {"type": "RuntimeDefault"}


def test_what_must_exist_is_made_again(server: Server) -> None:
    paths = [path("default", "kubernetes", plural) for plural in ("services", "endpoints")]
    paths += ["/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes"]
    _, service = server.call("GET", paths[0])
    for each in paths:
        status, before = server.call("GET", each)
        assert status == 200
        assert server.call("DELETE", each)[0] == 200
        deadline = time.monotonic() + 60
        while (found := server.call("GET", each))[0] != 200 or (
            found[1]["metadata"]["uid"] == before["metadata"]["uid"]
        ):
            assert time.monotonic() < deadline, f"{each} did not come back"
    assert server.call("GET", paths[0])[1]["spec"]["clusterIP"] == service["spec"]["clusterIP"]
    address = f"/apis/networking.k8s.io/v1/ipaddresses/{service['spec']['clusterIP']}"
    while server.call("GET", address)[0] != 200:
        assert time.monotonic() < deadline, f"{address} did not come back"


@pytest.mark.parametrize(
    ("timeout", "status"), [("0s", 200), ("3m", 200), ("1h2m3.5s", 200), ("soon", 400), ("5", 400)]
)
def test_how_long_a_request_may_take(server: Server, timeout: str, status: int) -> None:
    found, answer = server.call("GET", "/version", query={"timeout": timeout})
    assert found == status
    assert status == 200 or answer["message"] == "invalid timeout specified in the request URL"


@pytest.mark.parametrize(("path", "kind"), [("/statusz", "Statusz"), ("/flagz", "Flagz")])
def test_what_the_server_says_about_itself(server: Server, path: str, kind: str) -> None:
    status, text = server.call("GET", path)
    assert status == 200 and f"\napiserver {path[1:]}\n" in text
    accept = {"Accept": f"application/json;v=v1beta1;g=config.k8s.io;as={kind}"}
    status, value = server.call("GET", path, headers=accept)
    assert (status, value["kind"], value["metadata"]) == (200, kind, {"name": "apiserver"})
    assert server.call("GET", path, token="")[0] in (401, 403)


def test_checks_have_the_names_that_upstream_gives_them(server: Server) -> None:
    status, text = server.call("GET", "/readyz", query={"verbose": ""})
    assert status == 200
    hooks = {"start-apiextensions-controllers", "start-system-namespaces-controller", "rbac/bootstrap-roles"}
    for name in ("ping", "etcd", "etcd-readiness", "shutdown", *(f"poststarthook/{each}" for each in hooks)):
        assert f"[+]{name} ok\n" in text
        assert server.call("GET", f"/readyz/{name}") == (200, "ok")
    assert server.call("GET", "/livez/etcd-readiness")[0] == 404
