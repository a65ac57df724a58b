from typing import Any

import pytest

from pybernetes.api.networking.ingressclass import RESOURCE
from pybernetes.api.resource import Object
from tests.api.writes import create_errors, created, row, update_errors

REFERENCE = {"kind": "Config", "name": "c"}


def spec(**parameters: Any) -> Object:
    return {"spec": {"controller": "example.com/a", "parameters": {**REFERENCE, **parameters}}}


def test_defaults() -> None:
    assert created(RESOURCE, spec())["spec"]["parameters"]["scope"] == "Cluster"


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        ({}, ["spec.controller: Required value"]),
        (
            {"spec": {"controller": "plain"}},
            [
                'spec.controller: Invalid value: "plain": must be a domain-prefixed path (such as "acme.io/foo")',
            ],
        ),
        ({"spec": {"controller": "a/b c"}}, ['spec.controller: Invalid value: "b c": Invalid path']),
        (
            {"spec": {"controller": "a/" + "b" * 250}},
            ["spec.controller: Too long: may not be more than 250 bytes"],
        ),
        (spec(kind=""), ["spec.parameters.kind: Required value"]),
        (
            spec(scope="World"),
            ['spec.parameters.scope: Unsupported value: "World": supported values: "Cluster", "Namespace"'],
        ),
        (
            spec(scope="Namespace"),
            ["spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"],
        ),
        (
            spec(namespace="n"),
            ["spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"],
        ),
    ],
)
def test_create(obj: Object, expected: list[str]) -> None:
    assert create_errors(RESOURCE, obj) == expected


def test_update() -> None:
    other = {"spec": {"controller": "example.com/b"}}
    assert update_errors(RESOURCE, spec(), other) == [
        'spec.controller: Invalid value: "example.com/b": field is immutable'
    ]


def test_columns() -> None:
    marked = {"name": "name", "annotations": {"ingressclass.kubernetes.io/is-default-class": "true"}}
    assert row(RESOURCE, spec(apiGroup="g") | {"metadata": marked}) == [
        "name (default)", "example.com/a", "Config.g/c",
    ]  # fmt: skip
    assert row(RESOURCE, {"spec": {"controller": "a/b"}}) == ["name", "a/b", "<none>"]
