"""DefaultStorageClass: what it sets, and what it refuses."""

from __future__ import annotations

import pytest

from tests.control_plane.apiserver.admission.plugins.claims import claim, storage_class
from tests.control_plane.apiserver.admission.world import Object, World
from tests.support import run


@pytest.mark.parametrize(
    ("classes", "given", "expected"),
    [
        ([storage_class("a")], {}, None),
        ([storage_class("a", "1")], {}, "a"),
        ([storage_class("a", "1"), storage_class("b", "2")], {}, "b"),
        ([storage_class("b", "2"), storage_class("a", "2")], {}, "a"),
        ([storage_class("a", "1", annotation="storageclass.beta.kubernetes.io")], {}, "a"),
        ([storage_class("a", "1")], {"storageClassName": ""}, ""),
        ([storage_class("a", "1")], {"storageClassName": "x"}, "x"),
    ],
)
def test_default_storage_class(classes: list[Object], given: Object, expected: str | None) -> None:
    async def test() -> None:
        async with World() as world:
            for class_ in classes:
                await world.add("storage.k8s.io", "storageclasses", class_)
            chain = world.chain("DefaultStorageClass", "StorageObjectInUseProtection")
            made = await world.admit(chain, "persistentvolumeclaims", claim(**given))
            assert made["spec"].get("storageClassName") == expected
            assert made["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]

    run(test())


def test_an_old_annotation_is_a_storage_class_too() -> None:
    async def test() -> None:
        async with World() as world:
            await world.add("storage.k8s.io", "storageclasses", storage_class("a", "1"))
            given = claim()
            given["metadata"]["annotations"] = {"volume.beta.kubernetes.io/storage-class": "x"}
            made = await world.admit(world.chain("DefaultStorageClass"), "persistentvolumeclaims", given)
            assert "storageClassName" not in made["spec"]

    run(test())
