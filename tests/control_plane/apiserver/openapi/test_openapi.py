import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest

from pybernetes.api.registry import builtin
from pybernetes.api.resource import Resource
from pybernetes.api.schema import load
from pybernetes.api.schema.types import ANY
from pybernetes.control_plane.apiserver.openapi import openapi as openapi_module
from pybernetes.control_plane.apiserver.openapi import schemas
from pybernetes.control_plane.apiserver.openapi.openapi import OpenApi
from pybernetes.lib.clock import ManualClock

PODS = Resource(
    group="", version="v1", kind="Pod", plural="pods",
    subresources=("status", "exec", "eviction", "log", "binding", "proxy"),
)  # fmt: skip
NODES = Resource(group="", version="v1", kind="Node", plural="nodes", namespaced=False)
DEPLOYMENTS = Resource(
    group="apps", version="v1", kind="Deployment", plural="deployments", subresources=("scale", "status")
)
BINDINGS = Resource(
    group="rbac.authorization.k8s.io", version="v1", kind="ClusterRoleBinding", plural="clusterrolebindings",
    namespaced=False,
)  # fmt: skip
WIDGETS = Resource(
    group="example.com", version="v1", kind="Widget", plural="widgets", subresources=("scale",), own_type=ANY
)
WIDGET_SCHEMA = {
    "type": "object",
    "description": "A widget.",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "size": {"type": "integer", "nullable": True, "default": 1},
                "port": {
                    "x-kubernetes-int-or-string": True,
                    "anyOf": [{"type": "integer"}, {"type": "string"}],
                },
                "tags": {"type": "array", "items": {"type": "string", "nullable": True}},
            },
        }
    },
}


@pytest.fixture(scope="module")
def shared() -> OpenApi:
    return OpenApi([PODS, NODES, DEPLOYMENTS, BINDINGS], ManualClock(0))


def read(openapi: OpenApi, path: str) -> Any:
    answer = openapi.respond(path)
    assert answer is not None and answer[0] == 200
    return json.loads(answer[2])


def references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "$ref" and isinstance(value, str):
                yield value
            else:
                yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def operations(document: dict) -> Iterator[tuple[str, str, dict]]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method != "parameters":
                yield path, method, operation


def test_the_index_names_every_document_by_its_hash(shared: OpenApi) -> None:
    paths = read(shared, "/openapi/v3")["paths"]
    assert list(paths) == [
        ".well-known/openid-configuration", "api", "api/v1", "apis", "apis/apps", "apis/apps/v1",
        "apis/rbac.authorization.k8s.io", "apis/rbac.authorization.k8s.io/v1", "openid/v1/jwks", "version",
    ]  # fmt: skip
    for place, entry in paths.items():
        path, _, query = entry["serverRelativeURL"].partition("?")
        assert path == f"/openapi/v3/{place}"
        answer = shared.respond(path, query)
        assert answer is not None
        status, headers, body = answer
        assert (status, headers["Content-Type"]) == (200, "application/json")
        assert headers["Cache-Control"] == "public, immutable"
        assert headers["Expires"] == "Fri, 01 Jan 1971 00:00:00 GMT"
        assert query == "hash=" + headers["ETag"].strip('"')
        assert json.loads(body)["openapi"] == "3.0.0"


def test_operations_are_named_as_upstream_names_them(shared: OpenApi) -> None:
    core = {
        (path, method): operation["operationId"]
        for path, method, operation in operations(read(shared, "/openapi/v3/api/v1"))
    }
    pods = "/api/v1/namespaces/{namespace}/pods"
    assert core["/api/v1/", "get"] == "getCoreV1APIResources"
    assert core["/api/v1/pods", "get"] == "listCoreV1PodForAllNamespaces"
    assert core[pods, "get"] == "listCoreV1NamespacedPod"
    assert core[pods, "post"] == "createCoreV1NamespacedPod"
    assert core[pods, "delete"] == "deleteCoreV1CollectionNamespacedPod"
    assert core[pods + "/{name}", "get"] == "readCoreV1NamespacedPod"
    assert core[pods + "/{name}", "put"] == "replaceCoreV1NamespacedPod"
    assert core[pods + "/{name}", "patch"] == "patchCoreV1NamespacedPod"
    assert core[pods + "/{name}", "delete"] == "deleteCoreV1NamespacedPod"
    assert core[pods + "/{name}/status", "put"] == "replaceCoreV1NamespacedPodStatus"
    assert core[pods + "/{name}/eviction", "post"] == "createCoreV1NamespacedPodEviction"
    assert core[pods + "/{name}/log", "get"] == "readCoreV1NamespacedPodLog"
    assert core[pods + "/{name}/exec", "post"] == "connectCoreV1PostNamespacedPodExec"
    assert core[pods + "/{name}/proxy/{path}", "head"] == "connectCoreV1HeadNamespacedPodProxyWithPath"
    assert core["/api/v1/nodes/{name}", "get"] == "readCoreV1Node"
    rbac = read(shared, "/openapi/v3/apis/rbac.authorization.k8s.io/v1")
    names = [operation["operationId"] for _, _, operation in operations(rbac)]
    assert "listRbacAuthorizationV1ClusterRoleBinding" in names


def test_an_operation(shared: OpenApi) -> None:
    item = read(shared, "/openapi/v3/apis/apps/v1")["paths"][
        "/apis/apps/v1/namespaces/{namespace}/deployments/{name}"
    ]
    assert [
        (parameter["name"], parameter["in"], parameter.get("required")) for parameter in item["parameters"]
    ] == [
        ("name", "path", True),
        ("namespace", "path", True),
        ("pretty", "query", None),
    ]
    patch = item["patch"]
    assert patch["x-kubernetes-action"] == "patch"
    assert patch["x-kubernetes-group-version-kind"] == {
        "group": "apps",
        "version": "v1",
        "kind": "Deployment",
    }
    # kubectl looks here to learn whether the server validates fields.
    assert [parameter["name"] for parameter in patch["parameters"]] == [
        "dryRun", "fieldManager", "fieldValidation", "force",
    ]  # fmt: skip
    assert list(patch["requestBody"]["content"]) == [
        "application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json",
        "application/strategic-merge-patch+json",
    ]  # fmt: skip
    assert patch["responses"]["200"]["content"]["application/json"]["schema"] == {
        "$ref": "#/components/schemas/io.k8s.api.apps.v1.Deployment"
    }


def test_schemas_of_version_3(shared: OpenApi) -> None:
    schemas = read(shared, "/openapi/v3/api/v1")["components"]["schemas"]
    pod = schemas["io.k8s.api.core.v1.Pod"]
    assert pod["type"] == "object"
    assert pod["x-kubernetes-group-version-kind"] == [{"group": "", "version": "v1", "kind": "Pod"}]
    assert pod["properties"]["kind"].keys() == {"description", "type"}
    assert pod["properties"]["spec"]["allOf"] == [{"$ref": "#/components/schemas/io.k8s.api.core.v1.PodSpec"}]
    containers = schemas["io.k8s.api.core.v1.PodSpec"]["properties"]["containers"]
    assert containers["items"] == {"$ref": "#/components/schemas/io.k8s.api.core.v1.Container"}
    assert containers["x-kubernetes-patch-merge-key"] == "name"
    assert containers["x-kubernetes-list-map-keys"] == ["name"]
    assert schemas["io.k8s.apimachinery.pkg.util.intstr.IntOrString"]["format"] == "int-or-string"
    assert schemas["io.k8s.apimachinery.pkg.api.resource.Quantity"]["oneOf"] == [
        {"type": "string"},
        {"type": "number"},
    ]
    assert "io.k8s.api.apps.v1.Deployment" not in schemas
    assert "io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent" in schemas


def test_version_2(shared: OpenApi) -> None:
    document = read(shared, "/openapi/v2")
    assert document["swagger"] == "2.0"
    assert document["info"] == {"title": "Kubernetes", "version": "1.37"}
    definitions = document["definitions"]
    spec = definitions["io.k8s.api.core.v1.Pod"]["properties"]["spec"]
    assert spec["$ref"] == "#/definitions/io.k8s.api.core.v1.PodSpec"
    assert definitions["io.k8s.apimachinery.pkg.util.intstr.IntOrString"]["format"] == "int-or-string"
    assert definitions["io.k8s.apimachinery.pkg.api.resource.Quantity"]["type"] == "string"
    post = document["paths"]["/api/v1/namespaces/{namespace}/pods"]["post"]
    assert post["parameters"][0] == {
        "name": "body",
        "in": "body",
        "schema": {"$ref": "#/definitions/io.k8s.api.core.v1.Pod"},
        "required": True,
    }


def test_conditional_requests_and_compression(shared: OpenApi) -> None:
    for path in ("/openapi/v2", "/openapi/v3/api/v1"):
        answer = shared.respond(path, accept_encoding="gzip, deflate")
        assert answer is not None
        status, headers, body = answer
        assert (status, headers["Content-Encoding"]) == (200, "gzip")
        plain = shared.respond(path)
        assert plain is not None and plain[2] == gzip.decompress(body)
        again = shared.respond(path, if_none_match=headers["ETag"])
        assert again is not None and (again[0], again[2]) == (304, b"")


def test_an_outdated_hash_leads_to_the_document(shared: OpenApi) -> None:
    answer = shared.respond("/openapi/v3/api/v1", "hash=OLD&timeout=32s")
    assert answer is not None
    status, headers, body = answer
    assert (status, body) == (301, b"")
    assert headers["Location"] == "/openapi/v3/api/v1?hash=" + headers["ETag"].strip('"')


@pytest.mark.parametrize(
    ("path", "accept", "status"),
    [
        ("/openapi/v3/nope", "", 404),
        ("/openapi/v3/", "", 404),
        ("/openapi/v3/api/v1", "text/html", 406),
        ("/openapi/v3/api/v1", "application/com.github.proto-openapi.spec.v3@v1.0+protobuf", 406),
        ("/openapi/v3/api/v1", "application/com.github.proto-openapi.spec.v3@v1.0+protobuf,*/*", 200),
        ("/openapi/v2", "text/html", 406),
        ("/openapi/v2", "application/json, */*", 200),
        ("/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf", 200),
    ],
)
def test_statuses(shared: OpenApi, path: str, accept: str, status: int) -> None:
    answer = shared.respond(path, accept=accept)
    assert answer is not None and answer[0] == status


def test_other_paths_are_not_answered(shared: OpenApi) -> None:
    assert shared.respond("/openapi/v4") is None
    assert shared.respond("/api") is None


def test_custom_resources_come_and_go() -> None:
    openapi = OpenApi([PODS], ManualClock(0))
    before = read(openapi, "/openapi/v3"), read(openapi, "/openapi/v2")
    openapi.add(WIDGETS, WIDGET_SCHEMA)
    document = read(openapi, "/openapi/v3/apis/example.com/v1")
    schemas = document["components"]["schemas"]
    widget = schemas["com.example.v1.Widget"]
    assert widget["properties"]["spec"] == WIDGET_SCHEMA["properties"]["spec"]  # type: ignore[index]
    assert widget["properties"]["metadata"]["allOf"] == [
        {"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}
    ]
    assert schemas["com.example.v1.WidgetList"]["required"] == ["items"]
    names = [operation["operationId"] for _, _, operation in operations(document)]
    assert "readComExampleV1NamespacedWidget" in names and "readComExampleV1NamespacedWidgetScale" in names
    assert {name.rpartition("/")[2] for name in references(document)} <= schemas.keys()
    spec = read(openapi, "/openapi/v2")["definitions"]["com.example.v1.Widget"]["properties"]["spec"]
    assert spec["properties"] == {
        "size": {},  # nullable: a type would keep null out
        "port": {"x-kubernetes-int-or-string": True},
        "tags": {"type": "array", "items": {}},
    }
    openapi.remove(WIDGETS)
    assert (read(openapi, "/openapi/v3"), read(openapi, "/openapi/v2")) == before
    answer = openapi.respond("/openapi/v3/apis/example.com/v1")
    assert answer is not None and answer[0] == 404


def test_a_custom_resource_without_a_schema_takes_anything() -> None:
    openapi = OpenApi([], ManualClock(0))
    openapi.add(WIDGETS, None)
    schemas = read(openapi, "/openapi/v3/apis/example.com/v1")["components"]["schemas"]
    assert schemas["com.example.v1.Widget"]["x-kubernetes-preserve-unknown-fields"] is True


def test_fields_list_their_values(shared: OpenApi) -> None:
    for definitions in (
        read(shared, "/openapi/v2")["definitions"],
        read(shared, "/openapi/v3/api/v1")["components"]["schemas"],
    ):
        ports = definitions["io.k8s.api.core.v1.ContainerPort"]["properties"]
        assert ports["protocol"]["enum"] == ["SCTP", "TCP", "UDP"]
        claims = definitions["io.k8s.api.core.v1.PersistentVolumeClaimSpec"]["properties"]
        assert "ReadWriteOncePod" in claims["accessModes"]["items"]["enum"]
        folders = definitions["io.k8s.api.core.v1.HostPathVolumeSource"]["properties"]
        assert folders["type"]["enum"][:2] == ["", "BlockDevice"]
    name = "io.k8s.api.core.v1.PersistentVolumeClaimStatus"
    status = schemas.convert(name, load.definitions()[name], schemas.V3)["properties"]
    assert "NodeResizePending" in status["allocatedResourceStatuses"]["additionalProperties"]["enum"]


def test_every_built_in_kind_is_described_without_a_gap() -> None:
    openapi = OpenApi(builtin(), ManualClock(0))
    documents = [read(openapi, f"/openapi/v3/{place}") for place in read(openapi, "/openapi/v3")["paths"]]
    for document in documents:
        schemas = document["components"]["schemas"]
        assert {name.rpartition("/")[2] for name in references(document)} <= schemas.keys()
    swagger = read(openapi, "/openapi/v2")
    assert {name.rpartition("/")[2] for name in references(swagger)} <= swagger["definitions"].keys()
    for listed in (documents, [swagger]):
        names = [operation["operationId"] for document in listed for _, _, operation in operations(document)]
        assert len(names) == len(set(names))
    paths = {path for document in documents for path in document["paths"]}
    assert paths == swagger["paths"].keys()


def test_a_change_while_documents_are_written_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are written beside the event loop, where kinds come and go meanwhile."""
    openapi, keep = OpenApi([PODS]), openapi_module._keep

    def keep_slowly(body: bytes) -> Any:
        monkeypatch.setattr(openapi_module, "_keep", keep)
        openapi.add(WIDGETS, WIDGET_SCHEMA)
        return keep(body)

    for path, part in (("/openapi/v3", "apis/example.com/v1"), ("/openapi/v2", "com.example.v1.Widget")):
        openapi.remove(WIDGETS)
        monkeypatch.setattr(openapi_module, "_keep", keep_slowly)
        first, second = openapi.respond(path), openapi.respond(path)
        assert first is not None and second is not None
        assert part.encode() not in first[2] and part.encode() in second[2]


def test_those_who_ask_in_plain_text_share_one_copy() -> None:
    openapi = OpenApi()
    first, second = openapi.respond("/openapi/v2"), openapi.respond("/openapi/v2")
    assert first is not None and second is not None and first[2] is second[2]
    openapi.forget()
    third = openapi.respond("/openapi/v2")
    assert third is not None and third[2] == first[2] and third[2] is not first[2]
