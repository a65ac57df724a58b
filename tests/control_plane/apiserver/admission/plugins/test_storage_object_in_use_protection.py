"""StorageObjectInUseProtection: what it sets, and what it refuses."""

from __future__ import annotations

import pytest

from tests.control_plane.apiserver.admission.world import World
from tests.support import run


@pytest.mark.parametrize(
    ("resource", "finalizer"),
    [
        ("persistentvolumes", "kubernetes.io/pv-protection"),
        ("volumeattributesclasses.storage.k8s.io", "kubernetes.io/vac-protection"),
    ],
)
def test_storage_in_use_is_protected(resource: str, finalizer: str) -> None:
    async def test() -> None:
        async with World() as world:
            chain = world.chain("StorageObjectInUseProtection")
            made = await world.admit(chain, resource, {"metadata": {"name": "x", "finalizers": ["a"]}})
            assert made["metadata"]["finalizers"] == ["a", finalizer]
            assert await world.admit(chain, resource, made) == made

    run(test())
