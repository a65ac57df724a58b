"""Mutating webhooks are asked again when others changed the object."""

from __future__ import annotations

from tests.control_plane.apiserver.admission.dynamic.registered_webhooks import (
    Object,
    create,
    hook,
    registered,
)
from tests.hook_server import HookServer, patch
from tests.servers import Server


def test_reinvocation_and_order(server: Server, hooks: HookServer, namespace: str) -> None:
    def respond(path: str, review: Object) -> Object:
        seen = review["request"]["object"].get("data", {})
        return patch(review, {"op": "add", "path": "/data", "value": {**seen, path[1:]: str(len(seen))}})

    hooks.respond = respond
    webhooks = [
        hook(hooks, "/one", "one.example.com", reinvocationPolicy="IfNeeded"),
        hook(hooks, "/two", "two.example.com"),
    ]
    with (
        registered(server, namespace, *webhooks, sort="mutating", name="b"),
        registered(server, namespace, hook(hooks, "/zero", "zero.example.com"), sort="mutating", name="a"),
    ):
        status, made = create(server, namespace)
        assert status == 201
        assert [path for path, _ in hooks.asked] == ["/zero", "/one", "/two", "/one"]
        assert made["data"] == {"zero": "0", "one": "3", "two": "2"}
