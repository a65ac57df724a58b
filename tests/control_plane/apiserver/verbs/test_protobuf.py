"""Answers in protobuf: what Go clients ask for first."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from pybernetes.api import protobuf
from pybernetes.api.resource import Object
from pybernetes.api.schema import definition_name
from pybernetes.lib import protobuf_wire as wire
from tests.control_plane.apiserver.verbs.config_maps import make, path
from tests.servers import TOKEN, Server, running
from tests.support import until

META = "io.k8s.apimachinery.pkg.apis.meta.v1."
PARTIAL = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
CRD: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "gears.protobuf.example.com"},
    "spec": {
        "group": "protobuf.example.com",
        "names": {"plural": "gears", "kind": "Gear"},
        "scope": "Namespaced",
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
            "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}],
    },
}  # fmt: skip


@contextmanager
def asked(
    server: Server, method: str, where: str, accept: str = protobuf.MEDIA_TYPE, body: Any = None, **query: Any
) -> Iterator[HTTPResponse]:
    connection = server.connection()
    headers = {"Authorization": f"Bearer {TOKEN}", "Accept": accept, "Content-Type": "application/json"}
    connection.request(method, f"{where}?{urlencode(query)}", body, headers)
    try:
        yield connection.getresponse()
    finally:
        connection.close()


def call(server: Server, method: str, where: str, accept: str = protobuf.MEDIA_TYPE, **query: Any) -> Object:
    with asked(server, method, where, accept, **query) as response:
        assert response.headers["Content-Type"] == protobuf.MEDIA_TYPE
        return decode(response.read())


def name_of(group: str, version: str, kind: str) -> str:
    own = kind in ("Status", "PartialObjectMetadata", "PartialObjectMetadataList")
    return META + kind if own else definition_name(group, version, kind)


def decode(data: bytes) -> Object:
    return protobuf.decode(data, ("", "", ""), name_of)


def zeroless(obj: Object) -> Object:
    """Return an object of JSON without the nulls that protobuf has no form for."""
    return {
        key: zeroless(value) if isinstance(value, dict) else value
        for key, value in obj.items()
        if value is not None
    }


def test_one_object(server: Server, namespace: str) -> None:
    made = make(server, namespace, "one", tier="front")
    for _ in range(2):  # the second comes from what was kept
        assert call(server, "GET", f"{path(namespace)}/one") == zeroless(made)


def test_lists_are_those_of_json(server: Server, namespace: str) -> None:
    for index in range(5):
        make(server, namespace, f"c{index}", odd=str(index % 2))
    for query in ({}, {"limit": 2}, {"labelSelector": "odd=1"}, {"fieldSelector": "metadata.name=c3"}):
        expected = server.call("GET", path(namespace), query=query)[1]
        for _ in range(2):
            assert call(server, "GET", path(namespace), **query) == expected
    make(server, namespace, "c9")
    assert len(call(server, "GET", path(namespace))["items"]) == 6


def test_writes_answer_in_protobuf(server: Server, namespace: str) -> None:
    body = b'{"metadata":{"name":"w"},"data":{"a":"b"}}'
    made = call(server, "POST", path(namespace), body=body)
    assert made["data"] == {"a": "b"} and made["metadata"]["uid"]
    changed = call(server, "PUT", f"{path(namespace)}/w", body=b'{"metadata":{"name":"w"},"data":{"a":"c"}}')
    assert changed["data"] == {"a": "c"}
    done = call(server, "DELETE", f"{path(namespace)}/w")
    assert (done["kind"], done["status"], done["details"]["name"]) == ("Status", "Success", "w")


def test_errors(server: Server, namespace: str) -> None:
    status = call(server, "GET", f"{path(namespace)}/nothing")
    assert (status["kind"], status["code"], status["reason"]) == ("Status", 404, "NotFound")
    assert status["details"] == {"name": "nothing", "kind": "configmaps"}
    with asked(server, "GET", path(namespace), "application/xml") as response:
        text = "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf"
        assert response.status == 406 and text in response.read().decode()


def test_metadata_alone(server: Server, namespace: str) -> None:
    made = make(server, namespace, "m")
    partial = call(server, "GET", f"{path(namespace)}/m", PARTIAL)
    assert partial == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": made["metadata"],
    }
    listed = call(server, "GET", path(namespace), PARTIAL.replace("Metadata;", "MetadataList;"))
    assert listed["items"] == [{"metadata": made["metadata"]}]


def test_tables_and_the_order_of_wishes(server: Server, namespace: str) -> None:
    """A table has no form in protobuf, so that the next wish counts."""
    table = ";as=Table;g=meta.k8s.io;v=v1"
    accept = f"{protobuf.MEDIA_TYPE}{table},application/json{table},application/json"
    with asked(server, "GET", path(namespace), accept) as response:
        assert response.headers["Content-Type"] == "application/json" and b'"kind":"Table"' in response.read()
    with asked(server, "GET", path(namespace), f"application/json,{protobuf.MEDIA_TYPE}") as response:
        assert response.headers["Content-Type"] == "application/json"


def events(response: HTTPResponse) -> Iterator[tuple[str, Object]]:
    while size := response.read(4):
        parts = dict(wire.fields(response.read(struct.unpack(">I", size)[0])))
        yield parts[1].decode(), decode(dict(wire.fields(parts[2]))[1])  # type: ignore[arg-type,union-attr]


def test_a_watch(server: Server, namespace: str) -> None:
    made = make(server, namespace, "w")
    query = {
        "watch": "1",
        "sendInitialEvents": "true",
        "resourceVersionMatch": "NotOlderThan",
        "allowWatchBookmarks": "true",
    }
    accept = f"{protobuf.MEDIA_TYPE};stream=watch"
    with asked(server, "GET", path(namespace), accept, **query) as response:
        assert response.headers["Content-Type"] == accept
        stream = events(response)
        assert next(stream) == ("ADDED", zeroless(made))
        type_, mark = next(stream)
        assert (type_, mark["kind"]) == ("BOOKMARK", "ConfigMap")
        assert mark["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
        server.call("DELETE", f"{path(namespace)}/w")
        type_, gone = next(stream)
        assert type_ == "DELETED" and int(gone["metadata"]["resourceVersion"]) > int(
            made["metadata"]["resourceVersion"]
        )


def test_a_watch_of_metadata(server: Server, namespace: str) -> None:
    made = make(server, namespace, "w")
    query = {
        "watch": "1",
        "sendInitialEvents": "true",
        "resourceVersionMatch": "NotOlderThan",
        "allowWatchBookmarks": "true",
    }
    with asked(server, "GET", path(namespace), PARTIAL, **query) as response:
        stream = events(response)
        assert next(stream)[1] == {
            "kind": "PartialObjectMetadata",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": made["metadata"],
        }
        type_, mark = next(stream)
        assert (type_, mark["kind"]) == ("BOOKMARK", "PartialObjectMetadata")
        assert mark["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_a_watch_of_a_version_that_is_gone(server: Server, namespace: str) -> None:
    with asked(server, "GET", path(namespace), watch="1", resourceVersion="10000000") as response:
        assert decode(response.read())["reason"] == "Timeout"


def test_custom_resources_have_metadata_in_protobuf(server: Server, namespace: str) -> None:
    server.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", CRD)
    where = f"/apis/protobuf.example.com/v1/namespaces/{namespace}/gears"
    gear = {"apiVersion": "protobuf.example.com/v1", "kind": "Gear", "metadata": {"name": "g"}}
    try:
        until(lambda: server.call("GET", where)[0] == 200)
        status, made = server.call("POST", where, gear)
        assert status == 201
        assert call(server, "GET", f"{where}/g", PARTIAL)["metadata"] == made["metadata"]
        with asked(server, "GET", f"{where}/g", f"{protobuf.MEDIA_TYPE},application/json") as response:
            assert response.headers["Content-Type"] == "application/json"
        assert call(server, "GET", f"{where}/g")["message"].endswith("application/json, application/yaml")
    finally:
        server.call(
            "DELETE", f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{CRD['metadata']['name']}"
        )


@pytest.mark.parametrize("where", ["/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"])
def test_reviews(server: Server, where: str) -> None:
    body = b'{"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}'
    assert call(server, "POST", where, body=body)["status"]["allowed"] is True


def test_messages_in_the_store(tmp_path: Path) -> None:
    """What is stored as protobuf is the same for clients, also after a restart."""
    flag = f"--storage-media-type={protobuf.MEDIA_TYPE}"
    with running(tmp_path, flag) as server:
        made = make(server, "default", "m", a="b")
        changed = server.call("PUT", f"{path('default')}/m", {**made, "data": {"k": "v"}})[1]
    assert any(b"k8s\0" in file.read_bytes() for file in (tmp_path / "data").rglob("*") if file.is_file())
    with running(tmp_path, "--storage-media-type=application/json") as server:
        assert server.call("GET", f"{path('default')}/m")[1] == changed
