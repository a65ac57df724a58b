import json

import pytest

from pybernetes.api import protobuf
from pybernetes.api.errors import StatusError
from pybernetes.api.resource import Resource
from pybernetes.api.schema.types import ANY
from pybernetes.api.versions import version_rank
from pybernetes.control_plane.apiserver.discovery.discovery import Discovery, storage_version_hash

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
RETIRED = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"

PODS = Resource(
    group="", version="v1", kind="Pod", plural="pods", short_names=("po",), categories=("all",),
    subresources=("status", "exec", "eviction", "log", "binding"),
)  # fmt: skip
NODES = Resource(
    group="", version="v1", kind="Node", plural="nodes", namespaced=False, subresources=("proxy", "status")
)
DEPLOYMENTS = Resource(
    group="apps", version="v1", kind="Deployment", plural="deployments", subresources=("status", "scale")
)
SCALERS = [
    Resource(
        group="autoscaling", version=version, kind="HorizontalPodAutoscaler", plural="horizontalpodautoscalers",
        storage_version=("autoscaling", "v2"),
    )
    for version in ("v1", "v2")
]  # fmt: skip
REVIEWS = Resource(
    group="authorization.k8s.io", version="v1", kind="SubjectAccessReview", plural="subjectaccessreviews",
    namespaced=False, verbs=("create",),
)  # fmt: skip
WIDGETS = Resource(
    group="example.com", version="v1", kind="Widget", plural="widgets", subresources=("scale",), own_type=ANY
)


@pytest.fixture
def discovery() -> Discovery:
    return Discovery([PODS, NODES, DEPLOYMENTS, *SCALERS, REVIEWS], address="192.0.2.1:6443")


def document(discovery: Discovery, path: str, accept: str = "application/json") -> dict:
    answer = discovery.respond(path, accept)
    assert answer is not None
    return json.loads(answer[1])


def test_core_versions_name_the_address(discovery: Discovery) -> None:
    assert discovery.respond("/api", "") == (
        "application/json",
        b'{"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":'
        b'[{"clientCIDR":"0.0.0.0/0","serverAddress":"192.0.2.1:6443"}]}\n',
        "",
    )


def test_groups_come_in_the_order_of_upstream_with_the_preferred_version_first(discovery: Discovery) -> None:
    groups = document(discovery, "/apis")["groups"]
    assert [group["name"] for group in groups] == ["apps", "authorization.k8s.io", "autoscaling"]
    assert groups[2] == {
        "name": "autoscaling",
        "versions": [
            {"groupVersion": "autoscaling/v2", "version": "v2"},
            {"groupVersion": "autoscaling/v1", "version": "v1"},
        ],
        "preferredVersion": {"groupVersion": "autoscaling/v2", "version": "v2"},
    }
    assert document(discovery, "/apis/autoscaling") == {"kind": "APIGroup", "apiVersion": "v1", **groups[2]}


def test_the_list_of_the_core_group(discovery: Discovery) -> None:
    response = document(discovery, "/api/v1")
    assert list(response) == ["kind", "groupVersion", "resources"]
    rows = {row["name"]: row for row in response["resources"]}
    assert list(rows) == [
        "nodes", "nodes/proxy", "nodes/status",
        "pods", "pods/binding", "pods/eviction", "pods/exec", "pods/log", "pods/status",
    ]  # fmt: skip
    assert rows["pods"] == {
        "name": "pods", "singularName": "pod", "namespaced": True, "kind": "Pod",
        "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        "shortNames": ["po"], "categories": ["all"], "storageVersionHash": "xPOwRZ+Yhw8=",
    }  # fmt: skip
    assert rows["pods/eviction"] == {
        "name": "pods/eviction", "singularName": "", "namespaced": True,
        "group": "policy", "version": "v1", "kind": "Eviction", "verbs": ["create"],
    }  # fmt: skip
    assert (rows["pods/exec"]["kind"], rows["pods/exec"]["verbs"]) == ("PodExecOptions", ["create", "get"])
    assert rows["nodes/proxy"]["kind"] == "NodeProxyOptions"
    assert rows["nodes/proxy"]["verbs"] == ["create", "delete", "get", "patch", "update"]
    assert rows["pods/binding"]["kind"] == "Binding"


def test_the_list_of_a_group(discovery: Discovery) -> None:
    response = document(discovery, "/apis/apps/v1")
    assert response["groupVersion"] == "apps/v1" and response["apiVersion"] == "v1"
    scale = response["resources"][1]
    assert (scale["group"], scale["version"], scale["kind"]) == ("autoscaling", "v1", "Scale")


@pytest.mark.parametrize(
    "path", ["/apis/nope", "/apis/apps/v9", "/api/v2", "/api/v1/pods", "/apisx", "/version"]
)
def test_other_paths_are_not_answered(discovery: Discovery, path: str) -> None:
    assert discovery.respond(path, "") is None


def test_slashes_at_the_end_do_not_matter(discovery: Discovery) -> None:
    for path in ("/api", "/apis", "/api/v1", "/apis/apps", "/apis/apps/v1"):
        assert discovery.respond(path + "/", "") == discovery.respond(path, "")


def test_aggregated(discovery: Discovery) -> None:
    response = discovery.respond("/apis", f"{AGGREGATED},{RETIRED},application/json")
    assert response is not None
    content_type, body, etag = response
    assert content_type == AGGREGATED
    assert len(etag) == 130 and etag == etag.upper()
    items = json.loads(body)["items"]
    assert [item["metadata"]["name"] for item in items] == ["apps", "authorization.k8s.io", "autoscaling"]
    assert items[0]["versions"][0]["freshness"] == "Current"
    assert items[0]["versions"][0]["resources"][0] == {
        "resource": "deployments",
        "responseKind": {"group": "", "version": "", "kind": "Deployment"},
        "scope": "Namespaced",
        "singularResource": "deployment",
        "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        "subresources": [
            {
                "subresource": "scale",
                "responseKind": {"group": "autoscaling", "version": "v1", "kind": "Scale"},
                "verbs": ["get", "patch", "update"],
            },
            {
                "subresource": "status",
                "responseKind": {"group": "", "version": "", "kind": "Deployment"},
                "verbs": ["get", "patch", "update"],
            },
        ],
    }
    core = document(discovery, "/api", AGGREGATED)
    assert [item["metadata"] for item in core["items"]] == [{}]


def test_the_order_of_parameters_does_not_matter(discovery: Discovery) -> None:
    turned = "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io"
    assert discovery.respond("/api", turned) == discovery.respond("/api", AGGREGATED)


@pytest.mark.parametrize("accept", ["text/html", RETIRED])
def test_what_is_not_served_is_not_acceptable(discovery: Discovery, accept: str) -> None:
    for path in ("/api", "/apis", "/api/v1", "/apis/apps"):
        with pytest.raises(StatusError) as raised:
            discovery.respond(path, accept)
        assert raised.value.code == 406
    assert discovery.respond("/apis", accept + ", application/json") == discovery.respond("/apis", "")


@pytest.mark.parametrize("path", ["/api", "/apis", "/api/v1", "/apis/apps", "/apis/apps/v1"])
def test_protobuf(discovery: Discovery, path: str) -> None:
    media_type = "application/vnd.kubernetes.protobuf"
    response, plain = discovery.respond(path, media_type), discovery.respond(path)
    assert response is not None and plain is not None and response[0] == media_type
    expected = {"apiVersion": "", **json.loads(plain[1])}
    name = "io.k8s.apimachinery.pkg.apis.meta.v1." + expected["kind"]
    read = protobuf.decode(response[1], ("", "", ""), lambda *_: name)
    rows = expected.get("resources", ())
    for row in rows:  # a zero that JSON has
        if not row["namespaced"]:
            del row["namespaced"]
        if not row["singularName"]:
            del row["singularName"]
    assert read == expected


def test_yaml(discovery: Discovery) -> None:
    response = discovery.respond("/apis/apps", "application/yaml")
    assert response is not None
    assert response[0] == "application/yaml"
    assert b"preferredVersion:\n  groupVersion: apps/v1\n" in response[1]


def test_pretty(discovery: Discovery) -> None:
    response = discovery.respond("/apis/apps", "", pretty=True)
    assert response is not None
    assert response[1].startswith(b'{\n  "kind": "APIGroup",')


def test_resources_come_and_go(discovery: Discovery) -> None:
    before = discovery.respond("/apis", AGGREGATED)
    discovery.add(WIDGETS)
    assert document(discovery, "/apis")["groups"][-1]["name"] == "example.com"
    row = document(discovery, "/apis", AGGREGATED)["items"][-1]["versions"][0]["resources"][0]
    assert row["responseKind"] == {"group": "example.com", "version": "v1", "kind": "Widget"}
    assert "/apis/example.com/v1" in discovery.paths()
    during = discovery.respond("/apis", AGGREGATED)
    assert before is not None and during is not None and before[2] != during[2]
    discovery.remove(WIDGETS)
    assert discovery.respond("/apis", AGGREGATED) == before
    assert discovery.respond("/apis/example.com", "") is None
    assert WIDGETS not in discovery.resources()


def test_storage_version_hashes() -> None:
    assert storage_version_hash(PODS) == "xPOwRZ+Yhw8="
    assert [storage_version_hash(scaler) for scaler in SCALERS] == ["qwQve8ut294="] * 2
    assert storage_version_hash(REVIEWS) == ""


def test_versions_sort_as_kubernetes_sorts_them() -> None:
    wanted = ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"]
    assert sorted(reversed(wanted), key=version_rank) == wanted
