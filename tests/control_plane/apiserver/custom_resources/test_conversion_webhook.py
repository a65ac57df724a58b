"""Custom resources that a webhook converts between versions, on every store."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from pybernetes.api.customresource.names import is_true
from tests.hook_server import HookServer, hook_server
from tests.servers import TOKEN, Server
from tests.support import require_program, until

Object = dict[str, Any]
Define = Callable[[Object], None]
GROUP = "conversion.example.com"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
V1 = {"type": "object", "properties": {"hostPort": {"type": "string"}, "keep": {"type": "string"}}}
V2 = {
    "type": "object",
    "properties": {
        "host": {"type": "string"},
        "port": {"type": "string"},
        "keep": {"type": "string", "default": "yes"},
    },
}


@pytest.fixture
def hooks(tmp_path: Path) -> Iterator[HookServer]:
    with hook_server(tmp_path) as made:
        made.respond = convert
        yield made


def convert(path: str, review: Object) -> Object:
    """Put host and port together, and take them apart."""
    request = review["request"]
    made = [one(obj, request["desiredAPIVersion"]) for obj in request["objects"]]
    response = {"uid": request["uid"], "convertedObjects": made, "result": {"status": "Success"}}
    return {"kind": "ConversionReview", "apiVersion": review["apiVersion"], "response": response}


def one(obj: Object, version: str) -> Object:
    obj = {**obj, "apiVersion": version}
    if version.endswith("/v2"):
        host, _, port = obj.pop("hostPort", "").partition(":")
        obj |= {"host": host, "port": port}
    else:
        obj["hostPort"] = f"{obj.pop('host', '')}:{obj.pop('port', '')}"
    return obj


def definition(hooks: HookServer, plural: str, storage: str = "v1") -> Object:
    webhook = {"clientConfig": hooks.client("/convert"), "conversionReviewVersions": ["v1"]}
    return {
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": plural[:-1], "kind": plural[:-1].capitalize()},
            "conversion": {"strategy": "Webhook", "webhook": webhook},
            "versions": [
                {
                    "name": name,
                    "served": True,
                    "storage": name == storage,
                    "schema": {"openAPIV3Schema": schema},
                    "selectableFields": [{"jsonPath": field}],
                }
                for name, schema, field in (("v1", V1, ".hostPort"), ("v2", V2, ".host"))
            ],
        },
    }


@pytest.fixture
def define(server: Server) -> Iterator[Define]:
    """Make definitions, wait until they are served, and remove them after the test."""
    made: list[str] = []

    def make(wanted: Object) -> None:
        status, answer = server.call("POST", DEFINITIONS, wanted)
        assert status == 201, answer
        name = wanted["metadata"]["name"]
        made.append(name)
        until(lambda: is_true(server.call("GET", f"{DEFINITIONS}/{name}")[1], "Established"))

    def is_gone(name: str) -> bool:
        return server.call("GET", f"{DEFINITIONS}/{name}")[0] == 404

    yield make
    for name in made:
        assert server.call("DELETE", f"{DEFINITIONS}/{name}")[0] == 200
        until(partial(is_gone, name))


def path(plural: str, version: str, name: str = "") -> str:
    return f"/apis/{GROUP}/{version}/namespaces/default/{plural}" + (f"/{name}" if name else "")


def test_objects_are_read_and_written_at_both_versions(
    server: Server, hooks: HookServer, define: Define
) -> None:
    define(definition(hooks, "places"))
    body = {"kind": "Place", "apiVersion": f"{GROUP}/v1", "metadata": {"name": "a"}, "hostPort": "h:1"}
    status, made = server.call("POST", path("places", "v1"), body)
    assert status == 201 and not hooks.asked  # the storage version needs nobody
    status, place = server.call("GET", path("places", "v2", "a"))
    assert (place["host"], place["port"]) == ("h", "1")
    assert "keep" not in place  # defaults are those of the version in which an object is stored
    assert place["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
    place["port"] = "2"
    status, changed = server.call("PUT", path("places", "v2", "a"), place)
    assert (status, changed["port"]) == (200, "2"), changed
    assert server.call("GET", path("places", "v1", "a"))[1]["hostPort"] == "h:2"
    merge = {"Content-Type": "application/merge-patch+json"}
    status, changed = server.call("PATCH", path("places", "v2", "a"), {"host": "g"}, headers=merge)
    assert (status, changed["host"], changed["apiVersion"]) == (200, "g", f"{GROUP}/v2")
    body = {"kind": "Place", "apiVersion": f"{GROUP}/v2", "metadata": {"name": "b"}, "host": "x", "port": "9"}
    assert server.call("POST", path("places", "v2"), body)[0] == 201
    assert server.call("GET", path("places", "v1", "b"))[1]["hostPort"] == "x:9"
    hooks.asked.clear()
    listed = server.call("GET", path("places", "v2"))[1]
    assert [item["host"] for item in listed["items"]] == ["g", "x"]
    assert listed["apiVersion"] == f"{GROUP}/v2"
    server.call("GET", path("places", "v2"))
    assert len(hooks.asked) <= 1  # what was converted once is kept
    chosen = server.call("GET", path("places", "v2"), query={"fieldSelector": "host=x"})[1]
    assert [item["metadata"]["name"] for item in chosen["items"]] == ["b"]
    chosen = server.call("GET", path("places", "v1"), query={"fieldSelector": "hostPort=x:9"})[1]
    assert [item["metadata"]["name"] for item in chosen["items"]] == ["b"]
    assert server.call("DELETE", path("places", "v2", "b"))[0] == 200
    assert server.call("GET", path("places", "v1", "b"))[0] == 404


def test_watches_show_their_own_version(server: Server, hooks: HookServer, define: Define) -> None:
    define(definition(hooks, "roads"))
    body = {"kind": "Road", "apiVersion": f"{GROUP}/v1", "metadata": {"name": "a"}, "hostPort": "h:1"}
    server.call("POST", path("roads", "v1"), body)
    connection = server.connection()
    headers = {"Authorization": f"Bearer {TOKEN}"}
    connection.request("GET", path("roads", "v2") + "?watch=1", headers=headers)
    response = connection.getresponse()

    def event() -> tuple[str, Any]:
        line = json.loads(response.readline())
        return line["type"], line["object"]

    type_, obj = event()
    assert (type_, obj["host"], obj["apiVersion"]) == ("ADDED", "h", f"{GROUP}/v2")
    server.call("POST", path("roads", "v1"), {**body, "metadata": {"name": "b"}, "hostPort": "i:2"})
    type_, obj = event()
    assert (type_, obj["host"], obj["port"]) == ("ADDED", "i", "2")
    server.call("DELETE", path("roads", "v1", "a"))
    type_, obj = event()
    assert (type_, obj["host"]) == ("DELETED", "h")
    # A version that is no longer served ends its watches.
    name = f"roads.{GROUP}"
    stored = server.call("GET", f"{DEFINITIONS}/{name}")[1]
    stored["spec"]["versions"][1]["served"] = False
    assert server.call("PUT", f"{DEFINITIONS}/{name}", stored)[0] == 200
    assert response.readline() == b""
    connection.close()
    assert server.call("GET", path("roads", "v2"))[0] == 404


def test_another_storage_version(server: Server, hooks: HookServer, define: Define) -> None:
    define(definition(hooks, "towns"))
    body = {"kind": "Town", "apiVersion": f"{GROUP}/v1", "metadata": {"name": "a"}, "hostPort": "h:1"}
    server.call("POST", path("towns", "v1"), body)
    name = f"towns.{GROUP}"
    stored = server.call("GET", f"{DEFINITIONS}/{name}")[1]
    for version in stored["spec"]["versions"]:
        version["storage"] = version["name"] == "v2"
    status, stored = server.call("PUT", f"{DEFINITIONS}/{name}", stored)
    assert status == 200, stored
    assert server.call("GET", path("towns", "v2", "a"))[1]["host"] == "h"
    assert server.call("GET", path("towns", "v1", "a"))[1]["hostPort"] == "h:1"
    assert sorted(server.call("GET", f"{DEFINITIONS}/{name}")[1]["status"]["storedVersions"]) == ["v1", "v2"]
    server.call("POST", path("towns", "v1"), {**body, "metadata": {"name": "b"}})
    assert [item["host"] for item in server.call("GET", path("towns", "v2"))[1]["items"]] == ["h", "h"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda said: b"garbage", "failed: couldn't get version/kind; json parse error"),
        (lambda said: said["response"].update(uid="x"), "failed: expected response.uid="),
        (lambda said: said["response"].update(result="x"), "into Go struct field ConversionResponse.response.result"),
        (lambda said: said["response"].update(result={"status": "Failed", "message": "not today"}), "failed: not today"),
        (lambda said: said["response"].update(convertedObjects=[]), "returned 0 objects, expected 1"),
        (
            lambda said: said["response"]["convertedObjects"][0].update(apiVersion="other/v1"),
            "invalid groupVersion (expected conversion.example.com/v2, received other/v1)",
        ),
        (
            lambda said: said["response"]["convertedObjects"][0]["metadata"].update(name="other"),
            "must have the same name: a != other",
        ),
        (
            lambda said: said["response"]["convertedObjects"][0]["metadata"].update(labels={"-": "x"}),
            'returned invalid metadata: metadata.labels: Invalid value: "-"',
        ),
        (lambda said: said["response"]["convertedObjects"].append({}), "returned 2 objects, expected 1"),
        (lambda said: said["response"].update(convertedObjects=[None]), "unexpected end of JSON input"),
        (lambda said: said["response"].update(convertedObjects=["x"]), "cannot unmarshal string"),
        (lambda said: said["response"].update(convertedObjects={}), "cannot unmarshal object"),
        (lambda said: said["response"]["convertedObjects"][0].update(kind="Other"), "invalid kind (expected Failure, received Other)"),
        (lambda said: said["response"]["convertedObjects"][0]["metadata"].update(uid="x"), "must have the same UID"),
        (lambda said: said["response"]["convertedObjects"][0]["metadata"].update(namespace="kube-system"), "must have the same namespace"),
        (lambda said: said["response"]["convertedObjects"][0].update(metadata=[]), "must have the same name: a != "),
        (lambda said: said.update(kind="AdmissionReview"), "failed: no kind"),
        (lambda said: said.update(apiVersion="apiextensions.k8s.io/v1beta1"), "unknown conversion"),
        (lambda said: said.pop("response") and None, "failed: no response provided"),
        (lambda said: b" " * (33 << 20), "response body too large"),
        (lambda said: b'{"response":' + b"[" * 100_000, "exceeded max depth"),
        (lambda said: (302, b"", {"Location": "https://127.0.0.1:1/"}), "status code 302"),
        (lambda said: gzip.compress(json.dumps(said).encode()), "error converting YAML"),
    ],
)  # fmt: skip
def test_a_webhook_that_does_not_do_its_work(
    server: Server, hooks: HookServer, define: Define, change: Any, why: str
) -> None:
    plural, kind = "failures", "Failure"
    define(definition(hooks, plural))
    body = {"kind": kind, "apiVersion": f"{GROUP}/v1", "metadata": {"name": "a"}, "hostPort": "h:1"}
    assert server.call("POST", path(plural, "v1"), body)[0] == 201

    def respond(where: str, review: Object) -> Any:
        said = convert(where, review)
        return change(said) or said

    hooks.respond = respond
    for where in (path(plural, "v2", "a"), path(plural, "v2")):
        status, answer = server.call("GET", where)
        assert status == 500 and why in answer["message"]
    body = {"kind": kind, "apiVersion": f"{GROUP}/v2", "metadata": {"name": "n"}, "host": "h"}
    assert server.call("POST", path(plural, "v2"), body)[0] == 500
    assert server.call("GET", path(plural, "v1", "n"))[0] == 404


def test_a_webhook_cannot_make_objects_change_places(
    server: Server, hooks: HookServer, define: Define
) -> None:
    """Nor identities, versions and owners: what conversion may not change is as it was stored."""
    define(definition(hooks, "swaps"))
    for name in "ab":
        body = {
            "kind": "Swap",
            "apiVersion": f"{GROUP}/v1",
            "metadata": {"name": name},
            "hostPort": f"{name}:1",
        }
        assert server.call("POST", path("swaps", "v1"), body)[0] == 201

    def swap(where: str, review: Object) -> Object:
        said = convert(where, review)
        said["response"]["convertedObjects"].reverse()
        return said

    hooks.respond = swap
    status, answer = server.call("GET", path("swaps", "v2"))
    assert status == 500 and "must have the same name: a != b" in answer["message"]

    def forge(where: str, review: Object) -> Object:
        said = convert(where, review)
        for obj in said["response"]["convertedObjects"]:
            obj["metadata"] |= {
                "resourceVersion": "1",
                "generation": 77,
                "finalizers": ["x/y"],
                "ownerReferences": [{}],
            }
        return said

    hooks.respond = forge
    stored = server.call("GET", path("swaps", "v1"))[1]["items"]
    status, answer = server.call("GET", path("swaps", "v2"))
    assert [item["metadata"] for item in answer["items"]] == [item["metadata"] for item in stored]


@pytest.mark.parametrize("server", ["etcd"], indirect=True)
def test_a_manifest_of_many_definitions_with_kubectl(server: Server, hooks: HookServer) -> None:
    require_program("kubectl")
    plurals = [f"kinds{chr(97 + number)}s" for number in range(6)]
    definitions = [
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            **definition(hooks, plural, "v2"),
        }
        for plural in plurals
    ]
    server.kubectl("apply", "-f", "-", given=yaml.safe_dump_all(definitions))
    names = [f"crd/{plural}.{GROUP}" for plural in plurals]
    server.kubectl("wait", "--for=condition=Established", *names, "--timeout=60s")
    objects = [
        {
            "apiVersion": f"{GROUP}/v1",
            "kind": plural[:-1].capitalize(),
            "metadata": {"name": "a"},
            "hostPort": f"{plural}:{number}",
        }
        for number, plural in enumerate(plurals)
    ]
    server.kubectl("apply", "-f", "-", given=yaml.safe_dump_all(objects))
    for number, plural in enumerate(plurals):
        text = server.kubectl("get", f"{plural}.v2.{GROUP}", "a", "-o", "jsonpath={.host}/{.port}/{.keep}")
        assert text == f"{plural}/{number}/yes"
    # Applied again without changes, and with one, at the version that is not stored.
    again = server.kubectl("apply", "-f", "-", given=yaml.safe_dump_all(objects))
    assert again.count("unchanged") == len(plurals), again
    objects[0]["hostPort"] = "other:1"
    server.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", given=yaml.safe_dump(objects[0]))
    assert server.kubectl("get", f"{plurals[0]}.v2.{GROUP}", "a", "-o", "jsonpath={.host}") == "other"
    assert "hostPort" in server.kubectl("explain", f"{plurals[0]}", f"--api-version={GROUP}/v1")
    server.kubectl("delete", *names, "--timeout=60s")
    assert GROUP not in server.kubectl("get", "crd", "-o", "name")
