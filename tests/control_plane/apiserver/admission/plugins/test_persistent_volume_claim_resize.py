"""PersistentVolumeClaimResize: what it sets, and what it refuses."""

from __future__ import annotations

import pytest

from tests.control_plane.apiserver.admission.plugins.claims import claim, storage_class
from tests.control_plane.apiserver.admission.world import Object, World
from tests.support import run

BOUND = {"phase": "Bound"}


CANNOT = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"


@pytest.mark.parametrize(
    ("new", "old", "message"),
    [
        (claim(size="1Gi"), claim(size="2Gi"), ""),
        (claim(size="2Gi"), claim(size="1Gi"), "Only bound persistent volume claims can be expanded"),
        (claim(size="2Gi"), claim(size="1Gi", status=BOUND), CANNOT),
        (claim(size="2Gi", storageClassName="no"), claim(storageClassName="no", status=BOUND), CANNOT),
        (claim(size="2Gi", storageClassName="gone"), claim(storageClassName="gone", status=BOUND), CANNOT),
        (claim(size="2Gi", storageClassName="yes"), claim(storageClassName="no", status=BOUND), CANNOT),
        (claim(size="2Gi", storageClassName="yes"), claim(storageClassName="yes", status=BOUND), ""),
    ],
)
def test_persistent_volume_claim_resize(new: Object, old: Object, message: str) -> None:
    async def test() -> None:
        async with World() as world:
            await world.add(
                "storage.k8s.io", "storageclasses", storage_class("yes", allowVolumeExpansion=True)
            )
            await world.add("storage.k8s.io", "storageclasses", storage_class("no"))
            problem = await world.refusal(
                world.chain("PersistentVolumeClaimResize"), "persistentvolumeclaims", new, old
            )
            assert problem == (f'persistentvolumeclaims "c" is forbidden: {message}' if message else "")

    run(test())
