"""DenyServiceExternalIPs: what it sets, and what it refuses."""

from __future__ import annotations

from tests.control_plane.apiserver.admission.world import Object, World
from tests.support import run


def test_external_addresses_are_denied() -> None:
    def service(*addresses: str) -> Object:
        return {"metadata": {"name": "s"}, "spec": {"externalIPs": list(addresses)}}

    async def test() -> None:
        async with World() as world:
            chain = world.chain("DenyServiceExternalIPs")
            message = 'services "s" is forbidden: Use of external IPs is denied by admission control'
            assert await world.refusal(chain, "services", service("1.2.3.4")) == message
            assert not await world.refusal(chain, "services", service())
            assert not await world.refusal(
                chain, "services", service("1.2.3.4"), service("1.2.3.4", "1.2.3.5")
            )
            assert await world.refusal(chain, "services", service("1.2.3.4"), service()) == message

    run(test())
