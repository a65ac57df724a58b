"""An object that is not there: the error says whether its namespace is."""

from __future__ import annotations

from typing import Any, cast

import pytest

from pybernetes.tools.kubectl.connection.client import Client
from pybernetes.tools.kubectl.errors import ApiError
from pybernetes.tools.kubectl.resources.built_in import built_in
from pybernetes.tools.kubectl.resources.reading import read


class Server:
    """A server with one namespace, or whose namespaces may not be read."""

    def __init__(self, reason: str = "NotFound") -> None:
        self.reason = reason
        self.asked: list[str] = []

    def get(self, *_: Any, **__: Any) -> Any:
        raise ApiError({"reason": "NotFound", "message": "no object"}, 404)

    def json(self, method: str, path: str) -> Any:
        self.asked.append(f"{method} {path}")
        if path != "/api/v1/namespaces/there":
            raise ApiError({"reason": self.reason, "message": "no namespace"}, 404)


@pytest.mark.parametrize(
    ("namespace", "reason", "message", "asked"),
    [
        ("gone", "NotFound", "no namespace", ["GET /api/v1/namespaces/gone"]),
        ("there", "NotFound", "no object", ["GET /api/v1/namespaces/there"]),
        ("gone", "Forbidden", "no object", ["GET /api/v1/namespaces/gone"]),
        ("default", "NotFound", "no object", []),
        ("", "NotFound", "no object", []),
    ],
)
def test_the_namespace_is_looked_for(namespace: str, reason: str, message: str, asked: list[str]) -> None:
    server = Server(reason)
    with pytest.raises(ApiError) as caught:
        read(cast(Client, server), built_in("Pod"), namespace, "a")
    assert (caught.value.message, server.asked) == (message, asked)
