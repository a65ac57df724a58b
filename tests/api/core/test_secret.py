import base64

import pytest

from pybernetes.api.core.secret import RESOURCE
from pybernetes.api.resource import Object
from tests.api.writes import create, row_by_name, update


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def test_texts_become_data() -> None:
    secret = create(RESOURCE, {"data": {"a": encoded("1"), "b": encoded("2")}, "stringData": {"b": "3"}})[0]
    assert secret["data"] == {"a": encoded("1"), "b": encoded("3")}
    assert secret["type"] == "Opaque" and "stringData" not in secret
    assert row_by_name(RESOURCE, secret) == {"Name": "x", "Type": "Opaque", "Data": 2}


REDACTED = 'data[.dockercfg]: Invalid value: "<secret contents redacted>": '


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        ({"data": {"..": ""}}, ['data[..]: Invalid value: "..": must not be \'..\'']),
        ({"data": {"a": encoded("x" * (1024 * 1024 + 1))}}, ["data: Too long: may not be more than 1048576 bytes"]),
        ({"data": {"a": encoded("x" * (1024 * 1024))}}, []),
        ({"type": "kubernetes.io/tls"}, ["data[tls.crt]: Required value", "data[tls.key]: Required value"]),
        ({"type": "kubernetes.io/dockercfg"}, ["data[.dockercfg]: Required value"]),
        ({"type": "kubernetes.io/dockercfg", "stringData": {".dockercfg": "x"}},
         [REDACTED + "invalid character 'x' looking for beginning of value"]),
        ({"type": "kubernetes.io/dockercfg", "stringData": {".dockercfg": "[]"}},
         [REDACTED + "json: cannot unmarshal array into Go value of type map[string]interface {}"]),
        ({"type": "kubernetes.io/dockercfg", "stringData": {".dockercfg": "{"}}, [REDACTED + "unexpected end of JSON input"]),
        ({"type": "kubernetes.io/dockerconfigjson", "stringData": {".dockerconfigjson": "{}"}}, []),
        ({"type": "kubernetes.io/basic-auth"}, ["data[username]: Required value", "data[password]: Required value"]),
        ({"type": "kubernetes.io/basic-auth", "stringData": {"password": ""}}, []),
        ({"type": "kubernetes.io/ssh-auth", "stringData": {"ssh-privatekey": ""}}, ["data[ssh-privatekey]: Required value"]),
        ({"type": "kubernetes.io/service-account-token"},
         ["metadata.annotations[kubernetes.io/service-account.name]: Required value"]),
        ({"type": "anything"}, []),
    ],
)  # fmt: skip
def test_checks(obj: Object, expected: list[str]) -> None:
    assert create(RESOURCE, obj)[1] == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"type": "b"}, ['type: Invalid value: "b": field is immutable']),
        ({"data": {"a": encoded("2")}}, ["data: Forbidden: field is immutable when `immutable` is set"]),
        ({"immutable": None}, ["immutable: Forbidden: field is immutable when `immutable` is set"]),
        ({"metadata.labels": {"a": "b"}}, []),
    ],
)
def test_updates_of_an_immutable_secret(changes: Object, expected: list[str]) -> None:
    old = create(RESOURCE, {"type": "a", "data": {"a": encoded("1")}, "immutable": True})[0]
    assert update(RESOURCE, old, changes)[1] == expected


def test_warnings_about_key_pairs() -> None:
    assert RESOURCE.warnings is not None
    secret = create(RESOURCE, {"type": "kubernetes.io/tls", "stringData": {"tls.crt": "x", "tls.key": "y"}})[
        0
    ]
    assert RESOURCE.warnings(secret, None) == ["tls: failed to find any PEM data in certificate input"]
    assert RESOURCE.warnings(create(RESOURCE, {})[0], None) == []
