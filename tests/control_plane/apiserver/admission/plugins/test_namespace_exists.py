"""NamespaceExists and NamespaceAutoProvision: namespaces that must exist, or are made."""

from __future__ import annotations

from tests.control_plane.apiserver.admission.world import World, pod
from tests.support import run


def test_namespaces_that_must_exist_or_are_made() -> None:
    async def test() -> None:
        async with World() as world:
            exists, makes = world.chain("NamespaceExists"), world.chain("NamespaceAutoProvision")
            assert (
                await world.refusal(exists, "pods", pod(), pod(), namespace="two")
                == 'namespaces "two" not found'
            )
            await world.admit(makes, "pods", pod(), namespace="two", dry_run=True)
            assert await world.refusal(exists, "pods", pod(), namespace="two")
            await world.admit(makes, "pods", pod(), namespace="two")
            assert not await world.refusal(exists, "pods", pod(), namespace="two")

    run(test())
