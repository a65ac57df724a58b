"""Pulling images: who waits for whom."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.lib.clock import ManualClock
from pybernetes.node.kubelet.images.image_puller import ImagePuller
from tests.support import eventually


class Registries:
    """A runtime whose pulls from ``slow.example`` end when they are told to."""

    def __init__(self) -> None:
        self.present: set[str] = set()
        self.pulling: list[str] = []
        self.goes_on = asyncio.Event()

    async def image_status(self, image: str) -> Any:
        return SimpleNamespace(id=image, size=1) if image in self.present else None

    async def pull_image(self, image: str, auth: Any, sandbox: Any) -> None:
        self.pulling.append(image)
        if image.startswith("slow.example"):
            await self.goes_on.wait()
        self.present.add(image)


@pytest.mark.parametrize(("serialize", "parallel", "at_once"), [(True, 0, 1), (False, 2, 2), (False, 0, 3)])
async def test_a_registry_that_never_ends_holds_up_only_its_own_images(
    serialize: bool, parallel: int, at_once: int
) -> None:
    runtime = Registries()
    cri: Any = runtime
    puller = ImagePuller(cri, ManualClock(), serialize=serialize, parallel=parallel)

    async def pull(image: str) -> Any:
        sandbox: Any = None
        return await puller.ensure("u", image, "IfNotPresent", [], sandbox, lambda *event: None)

    slow = [asyncio.create_task(pull(f"slow.example/image{number}")) for number in range(3)]
    await eventually(lambda: len(runtime.pulling) == at_once)
    assert (await pull("busybox")).id == "busybox"
    assert (await pull("other.example:5000/a/b:1")).size == 1
    assert len(runtime.pulling) == at_once + 2 and not any(task.done() for task in slow)
    slow[-1].cancel()
    runtime.goes_on.set()
    await asyncio.gather(*slow, return_exceptions=True)
    assert (await pull("slow.example/again")).id == "slow.example/again"
    assert not puller._slots, "nothing is kept of registries"
