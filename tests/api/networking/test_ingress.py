from typing import Any

import pytest

from pybernetes.api.networking import ingress
from pybernetes.api.networking.ingress import RESOURCE
from pybernetes.api.resource import Object
from tests.api.writes import create_errors, created, row, status_errors

BACKEND = {"service": {"name": "web", "port": {"number": 80}}}
CLASS = "kubernetes.io/ingress.class"


def rules(**path: Any) -> Object:
    return {"rules": [{"http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": BACKEND, **path}]}}]}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, ["spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"]),
        (rules(), []),
        (
            rules(pathType=None),
            ["spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified"],
        ),
        (
            rules(path="a//b/.."),
            [
                'spec.rules[0].http.paths[0].path: Invalid value: "a//b/..": must be an absolute path',
                "spec.rules[0].http.paths[0].path: Invalid value: \"a//b/..\": must not contain '//'",
                "spec.rules[0].http.paths[0].path: Invalid value: \"a//b/..\": cannot end with '/..'",
            ],
        ),
        (rules(path="", pathType="ImplementationSpecific"), []),
        (
            rules(pathType="Regex"),
            [
                'spec.rules[0].http.paths[0].pathType: Unsupported value: "Regex": '
                'supported values: "Exact", "ImplementationSpecific", "Prefix"'
            ],
        ),
        ({"rules": [{"http": {}}]}, ["spec.rules[0].http.paths: Required value"]),
        (
            {"rules": [{"host": "10.0.0.1"}]},
            ['spec.rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address'],
        ),
        ({"rules": [{"host": "*.example.com"}]}, []),
        (
            {"defaultBackend": {}},
            ['spec.defaultBackend: Invalid value: "": resource or service backend is required'],
        ),
        (
            {"defaultBackend": {**BACKEND, "resource": {"kind": "a", "name": "b"}}},
            ['spec.defaultBackend: Invalid value: "": cannot set both resource and service backends'],
        ),
        (
            {"defaultBackend": {"resource": {"name": "a/b"}}},
            [
                "spec.defaultBackend.resource.kind: Required value",
                "spec.defaultBackend.resource.name: Invalid value: \"a/b\": may not contain '/'",
            ],
        ),
        (
            {"defaultBackend": {"service": {"name": "web", "port": {"name": "a", "number": 1}}}},
            ['spec.defaultBackend: Invalid value: "": cannot set both port name & port number'],
        ),
        (
            {"defaultBackend": {"service": {}}},
            [
                "spec.defaultBackend.service.name: Required value",
                "spec.defaultBackend: Required value: port name or number is required",
            ],
        ),
    ],
)
def test_create(spec: Object, expected: list[str]) -> None:
    assert create_errors(RESOURCE, {"spec": spec}) == expected


def test_class_annotation() -> None:
    spec = {"defaultBackend": BACKEND}
    obj = {"metadata": {"name": "a", "annotations": {CLASS: "x"}}, "spec": spec}
    assert ingress.warnings(created(RESOURCE, obj), None) == [
        f"annotation \"{CLASS}\" is deprecated, please use 'spec.ingressClassName' instead"
    ]
    obj["spec"] = {**spec, "ingressClassName": "y"}
    assert create_errors(RESOURCE, obj) == [
        f'annotations.{CLASS}: Invalid value: "x": must match `ingressClassName` when both are specified'
    ]


def test_status() -> None:
    status = {"loadBalancer": {"ingress": [{"ip": "01.2.3.4"}, {"hostname": "1.2.3.4"}, {"ip": "::1"}]}}
    path = "status.loadBalancer.ingress"
    assert status_errors(RESOURCE, {"spec": {"defaultBackend": BACKEND}}, status) == [
        f'{path}[0].ip: Invalid value: "01.2.3.4": must not have leading 0s',
        f'{path}[1].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
    ]


@pytest.mark.parametrize(
    ("hosts", "shown"),
    [
        ((), "*"),
        (("a", "b", "c"), "a,b,c"),
        (("a", "b", "c", "d", "e"), "a,b,c + 2 more..."),
        (("a", "b", "c", ""), "a,b,c + 1 more..."),
        (("", "a", "b", "c"), "a,b,c"),
    ],
)
def test_hosts(hosts: tuple[str, ...], shown: str) -> None:
    spec = {"rules": [{"host": host} for host in hosts], "tls": [{}]}
    status = {"loadBalancer": {"ingress": [{"ip": "10.0.0.2"}, {"hostname": "a"}]}}
    assert row(RESOURCE, {"spec": spec, "status": status}) == [
        "name",
        "<none>",
        shown,
        "10.0.0.2,a",
        "80, 443",
    ]
