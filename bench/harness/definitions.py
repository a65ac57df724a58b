"""Custom resource definitions for benchmarks and tests: made, used and deleted."""

import time
from typing import Any

from bench.harness.api_calls import ApiCalls

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
Object = dict[str, Any]
SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "minimum": 1},
                "name": {"type": "string", "maxLength": 64, "default": "none"},
                "ports": {
                    "type": "array",
                    "maxItems": 16,
                    "items": {"type": "object", "properties": {"port": {"type": "integer"}}},
                },
            },
            "x-kubernetes-validations": [{"rule": "self.size < 100 || self.name != 'none'"}],
        },
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}


def definition(number: int) -> Object:
    """Return a definition of a kind of its own."""
    kind = f"Bench{number}"
    return {
        "metadata": {"name": f"bench{number}s.bench{number % 10}.example.com"},
        "spec": {
            "group": f"bench{number % 10}.example.com",
            "scope": "Namespaced",
            "names": {"plural": f"bench{number}s", "singular": kind.lower(), "kind": kind},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": SCHEMA},
                }
            ],
        },
    }


def place(crd: Object) -> str:
    """Return where the objects of a definition are."""
    spec = crd["spec"]
    return f"/apis/{spec['group']}/v1/namespaces/default/{spec['names']['plural']}"


def make(calls: ApiCalls, count: int) -> float:
    """Make definitions, and two objects of each, list them, and return the seconds that it took."""
    begin = time.perf_counter()
    for number in range(count):
        crd = definition(number)
        calls.expect(201, "POST", DEFINITIONS, crd)
        _use(calls, crd)
    return time.perf_counter() - begin


def _use(calls: ApiCalls, crd: Object) -> None:
    spec, path = crd["spec"], place(crd)
    kind = {"apiVersion": f"{spec['group']}/v1", "kind": spec["names"]["kind"]}
    deadline = time.monotonic() + 30
    for name in ("a", "b"):
        body = {**kind, "metadata": {"name": name}, "spec": {"size": 3, "ports": [{"port": 80}]}}
        while calls.call("POST", path, body)[0] != 201:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{path} is not served")
    calls.expect(200, "GET", path)


def remove(calls: ApiCalls, count: int) -> None:
    """Delete the definitions, and wait until they are gone."""
    for number in range(count):
        calls.expect(200, "DELETE", f"{DEFINITIONS}/{definition(number)['metadata']['name']}")
    deadline = time.monotonic() + 300
    while calls.expect(200, "GET", f"{DEFINITIONS}?limit=1")["items"]:
        if time.monotonic() > deadline:
            raise RuntimeError("definitions are not deleted")
