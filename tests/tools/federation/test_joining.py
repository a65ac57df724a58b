from __future__ import annotations

from typing import Any

from pybernetes.client.client import Client
from pybernetes.tools.federation import joining
from pybernetes.tools.federation.joining import Joining

JOINING = Joining("one", "host", "kube-federation-system")


class Member:
    """A transport that answers with one status, or not at all."""

    def __init__(self, status: int) -> None:
        self.status = status
        self.calls: list[str] = []

    async def send(self, method: str, path: str, *rest: Any) -> tuple[int, Any]:
        self.calls.append(f"{method} {path}")
        if not self.status:
            raise ConnectionError("one cannot be reached")
        return self.status, {"kind": "Status", "code": self.status, "message": "no"}


async def leave(status: int) -> tuple[list[str], Member]:
    member = Member(status)
    return await joining.leave(Client(member), JOINING), member  # type: ignore[arg-type]


async def test_a_member_that_is_gone_is_asked_once() -> None:
    problems, member = await leave(0)
    assert problems == ["one cannot be reached"] and len(member.calls) == 1


async def test_what_a_member_refuses_to_remove_is_said_for_each() -> None:
    problems, member = await leave(403)
    assert len(problems) == len(member.calls) == len(set(member.calls))
    assert member.calls[-1].endswith("/serviceaccounts/one-host")
    assert (await leave(404))[0] == []
