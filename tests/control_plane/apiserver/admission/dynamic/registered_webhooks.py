"""Webhooks that are registered with a running server, and the server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.hook_server import HookServer, hook_server
from tests.servers import Server, running

Object = dict[str, Any]


GROUP = "/apis/admissionregistration.k8s.io/v1"


MAPS = {
    "operations": ["CREATE", "UPDATE"],
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "resources": ["configmaps"],
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Yield a running server."""
    flags = ("--storage-backend=memory",)
    with running(tmp_path_factory.mktemp("webhooks"), *flags) as server:
        yield server


@pytest.fixture
def hooks(tmp_path: Path) -> Iterator[HookServer]:
    """Yield a program on loopback that answers as it is told."""
    with hook_server(tmp_path, ("hook.default.svc",)) as made:
        yield made


@pytest.fixture
def namespace(server: Server) -> str:
    """Return a namespace of the test's own."""
    status, made = server.call("POST", "/api/v1/namespaces", {"metadata": {"generateName": "test-"}})
    assert status == 201
    return made["metadata"]["name"]


def hook(hooks: HookServer, path: str = "/", name: str = "hook.example.com", **more: Any) -> Object:
    return {
        "name": name,
        "clientConfig": hooks.client(path),
        "rules": [MAPS],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        **more,
    }


@contextmanager
def registered(
    server: Server, namespace: str, *webhooks: Object, sort: str = "validating", name: str = "it"
) -> Iterator[None]:
    """Yield a configuration that is about one namespace."""
    plural = f"{sort}webhookconfigurations"
    selector = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    given = [{"namespaceSelector": selector, **webhook} for webhook in webhooks]
    status, made = server.call("POST", f"{GROUP}/{plural}", {"metadata": {"name": name}, "webhooks": given})
    assert status == 201, made
    try:
        yield
    finally:
        server.call("DELETE", f"{GROUP}/{plural}/{name}")


def create(server: Server, namespace: str, name: str = "m", **more: Any) -> tuple[int, Object]:
    query = more.pop("query", None)
    body = {"metadata": {"name": name, **more.pop("metadata", {})}, **more}
    return server.call("POST", f"/api/v1/namespaces/{namespace}/configmaps", body, query=query)
