"""New objects: status codes, bad input, field validation, dry runs, generated names."""

from __future__ import annotations

import json
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


def test_a_new_object_may_not_have_a_version(server: Server, namespace: str) -> None:
    """It is refused last of all, by the store: who may not create it, or has other mistakes in it, hears of that."""
    body = config_map("a")
    body["metadata"]["resourceVersion"] = "7"
    status, answer = server.call("POST", path(namespace), body)
    assert (status, answer["message"]) == (500, "resourceVersion should not be set on objects to be created")
    assert server.call("GET", path(namespace, "a"))[0] == 404
    status, shown = server.call("POST", path(namespace) + "?dryRun=All", body)
    assert (status, shown["metadata"]["resourceVersion"]) == (201, "7")
    status, answer = server.call("POST", path(namespace), {**body, "immutable": "x"})
    assert status == 400
    body["data"] = {"a/b": ""}
    assert server.call("POST", path(namespace), body)[0] == 422
    body = config_map("a")
    body["metadata"]["resourceVersion"] = "what"
    status, made = server.call("POST", path(namespace), body)
    assert status == 201 and made["metadata"]["resourceVersion"].isdecimal()


def test_generated_names(server: Server, namespace: str) -> None:
    body = {"metadata": {"generateName": "made-"}}
    names = {server.call("POST", path(namespace), body)[1]["metadata"]["name"] for _ in range(5)}
    assert len(names) == 5 and all(name.startswith("made-") and len(name) == 10 for name in names)


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
