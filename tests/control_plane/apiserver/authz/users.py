"""Users of a running server with RBAC and Node authorization, who may do little."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.servers import TOKEN, Server, running

Object = dict[str, Any]
RBAC, AUTHORIZATION = "/apis/rbac.authorization.k8s.io/v1", "/apis/authorization.k8s.io/v1"
TOKENS = f"""{TOKEN},admin,admin,"system:masters"
nobody,nobody,u1,"strangers"
maker,maker,u2,"ops,dev"
kubelet,system:node:n1,u3,"system:nodes"
"""


class As:
    """A user on one connection."""

    def __init__(self, server: Server, token: str) -> None:
        self.connection: http.client.HTTPSConnection = server.connection()
        self.token = token

    def __call__(
        self, method: str, path: str, body: Any = None, content_type: str = "application/json"
    ) -> tuple[int, Any]:
        headers = {"Content-Type": content_type} | (
            {"Authorization": f"Bearer {self.token}"} if self.token else {}
        )
        self.connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = self.connection.getresponse()
        text = response.read()
        return response.status, json.loads(text) if text.startswith(b"{") else text.decode()


def grant(admin: As, name: str, *rules: Object, to: Object, namespace: str = "") -> None:
    assert admin("POST", f"{RBAC}/clusterroles", {"metadata": {"name": name}, "rules": list(rules)})[0] == 201
    binding = {"metadata": {"name": name}, "roleRef": {"kind": "ClusterRole", "name": name}, "subjects": [to]}
    where = f"namespaces/{namespace}/rolebindings" if namespace else "clusterrolebindings"
    status, answer = admin("POST", f"{RBAC}/{where}", binding)
    assert status == 201, answer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Yield a server with the users of ``users``; overrides the one of the other folders."""
    directory = tmp_path_factory.mktemp("authz")
    tokens = directory / "users.csv"
    tokens.write_text(TOKENS)
    with running(directory, "--storage-backend=memory", f"--token-auth-file={tokens}") as started:
        yield started


@pytest.fixture
def admin(server: Server) -> As:
    """Return somebody who may do everything."""
    return As(server, TOKEN)


@pytest.fixture
def nobody(server: Server) -> As:
    """Return somebody with no rights but those of every user."""
    return As(server, "nobody")
