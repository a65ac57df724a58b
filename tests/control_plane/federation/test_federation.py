"""Two control planes of one federation: one works, the other takes over."""

from __future__ import annotations

import asyncio

import pytest

from pybernetes.client.refs import CONFIG_MAPS, LEASES, NAMESPACES
from pybernetes.control_plane.federation import config
from pybernetes.control_plane.federation.federation import Federation, election_of
from pybernetes.control_plane.federation.kinds import COMPONENT, NAMESPACE
from pybernetes.runtime.election import LostLease
from pybernetes.runtime.manager import Manager
from tests.control_plane.federation.fleet import (
    FEDERATED_CONFIG_MAPS,
    FEDERATED_NAMESPACES,
    HEALTH,
    Fleet,
    federated,
)
from tests.support import eventually

_ELECTION = {"leaseDuration": "4s", "renewDeadline": "3s", "retryPeriod": "200ms"}


class Candidate:
    """A control plane that takes part in the election, and can be killed."""

    def __init__(self, fleet: Fleet) -> None:
        settings = config.read(
            {"spec": {"scope": "Cluster", "clusterHealthCheck": HEALTH, "leaderElect": _ELECTION}}
        )
        client = fleet.host.rest_client()
        self.manager = Manager(client, election=election_of(settings, NAMESPACE), election_client=client)
        self.federation = Federation(self.manager, settings, NAMESPACE)
        self.task = asyncio.create_task(self.federation.run())

    @property
    def works(self) -> bool:
        return self.manager.working.is_set()

    async def stop(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


async def _change(fleet: Fleet, value: str) -> None:
    patch = {"spec": {"template": {"data": {"k": value}}}}
    await fleet.host.client.patch(FEDERATED_CONFIG_MAPS, "a", patch, "demo")
    await fleet.settles(FEDERATED_CONFIG_MAPS, "a", "demo", one="")


async def test_one_works_and_another_takes_over() -> None:
    async with Fleet("one") as fleet:
        host, one = fleet.host.client, fleet.members["one"].client
        await fleet.install("namespaces", "configmaps")
        await fleet.join()
        await host.create(NAMESPACES, {"metadata": {"name": "demo"}})
        await host.create(FEDERATED_NAMESPACES, federated(FEDERATED_NAMESPACES, "demo", "demo"))
        made = federated(FEDERATED_CONFIG_MAPS, "a", "demo", {"data": {"k": "1"}})
        await host.create(FEDERATED_CONFIG_MAPS, made)
        first = Candidate(fleet)
        await eventually(lambda: first.works)
        second = Candidate(fleet)
        await fleet.settles(FEDERATED_CONFIG_MAPS, "a", "demo", one="")
        assert first.works and not second.works
        assert second.federation.members.get("one") is None  # who waits asks no member anything
        before = (await one.get(CONFIG_MAPS, "a", "demo"))["metadata"]

        # Told to stop, it gives the lease back; nothing that is as it should be is written again.
        await first.stop()
        await eventually(lambda: second.works)
        await _change(fleet, "2")
        now = await one.get(CONFIG_MAPS, "a", "demo")
        assert now["data"] == {"k": "2"} and now["metadata"]["uid"] == before["uid"]

        # Whoever loses the lease without noticing writes nowhere, not in members either, and ends.
        third = Candidate(fleet)
        lease = await host.get(LEASES, COMPONENT, NAMESPACE)
        member = second.federation.members.get("one")
        assert member is not None and member.client is not None
        lease["spec"]["holderIdentity"] = third.manager.elector.identity  # type: ignore[union-attr]
        await host.update(LEASES, lease)
        with pytest.raises(LostLease):
            await second.task
        with pytest.raises(LostLease):
            await member.client.create(CONFIG_MAPS, {"metadata": {"name": "late", "namespace": "demo"}})
        await eventually(lambda: third.works)
        await _change(fleet, "3")
        assert (await one.get(CONFIG_MAPS, "a", "demo"))["data"] == {"k": "3"}
        await third.stop()
