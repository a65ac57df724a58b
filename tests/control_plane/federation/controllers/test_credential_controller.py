from __future__ import annotations

import base64
from typing import Any

import orjson
import pytest

from pybernetes.client.refs import NAMESPACES, SECRETS
from pybernetes.control_plane.federation.controllers import credential_controller
from pybernetes.control_plane.federation.controllers.credential_controller import Claims, claims, due
from pybernetes.control_plane.federation.kinds import NAMESPACE
from tests.control_plane.federation.fleet import FEDERATED_NAMESPACES, Fleet, federated
from tests.support import eventually


def token(value: Any) -> str:
    return f"head.{base64.urlsafe_b64encode(orjson.dumps(value)).decode().rstrip('=')}.signature"


def test_what_a_token_says_of_itself() -> None:
    said = claims(token({"sub": "system:serviceaccount:ns:name", "iat": 1000, "exp": 4000}))
    assert said == Claims("ns", "name", 1000, 4000)
    assert due(said, 1000) == 1000 and due(said, 2500) == -500


@pytest.mark.parametrize(
    "text",
    [
        "", "opaque", "a.b.c", token([]), token({"sub": "system:serviceaccount:ns:name"}), token({"sub": 5, "iat": 1, "exp": 2}),
        token({"sub": "alice", "iat": 1, "exp": 2}), token({"sub": "system:serviceaccount:ns:name", "iat": 5, "exp": 2}),
    ],
)  # fmt: skip
def test_other_tokens_are_left_alone(text: str) -> None:
    assert claims(text) is None


async def test_a_token_is_renewed_and_the_work_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Fleet("one") as fleet:
        host = fleet.host.client
        await fleet.install("namespaces")
        await fleet.join()
        before = (await host.list(SECRETS, NAMESPACE)).items[0]["data"]["token"]
        monkeypatch.setattr(credential_controller, "_SHARE", 0.0)
        await fleet.start()

        async def renewed() -> bool:
            return (await host.list(SECRETS, NAMESPACE)).items[0]["data"]["token"] != before

        await eventually(renewed)
        await host.create(NAMESPACES, {"metadata": {"name": "demo"}})
        await host.create(FEDERATED_NAMESPACES, federated(FEDERATED_NAMESPACES, "demo", "demo"))
        await fleet.settles(FEDERATED_NAMESPACES, "demo", "demo", one="")
