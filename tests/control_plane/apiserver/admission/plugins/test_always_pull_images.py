"""AlwaysPullImages: what it sets, and what it refuses."""

from __future__ import annotations

from tests.control_plane.apiserver.admission.plugins.pods import (
    spec_after,
)
from tests.control_plane.apiserver.admission.world import World, pod
from tests.support import run


def test_always_pull_images() -> None:
    volumes = [
        {"name": "v", "image": {"reference": "r", "pullPolicy": "Never"}},
        {"name": "w", "emptyDir": {}},
    ]
    given = pod(
        container={"imagePullPolicy": "Never"}, initContainers=[{"name": "i", "image": "i"}], volumes=volumes
    )
    spec = spec_after("AlwaysPullImages", given)
    assert (
        spec["containers"][0]["imagePullPolicy"] == spec["initContainers"][0]["imagePullPolicy"] == "Always"
    )
    assert spec["volumes"][0]["image"]["pullPolicy"] == "Always"

    async def test() -> None:
        async with World() as world:
            chain = world.chain("AlwaysPullImages")
            old = pod(container={"imagePullPolicy": "Never"})
            assert (await world.admit(chain, "pods", old, old))["spec"] == old["spec"]
            new = pod(container={"imagePullPolicy": "Never", "image": "new"})
            changed = await world.admit(chain, "pods", new, old)
            assert changed["spec"]["containers"][0]["imagePullPolicy"] == "Always"

    run(test())
