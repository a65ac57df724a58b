"""A Deployment that patches are applied to, and how an input becomes a patch."""

from __future__ import annotations

from typing import Any

from pybernetes.api import schema
from pybernetes.api.text import json_reader

TYPE = schema.kind_type("apps", "v1", "Deployment")


class NoInput(Exception):
    """The input is no JSON, which is another target's business."""


def deployment() -> dict[str, Any]:
    """Return a Deployment with lists of all kinds, a copy of its own."""
    containers = [
        {"name": name, "image": f"{name}:1", "ports": [{"containerPort": 80, "protocol": "TCP"}],
         "env": [{"name": "A", "value": "b"}], "args": ["x", "y"]}
        for name in ("web", "side")
    ]  # fmt: skip
    return {
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web"}, "finalizers": ["example.com/a", "example.com/b"]},
        "spec": {
            "replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": containers, "tolerations": [{"key": "a", "operator": "Exists"}], "volumes": [{"name": "v", "emptyDir": {}}]},
            },
        },
    }  # fmt: skip


def value_of(data: bytes) -> Any:
    """Return the JSON value of an input."""
    try:
        return json_reader.loads(data)
    except json_reader.JsonError:
        raise NoInput from None


WORDS = (
    b'"metadata"', b'"spec"', b'"template"', b'"containers"', b'"name"', b'"ports"', b'"containerPort"', b'"finalizers"', b'"env"',
    b'"$patch":"delete"', b'"$patch":"replace"', b'"$retainKeys":["name"]', b'"$setElementOrder/containers":[{"name":"side"}]',
    b'"$deleteFromPrimitiveList/finalizers":["example.com/a"]', b'"strategy"', b'"replicas"', b"null", b"{}", b"[]", b'"web"', b"1", b",", b":",
    b'"managedFields"', b'"volumes"', b'"args"', b'"labels"', b'"a.b/c"',
)  # fmt: skip
SEEDS = (
    b'{"spec":{"replicas":5,"template":{"spec":{"containers":[{"name":"web","image":"web:2"},{"name":"new","image":"n"}]}}}}',
    b'{"spec":{"template":{"spec":{"containers":[{"name":"side","$patch":"delete"}],"$setElementOrder/containers":[{"name":"web"}]}}}}',
    b'{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/a"],"labels":{"app":null,"x":"y"}}}',
    b'{"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}}',
)
