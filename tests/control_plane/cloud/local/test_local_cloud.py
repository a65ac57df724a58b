"""The instances of the local cloud: no Node is given up because of a doubt."""

from __future__ import annotations

import pytest

from pybernetes.control_plane.cloud.local.local_cloud import LocalCloud
from pybernetes.control_plane.cloud.local.machine import LocalInstance
from pybernetes.control_plane.cloud.provider import CloudError
from tests.control_plane.cloud.clouds import node
from tests.control_plane.cloud.local.machines import FakeMachine


async def test_instances() -> None:
    machine = FakeMachine(a=LocalInstance(("172.30.9.2",), group="web"), b=LocalInstance(off=True))
    instances = LocalCloud(machine).instances
    known = await instances.metadata(node("a"))
    assert known is not None and known.provider_id == "local://c/a" and known.instance_type == "web"
    assert [address.address for address in known.addresses] == ["172.30.9.2"]
    hollow = await instances.metadata(node("b"))
    assert hollow is not None and hollow.addresses == () and hollow.instance_type == "hollow"
    assert (known.zone, known.region) == ("local-1", "local")
    machine.instances["z"] = LocalInstance(zone="east-1", region="moon")
    placed = await instances.metadata(node("z"))
    assert placed is not None and (placed.zone, placed.region) == ("east-1", "moon")
    assert await instances.is_shut_down(node("b")) and not await instances.is_shut_down(node("a"))
    assert await instances.exists(node("a"))
    assert not await instances.exists(node("gone", providerID="local://c/gone"))
    # What the cloud did not make it does not judge.
    for other in (node("joined"), node("a", providerID="aws:///z/i-1"), node("x", providerID="local://d/x")):
        with pytest.raises(CloudError):
            await instances.exists(other)
    machine.broken = True
    with pytest.raises(OSError, match="away"):
        await instances.exists(node("gone", providerID="local://c/gone"))
