"""Custom resources through a running server: from the definition to the end of its objects."""

from __future__ import annotations

import copy
import json
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.servers import TOKEN, Server
from tests.support import until

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SPEC: dict[str, Any] = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "integer", "minimum": 1},
        "color": {"type": "string", "default": "red"},
        "replicas": {"type": "integer"},
        "ports": {
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
        },
    },
}  # fmt: skip
VERSION: dict[str, Any] = {
    "name": "v1",
    "served": True,
    "storage": True,
    "schema": {
        "openAPIV3Schema": {
            "type": "object",
            "properties": {
                "spec": SPEC,
                "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            },
        }
    },
    "subresources": {
        "status": {},
        "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
    },
    "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}],
    "selectableFields": [{"jsonPath": ".spec.color"}],
}


class Widgets:
    """A definition of its own for a test, and its objects."""

    def __init__(self, server: Server, scope: str = "Namespaced") -> None:
        self.server = server
        self.group = f"t{uuid.uuid4().hex[:8]}.example.com"
        self.name = f"widgets.{self.group}"
        self.body: dict[str, Any] = {
            "metadata": {"name": self.name},
            "spec": {
                "group": self.group, "scope": scope, "names": {"plural": "widgets", "kind": "Widget"},
                "versions": [copy.deepcopy(VERSION)],
            },
        }  # fmt: skip

    def make(self) -> None:
        status, made = self.server.call("POST", CRDS, self.body)
        assert status == 201, made
        until(lambda: self.condition("Established") == "True")

    def get(self) -> dict[str, Any]:
        status, answer = self.server.call("GET", f"{CRDS}/{self.name}")
        return answer if status == 200 else {}

    def condition(self, kind: str) -> str:
        conditions = self.get().get("status", {}).get("conditions") or []
        return next((item["status"] for item in conditions if item["type"] == kind), "")

    def change(self, change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        status = 409
        while status == 409:  # the server may have written the status in between
            obj = self.get()
            change(obj["spec"])
            status, made = self.server.call("PUT", f"{CRDS}/{self.name}", obj)
        assert status == 200, json.dumps(made)
        return made

    def path(self, name: str = "", version: str = "v1") -> str:
        base = f"/apis/{self.group}/{version}/namespaces/default/widgets"
        return f"{base}/{name}" if name else base

    def obj(self, name: str, version: str = "v1", **spec: Any) -> dict[str, Any]:
        head = {"apiVersion": f"{self.group}/{version}", "kind": "Widget", "metadata": {"name": name}}
        return {**head, "spec": {"size": 1, **spec}}

    def create(self, name: str, **spec: Any) -> dict[str, Any]:
        status, made = self.server.call("POST", self.path(), self.obj(name, **spec))
        assert status == 201, made
        return made


@pytest.fixture
def widgets(server: Server) -> Iterator[Widgets]:
    made = Widgets(server)
    made.make()
    yield made
    server.call("DELETE", f"{CRDS}/{made.name}")
    until(lambda: not made.get())


def test_nothing_is_written_across_namespaces(server: Server, widgets: Widgets) -> None:
    widgets.create("stays")
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        assert server.call(method, f"/apis/{widgets.group}/v1/widgets", {})[0] == 404
    assert server.call("GET", widgets.path("stays"))[0] == 200
    assert len(server.call("GET", f"/apis/{widgets.group}/v1/widgets")[1]["items"]) == 1


def test_it_is_served_at_once(server: Server) -> None:
    made = Widgets(server)
    status, answer = server.call("POST", CRDS, made.body)
    assert status == 201, answer
    until(lambda: made.condition("Established") == "True")
    names = made.get()["status"]["acceptedNames"]
    assert names == {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}
    assert server.call("GET", made.path())[0] == 200
    assert server.call("GET", f"/apis/{made.group}")[1]["preferredVersion"]["version"] == "v1"
    resources = server.call("GET", f"/apis/{made.group}/v1")[1]["resources"]
    assert [item["name"] for item in resources] == ["widgets", "widgets/scale", "widgets/status"]
    assert server.call("GET", f"/openapi/v3/apis/{made.group}/v1")[0] == 200
    server.call("DELETE", f"{CRDS}/{made.name}")
    until(lambda: not made.get())
    assert server.call("GET", made.path())[0] == 404
    assert server.call("GET", f"/apis/{made.group}/v1")[0] == 404


def test_objects_are_defaulted_pruned_and_checked(server: Server, widgets: Widgets) -> None:
    made = widgets.create("a", nonsense=1)
    assert made["spec"] == {"size": 1, "color": "red"}
    assert made["metadata"]["generation"] == 1
    status, answer = server.call("POST", widgets.path(), widgets.obj("b", size=0))
    assert status == 422
    assert answer["message"] == (
        "Widget." + widgets.group + ' "b" is invalid: spec.size: Invalid value: 0: '
        "spec.size in body should be greater than or equal to 1"
    )
    for wrong in ("text", [1], 7):
        status, answer = server.call("POST", widgets.path(), {**widgets.obj("b"), "spec": wrong})
        assert status == 422 and "spec in body must be of type object" in answer["message"]
    query = {"fieldValidation": "Strict"}
    status, answer = server.call("POST", widgets.path(), widgets.obj("b", nonsense=1), query=query)
    assert status == 400 and 'strict decoding error: unknown field "spec.nonsense"' in answer["message"]
    twice = widgets.obj("b", ports=[{"name": "x"}, {"name": "x"}])
    status, answer = server.call("POST", widgets.path(), twice)
    assert status == 422 and 'spec.ports[1]: Duplicate value: {"name":"x"}' in answer["message"]


def test_status_and_scale(server: Server, widgets: Widgets) -> None:
    made = widgets.create("a", replicas=2)
    made["status"] = {"replicas": 1, "anything": [1]}
    made["spec"]["size"] = 9
    status, widget = server.call("PUT", widgets.path("a/status"), made)
    assert status == 200
    assert (widget["spec"]["size"], widget["status"]["anything"]) == (1, [1])
    assert widget["metadata"]["generation"] == 1
    status, scale = server.call("GET", widgets.path("a/scale"))
    assert (scale["spec"], scale["status"]) == ({"replicas": 2}, {"replicas": 1})
    scale["spec"]["replicas"] = 5
    assert server.call("PUT", widgets.path("a/scale"), scale)[0] == 200
    widget = server.call("GET", widgets.path("a"))[1]
    assert (widget["spec"]["replicas"], widget["metadata"]["generation"]) == (5, 2)


def test_a_new_object_has_the_default_status_and_not_the_one_that_it_came_with(
    server: Server, widgets: Widgets
) -> None:
    def wait_for_controller(spec: dict[str, Any]) -> None:
        schema = spec["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]
        schema["default"] = {"phase": "Pending"}

    widgets.change(wait_for_controller)
    given = {**widgets.obj("a"), "status": {"phase": "Ready"}}
    for query in ({"dryRun": "All"}, {}):
        status, made = server.call("POST", widgets.path(), given, query=query)
        assert (status, made["status"]) == (201, {"phase": "Pending"})
    assert server.call("GET", widgets.path("a"))[1]["status"] == {"phase": "Pending"}


def test_one_is_not_true(server: Server, widgets: Widgets) -> None:
    made = widgets.create("a")
    for value in (1, True, 1.5, 1, False, 0):
        made["status"] = {"anything": value}
        status, made = server.call("PUT", widgets.path("a/status"), made)
        assert status == 200
        stored = server.call("GET", widgets.path("a"))[1]["status"]["anything"]
        assert (stored, type(stored)) == (value, type(value))
    status, refused = server.call("PUT", widgets.path("a"), {**made, "spec": {"size": True}})
    assert (status, refused["reason"]) == (422, "Invalid")


def test_tables_and_selectors(server: Server, widgets: Widgets) -> None:
    widgets.create("a", size=7)
    widgets.create("b", color="blue")
    accept = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    table = server.call("GET", widgets.path(), headers=accept)[1]
    assert [item["name"] for item in table["columnDefinitions"]] == ["Name", "Size"]
    assert [row["cells"] for row in table["rows"]] == [["a", 7], ["b", 1]]
    answer = server.call("GET", widgets.path(), query={"fieldSelector": "spec.color=blue"})[1]
    assert [item["metadata"]["name"] for item in answer["items"]] == ["b"]
    status, answer = server.call("GET", widgets.path(), query={"fieldSelector": "spec.size=1"})
    assert (status, answer["message"]) == (400, "field label not supported: spec.size")


def test_patches_and_apply(server: Server, widgets: Widgets) -> None:
    widgets.create("a", ports=[{"name": "x"}])
    merge = {"Content-Type": "application/merge-patch+json"}
    status, widget = server.call("PATCH", widgets.path("a"), {"spec": {"size": 2}}, headers=merge)
    assert (status, widget["spec"]["size"]) == (200, 2)
    strategic = {"Content-Type": "application/strategic-merge-patch+json"}
    assert server.call("PATCH", widgets.path("a"), {}, headers=strategic)[0] == 415
    apply = {"Content-Type": "application/apply-patch+yaml"}
    wanted = widgets.obj("a", ports=[{"name": "y"}])
    query = {"fieldManager": "me", "force": "true"}
    status, widget = server.call("PATCH", widgets.path("a"), wanted, headers=apply, query=query)
    assert status == 200, widget
    assert widget["spec"]["ports"] == [{"name": "x"}, {"name": "y"}]
    del wanted["spec"]["ports"]
    widget = server.call("PATCH", widgets.path("a"), wanted, headers=apply, query=query)[1]
    assert widget["spec"]["ports"] == [{"name": "x"}]


def test_a_new_schema_shows_in_stored_objects(server: Server, widgets: Widgets) -> None:
    made = widgets.create("a", color="blue")

    def change(spec: dict[str, Any]) -> None:
        schema = spec["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
        schema["shape"] = {"type": "string", "default": "round"}
        del schema["color"]
        del spec["versions"][0]["selectableFields"]

    widgets.change(change)
    expected = {"size": 1, "shape": "round"}
    assert server.call("GET", widgets.path("a"))[1]["spec"] == expected
    assert server.call("GET", widgets.path())[1]["items"][0]["spec"] == expected
    # Nothing was written: it only shows.
    assert (
        server.call("GET", widgets.path("a"))[1]["metadata"]["resourceVersion"]
        == made["metadata"]["resourceVersion"]
    )


def test_a_deprecated_version_names_the_one_to_use_instead(server: Server, widgets: Widgets) -> None:
    def grow(spec: dict[str, Any]) -> None:
        old = {**copy.deepcopy(spec["versions"][0]), "name": "v1beta1", "storage": False, "deprecated": True}
        spec["versions"] += [old, {**copy.deepcopy(old), "name": "v2alpha1", "deprecated": False}]

    widgets.change(grow)
    connection = server.connection()
    connection.request("GET", widgets.path(version="v1beta1"), headers={"Authorization": f"Bearer {TOKEN}"})
    warning = connection.getresponse().headers["Warning"]
    connection.close()
    assert warning == f'299 - "{widgets.group}/v1beta1 Widget is deprecated; use {widgets.group}/v1 Widget"'


def test_several_versions(server: Server, widgets: Widgets) -> None:
    widgets.create("a", color="blue")

    def add(spec: dict[str, Any]) -> None:
        second = copy.deepcopy(VERSION)
        second["name"] = "v2"
        del second["selectableFields"]
        properties = second["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
        properties["shape"] = {"type": "string"}
        # Defaults are those of the version in which an object is stored.
        first = spec["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
        first["delay"] = {"type": "integer", "default": 15}
        spec["versions"][0]["storage"] = False
        spec["versions"].append(second)

    assert widgets.change(add)["status"]["storedVersions"] == ["v1", "v2"]
    status, answer = server.call("GET", widgets.path("a", "v2"))
    assert (status, answer["apiVersion"]) == (200, f"{widgets.group}/v2")
    body = widgets.obj("b", "v2", shape="round")
    status, made = server.call("POST", widgets.path("", "v2"), body)
    assert (status, made["spec"]["shape"]) == (201, "round")
    assert "shape" not in server.call("GET", widgets.path("b"))[1]["spec"]
    items = server.call("GET", widgets.path())[1]["items"]
    first = {"size": 1, "color": "blue", "delay": 15}
    assert [item["spec"] for item in items] == [first, {"size": 1, "color": "red"}]
    status, answer = server.call("POST", widgets.path(), body)
    assert status == 400 and "does not match the expected API version" in answer["message"]


def test_watches_of_a_removed_version_end(server: Server, widgets: Widgets) -> None:
    def add(spec: dict[str, Any]) -> None:
        spec["versions"].append({**copy.deepcopy(VERSION), "name": "v2", "storage": False})

    widgets.change(add)
    connection = server.connection()
    path = widgets.path("", "v2") + "?watch=true"
    connection.request("GET", path, headers={"Authorization": f"Bearer {TOKEN}"})
    stream = connection.getresponse()
    widgets.create("a")
    event = json.loads(stream.readline())
    assert (event["type"], event["object"]["apiVersion"]) == ("ADDED", f"{widgets.group}/v2")
    widgets.change(lambda spec: spec["versions"][1].update(served=False))
    assert stream.read() == b""
    assert server.call("GET", widgets.path("", "v2"))[0] == 404
    connection.close()


def test_deleting_a_definition_deletes_its_objects(server: Server, widgets: Widgets) -> None:
    made = widgets.create("a")
    made["metadata"]["finalizers"] = ["wait"]  # which a built-in kind would not take
    assert server.call("PUT", widgets.path("a"), made)[0] == 200
    widgets.create("b")
    server.call("DELETE", f"{CRDS}/{widgets.name}")
    until(lambda: server.call("GET", widgets.path("b"))[0] == 404)
    assert widgets.get()["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
    status, answer = server.call("POST", widgets.path(), widgets.obj("c"))
    assert status == 405 and "terminating" in answer["message"]
    merge = {"Content-Type": "application/merge-patch+json"}
    patch = {"metadata": {"finalizers": None}}
    assert server.call("PATCH", widgets.path("a"), patch, headers=merge)[0] == 200
    until(lambda: not widgets.get())


def test_names_that_are_taken(server: Server, widgets: Widgets) -> None:
    other = Widgets(server)
    other.group, other.name = widgets.group, f"others.{widgets.group}"
    other.body["metadata"]["name"] = other.name
    other.body["spec"] |= {"group": widgets.group, "names": {"plural": "others", "kind": "Widget"}}
    assert server.call("POST", CRDS, other.body)[0] == 201
    until(lambda: other.condition("NamesAccepted") == "False")
    assert other.condition("Established") == "False"
    server.call("DELETE", f"{CRDS}/{widgets.name}")
    until(lambda: other.condition("Established") == "True")
    server.call("DELETE", f"{CRDS}/{other.name}")


def test_rules(server: Server, widgets: Widgets) -> None:
    rule = {"rule": "!has(oldSelf.size) || self.size >= oldSelf.size", "message": "may only grow"}

    def add(spec: dict[str, Any]) -> None:
        schema = spec["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
        schema["x-kubernetes-validations"] = [rule]

    widgets.change(add)
    made = widgets.create("a", size=3)
    made["spec"]["size"] = 2
    status, answer = server.call("PUT", widgets.path("a"), made)
    assert status == 422 and "spec: Invalid value: may only grow" in answer["message"]
    broken = Widgets(server)
    schema = broken.body["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["x-kubernetes-validations"] = [{"rule": "self.spec.size <"}]
    status, answer = server.call("POST", CRDS, broken.body)
    assert status == 422
    path = "spec.validation.openAPIV3Schema.x-kubernetes-validations[0].rule"
    assert answer["details"]["causes"][0]["field"] == path


def test_kubectl_knows_it(server: Server, widgets: Widgets) -> None:
    widgets.create("a", size=4)
    name = f"widgets.{widgets.group}"
    server.kubectl("wait", "--for=condition=Established", f"crd/{name}")
    assert "a      4" in server.kubectl("get", name)
    explained = server.kubectl("explain", "widgets.spec", f"--api-version={widgets.group}/v1")
    assert "size\t<integer> -required-" in explained
    server.kubectl("patch", name, "a", "--type=merge", "-p", '{"spec": {"size": 5}}')
    server.kubectl("delete", name, "a")
