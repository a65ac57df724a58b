"""Pods put through one plugin."""

from __future__ import annotations

from typing import Any

from tests.control_plane.apiserver.admission.world import Object, World, pod
from tests.support import run

FORBIDDEN = 'pods "p" is forbidden: '


def namespace(**metadata: Any) -> Object:
    return {"metadata": {"name": "one", **metadata}}


def spec_after(plugin: str, given: Object, *objects: tuple[str, str, Object], **configuration: Any) -> Object:
    async def test() -> Object:
        async with World() as world:
            for group, plural, obj in objects:
                await world.add(group, plural, obj)
            chain = world.chain(plugin, **configuration)
            return (await world.admit(chain, "pods", given))["spec"]

    return run(test())


def refusal(
    plugin: str, given: Object, *objects: tuple[str, str, Object], old: Object | None = None, **more: Any
) -> str:
    async def test() -> str:
        async with World() as world:
            for group, plural, obj in objects:
                await world.add(group, plural, obj)
            configuration = {plugin: more.pop("configuration")} if "configuration" in more else {}
            return await world.refusal(world.chain(plugin, **configuration), "pods", given, old, **more)

    return run(test())


GB = {
    "allocatable": {"cpu": "2", "memory": "1Gi"},
    "declaredFeatures": ["InPlacePodLevelResourcesVerticalScaling"],
}


def resized(generation: int = 2, **more: Any) -> Object:
    return pod(nodeName="n", metadata={"generation": generation}, **more)
