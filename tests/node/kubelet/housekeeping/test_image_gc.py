"""Which images are removed, and when."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.lib.clock import ManualClock
from pybernetes.node.kubelet.cri import label_keys
from pybernetes.node.kubelet.housekeeping import image_gc
from pybernetes.node.kubelet.housekeeping.image_gc import ImageGarbageCollector
from pybernetes.node.kubelet.metrics import KubeletMetrics
from pybernetes.node.stats.filesystem import Filesystem


class _Runtime:
    """The part of a runtime that keeps images."""

    def __init__(self, **sizes: int) -> None:
        self.sizes = sizes
        self.used: list[str] = []
        self.mounted = ""

    async def list_images(self) -> list[Any]:
        return [
            SimpleNamespace(id=name, repo_tags=[], repo_digests=[], size=size, pinned=False)
            for name, size in self.sizes.items()
        ]

    async def list_containers(self) -> list[Any]:
        volumes = {label_keys.IMAGE_VOLUMES: self.mounted} if self.mounted else {}
        return [
            SimpleNamespace(image_ref=name, image=SimpleNamespace(image=name), annotations=volumes)
            for name in self.used
        ]

    async def status(self, verbose: bool = False) -> Any:
        return SimpleNamespace(info={"config": '{"sandboxImage": "pause"}'})

    async def remove_image(self, name: str) -> None:
        del self.sizes[name]


def test_images_that_may_go() -> None:
    def image(name: str, **more: Any) -> Any:
        return SimpleNamespace(
            id=name, repo_tags=[f"{name}:1"], repo_digests=[], size=10, pinned=False, **more
        )

    images = [image("used"), image("pause"), image("old"), image("new")]
    records, _ = image_gc.updated_records({}, images[:3], frozenset({"old:1"}), frozenset(), 100.0)
    records, in_use = image_gc.updated_records(
        records, images, frozenset({"used"}), frozenset({"pause:1"}), 200.0
    )
    assert in_use == {"used"} and records["old"].first_seen == 100.0 and records["old"].last_used == 100.0
    assert image_gc.removal_order(records, in_use) == [
        "new",
        "old",
    ]  # one that was never used goes before one that was


@pytest.mark.parametrize(
    ("available", "expected"), [(50, 0), (16, 0), (15, 5), (0, 20), (200, 0)], ids=lambda value: str(value)
)
def test_how_much_disk_images_give_back(available: int, expected: int) -> None:
    assert image_gc.bytes_to_free(100, available, 85, 80) == expected


def test_images_go_until_there_is_room() -> None:
    async def check() -> None:
        clock, runtime, told = ManualClock(), _Runtime(pause=1, a=10, b=10, c=10, d=10), []

        async def disk() -> tuple[Filesystem, int]:
            used = 50 + sum(runtime.sizes.values())
            return Filesystem(100, 100 - used, used, 10, 5), used

        cri: Any = runtime
        collector = ImageGarbageCollector(
            cri, clock, KubeletMetrics(), disk, lambda *event: told.append(event), high=85, low=75, least_age=60.0, longest=3600.0
        )  # fmt: skip
        runtime.used = ["a", "d"]
        await collector.collect()  # all are too young
        assert len(runtime.sizes) == 5 and told[0][0] == "FreeDiskSpaceFailed"
        await clock.advance(61)
        runtime.used = ["d"]
        await collector.collect()  # 91 % is used, 75 % is to be: two go, those that were never used first
        assert sorted(runtime.sizes) == ["a", "d", "pause"] and len(told) == 1
        await collector.collect()
        assert sorted(runtime.sizes) == ["a", "d", "pause"]  # 71 % is below the high threshold
        await clock.advance(3700)
        await collector.collect()  # nobody has used it for an hour
        assert sorted(runtime.sizes) == ["d", "pause"]
        runtime.sizes |= {"volume": 10, "e": 10}
        runtime.mounted = "volume,other"
        await collector.collect()
        await clock.advance(61)
        await collector.free_all()  # what containers mount is in use as well
        assert sorted(runtime.sizes) == ["d", "pause", "volume"]
        runtime.used = []
        await collector.free_all()
        assert sorted(runtime.sizes) == ["pause"]

    asyncio.run(check())
