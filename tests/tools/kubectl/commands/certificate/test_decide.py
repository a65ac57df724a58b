"""Decisions about certificate signing requests: one is made once, and made again when somebody else was faster."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.tools.kubectl.commands.certificate import _decide
from pybernetes.tools.kubectl.errors import ApiError, CommandError
from pybernetes.tools.kubectl.resources.discovery import Resource
from pybernetes.tools.kubectl.resources.info import Info

_ENTRY = {"type": "Approved", "status": "True"}
_REQUESTS = Resource(
    "certificates.k8s.io", "v1", "certificatesigningrequests", "certificatesigningrequest",
    "CertificateSigningRequest", False,
)  # fmt: skip


def request(*types: str) -> dict[str, Any]:
    return {
        "metadata": {"name": "ann"},
        "status": {"conditions": [{"type": condition} for condition in types]},
    }


class Server:
    """Refuses as many updates as it is told to, because of a conflict."""

    def __init__(self, conflicts: int) -> None:
        self.conflicts, self.sent = conflicts, 0

    def replace(self, resource: Any, namespace: str, name: str, value: Any, subresource: str) -> Any:
        assert subresource == "approval" and value["status"]["conditions"][-1]["type"] == "Approved"
        self.sent += 1
        if self.sent <= self.conflicts:
            raise ApiError({"reason": "Conflict", "code": 409, "message": "changed"})
        return value

    def get(self, resource: Any, namespace: str, name: str) -> Any:
        return request()


def decided(
    server: Server, value: dict[str, Any], force: bool = False, resource: Resource = _REQUESTS
) -> None:
    context = SimpleNamespace(client=server, flags=SimpleNamespace(force=force))
    _decide._add(context, Info(resource, "", "ann", value, ""), _ENTRY)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "force", "conflicts", "sent"),
    [
        (request(), False, 0, 1),
        (request(), False, 10, 11),
        (request("Approved"), False, 0, 0),
        (request("Approved"), True, 0, 1),
    ],
)
def test_a_request_is_approved(value: dict[str, Any], force: bool, conflicts: int, sent: int) -> None:
    server = Server(conflicts)
    decided(server, value, force)
    assert server.sent == sent


def test_not_for_ever() -> None:
    with pytest.raises(ApiError, match="changed"):
        decided(Server(11), request())


def test_what_was_denied_stays_denied() -> None:
    with pytest.raises(CommandError, match='"ann" is already Denied'):
        decided(Server(0), request("Denied"))


def test_nothing_else_is_approved() -> None:
    with pytest.raises(CommandError, match=r"objects, got Deployment\.apps"):
        decided(
            Server(0),
            request(),
            resource=Resource("apps", "v1", "deployments", "deployment", "Deployment", True),
        )
