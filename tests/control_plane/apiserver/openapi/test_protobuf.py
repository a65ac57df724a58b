import json
from typing import Any

import pytest

from pybernetes.api.resource import Resource
from pybernetes.control_plane.apiserver.openapi import protobuf
from pybernetes.control_plane.apiserver.openapi.openapi import OpenApi

CONFIG_MAPS = Resource(group="", version="v1", kind="ConfigMap", plural="configmaps")


def fields(message: bytes) -> dict[int, list[Any]]:
    """Take a message apart: field number to its values, bytes or numbers."""
    values: dict[int, list[Any]] = {}
    position = 0

    def varint() -> int:
        nonlocal position
        value = shift = 0
        while True:
            byte = message[position]
            position += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while position < len(message):
        key = varint()
        value: Any = varint()
        if key & 7 == 2:
            value, position = message[position : position + value], position + value
        values.setdefault(key >> 3, []).append(value)
    return values


def named(messages: list[bytes]) -> dict[str, bytes]:
    """Return messages with a name (1) and a value (2)."""
    return {fields(message)[1][0].decode(): fields(message)[2][0] for message in messages}


@pytest.fixture(scope="module")
def document() -> dict[int, list[Any]]:
    answer = OpenApi([CONFIG_MAPS]).respond("/openapi/v2", accept=protobuf.MEDIA_TYPES[0])
    assert answer is not None
    status, headers, body = answer
    assert (status, headers["Content-Type"]) == (200, protobuf.CONTENT_TYPE)
    return fields(body)


def test_a_document(document: dict[int, list[Any]]) -> None:
    assert document[1] == [b"2.0"]
    assert fields(document[2][0]) == {1: [b"Kubernetes"], 2: [b"1.37"]}
    assert list(named(fields(document[13][0])[1])) == ["BearerToken"]


def test_a_definition(document: dict[int, list[Any]]) -> None:
    definition = fields(named(fields(document[9][0])[1])["io.k8s.api.core.v1.ConfigMap"])
    assert definition[4][0].startswith(b"ConfigMap holds configuration data")
    assert fields(definition[22][0]) == {1: [b"object"]}
    kinds = fields(named(definition[31])["x-kubernetes-group-version-kind"])[2][0]
    assert json.loads(kinds) == [{"group": "", "version": "v1", "kind": "ConfigMap"}]
    properties = named(fields(definition[25][0])[1])
    assert fields(properties["metadata"])[1] == [
        b"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
    ]
    values = fields(fields(fields(properties["data"])[21][0])[1][0])
    assert fields(values[22][0]) == {1: [b"string"]}


def test_a_path(document: dict[int, list[Any]]) -> None:
    paths = named(fields(document[8][0])[2])
    path = fields(paths["/api/v1/namespaces/{namespace}/configmaps/{name}"])
    patch = fields(path[8][0])
    assert patch[5] == [b"patchCoreV1NamespacedConfigMap"]
    parameters = [fields(fields(item)[1][0]) for item in patch[8]]
    body = fields(parameters[0][1][0])
    assert (body[2], body[4]) == ([b"body"], [1])
    queries = [fields(fields(parameter[2][0])[3][0]) for parameter in parameters[1:]]
    assert [query[4][0] for query in queries] == [b"dryRun", b"fieldManager", b"fieldValidation", b"force"]
    assert queries[0][2] == [b"query"] and queries[0][6] == [b"string"]
    name = fields(fields(fields(fields(path[9][0])[1][0])[2][0])[4][0])
    assert (name[1], name[4], name[5]) == ([1], [b"name"], [b"string"])
    assert sorted(named(fields(patch[9][0])[1])) == ["200", "201", "401"]


def test_long_texts_and_large_numbers() -> None:
    long = "x" * 300
    node = {"description": long, "maxLength": 70_000, "items": {"enum": ["a"]}, "additionalProperties": True}
    message = fields(protobuf.schema(node))
    assert message[4] == [long.encode()]
    assert message[11] == [70_000]
    assert fields(message[21][0]) == {2: [1]}
    assert fields(fields(fields(message[23][0])[1][0])[20][0]) == {2: [b'"a"']}


@pytest.mark.parametrize(
    ("foreign", "written"),
    [
        ({"paths": {"/apis/g/v1/things": {"get": {"responses": {"200": {"description": "OK"}}}}}}, True),
        ({"paths": {"/apis/g/v1/things": {"get": {}}}}, False),
        ({"paths": {"/apis/g/v1/things": []}}, False),
        ({"definitions": {"Thing": {"type": 5}}}, False),
        ({"definitions": {"Thing": {"properties": {"a": "b"}}}}, False),
    ],
)
def test_another_server_breaks_nothing(foreign: dict[str, Any], written: bool) -> None:
    assert protobuf.can_be_written(foreign) is written
    if written:
        openapi = OpenApi()
        openapi.set_foreign("g", "v1", None, json.dumps(foreign).encode())
        answer = openapi.respond("/openapi/v2", accept=protobuf.MEDIA_TYPES[0])
        assert answer is not None and b"/apis/g/v1/things" in answer[2]
