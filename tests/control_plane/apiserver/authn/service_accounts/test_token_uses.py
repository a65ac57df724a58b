"""Tokens that are used are counted: those in secrets, those in time, those that should have been renewed."""

from __future__ import annotations

from typing import Any

from pybernetes.control_plane.apiserver.authn.service_accounts.claims import issue
from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.lib.tokens import jose
from tests.control_plane.apiserver.authn.service_accounts.test_tokens import AUDIENCES, World, world


def counted(here: World) -> list[str]:
    out = Exposition()
    here.tokens.uses.render(out)
    return [line.rsplit(" ", 1)[1] for line in out.render().decode().splitlines() if line[0] != "#"]


async def test_uses_are_counted(tmp_path: Any) -> None:
    async with world(tmp_path) as here:
        account = {"metadata": {"name": "robot", "namespace": "default", "uid": "robot-uid"}}
        claims = issue(
            account, issuer="me", audiences=AUDIENCES, now=here.clock.now(), seconds=9000, bound={}, warn_after=60
        )  # fmt: skip
        token = jose.sign(here.signer, claims).encode()
        for _ in range(5):
            assert here.holds(token)
        assert counted(here) == ["0", "0", "1"]  # one look at it in ten seconds
        await here.clock.advance(11)
        assert here.holds(token) and counted(here) == ["0", "0", "2"]
        await here.clock.advance(60)
        assert here.holds(token) and counted(here) == ["0", "1", "2"]
        assert here.holds(here.make()) and counted(here) == ["0", "1", "2"]  # nobody said when to renew it
        assert here.holds(here.make(audiences=())) and counted(here) == ["1", "1", "2"]
