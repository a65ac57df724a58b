"""Removes images that no container uses or mounts when their disk fills up, the least recently used first."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass

import orjson

from pybernetes.lib.clock import Clock
from pybernetes.lib.tracing import Spans
from pybernetes.node.kubelet.cri import label_keys
from pybernetes.node.kubelet.cri.client import CriClient, CriError
from pybernetes.node.kubelet.cri.messages import Message
from pybernetes.node.kubelet.images.pull_records import PullRecords
from pybernetes.node.kubelet.metrics import KubeletMetrics
from pybernetes.node.stats.filesystem import Filesystem

log = logging.getLogger(__name__)
_SECONDS = 300.0
Report = Callable[[str, str], None]  # reason and message of an event about the node


@dataclass(slots=True)
class ImageRecord:
    """What is remembered about an image."""

    first_seen: float
    last_used: float = 0.0
    size: int = 0
    pinned: bool = False


def updated_records(
    records: Mapping[str, ImageRecord],
    images: Iterable[Message],
    used: frozenset[str],
    pinned: frozenset[str],
    now: float,
) -> tuple[dict[str, ImageRecord], set[str]]:
    """Return the records after a look at the images, and which of these are in use."""
    updated: dict[str, ImageRecord] = {}
    in_use = set()
    for image in images:
        old = records.get(image.id)
        record = ImageRecord(old.first_seen, old.last_used) if old is not None else ImageRecord(now)
        names = {image.id, *image.repo_tags, *image.repo_digests}
        if names & used:
            record.last_used = now
            in_use.add(image.id)
        record.size, record.pinned = image.size, bool(image.pinned) or bool(names & pinned)
        updated[image.id] = record
    return updated, in_use


def removal_order(records: Mapping[str, ImageRecord], in_use: Iterable[str]) -> list[str]:
    """Return the images that may be removed, in the order of removal."""
    kept = set(in_use)
    free = [(record.last_used, record.first_seen, name) for name, record in records.items()
            if name not in kept and not record.pinned]  # fmt: skip
    return [name for _, _, name in sorted(free)]


def bytes_to_free(capacity: int, available: int, high: int, low: int) -> int:
    """Return how many bytes to free; 0 while the disk is less full than the high threshold."""
    if capacity <= 0 or 100 - min(available, capacity) * 100 // capacity < high:
        return 0
    return max(0, capacity * (100 - low) // 100 - available)


class ImageGarbageCollector:
    """Keeps the disk of images below its thresholds."""

    def __init__(
        self, cri: CriClient, clock: Clock, metrics: KubeletMetrics, disk: Callable[[], Awaitable[tuple[Filesystem | None, int]]],
        report: Report, *, high: int, low: int, least_age: float, longest: float = 0.0, pinned: Iterable[str] = (),
        pulls: PullRecords | None = None, spans: Spans | None = None,
    ) -> None:  # fmt: skip
        self._cri, self._clock, self._metrics, self._disk, self._report = cri, clock, metrics, disk, report
        self._high, self._low, self._least_age, self._longest = high, low, least_age, longest
        self._pinned, self._pulls, self._spans = frozenset(pinned), pulls, spans or Spans()
        self._began = clock.now()
        self.records: dict[str, ImageRecord] = {}

    async def run(self) -> None:
        """Collect until cancelled; a threshold of 100 means that images are left alone."""
        while True:
            try:
                await (self.collect() if self._high < 100 or self._longest else self._refresh())
            except CriError as error:
                log.warning("images cannot be collected: %s", error)
            await self._clock.sleep(_SECONDS)

    async def _refresh(self) -> set[str]:
        recorded = self._pulls.references() if self._pulls is not None else set()
        images = await self._cri.list_images()
        if self._pulls is not None:
            # Only what was known before: what is pulled meanwhile may not be in the list yet.
            self._pulls.forget(recorded - {image.id for image in images})
        used = set()
        for container in await self._cri.list_containers():
            used |= {container.image_ref, container.image.image}
            used |= set(container.annotations.get(label_keys.IMAGE_VOLUMES, "").split(","))
        pinned = self._pinned | {await self._sandbox_image()}
        self.records, in_use = updated_records(
            self.records, images, frozenset(used), pinned, self._clock.now()
        )
        return in_use

    async def _sandbox_image(self) -> str:
        """Return the image of sandboxes, which older runtimes do not mark as pinned."""
        try:
            info = (await self._cri.status(verbose=True)).info
            return orjson.loads(info.get("config") or "{}").get("sandboxImage") or ""
        except (CriError, ValueError):
            return ""

    async def collect(self) -> None:
        """Free space if too little is left, and remove images that were unused for too long."""
        with self._spans.part("Images/GarbageCollect", {}):
            await self._collect()

    async def _collect(self) -> None:
        in_use = await self._refresh()
        now = self._clock.now()
        if self._longest and now - self._began > self._longest:
            for name in removal_order(self.records, in_use):
                if now - self.records[name].last_used > self._longest:
                    await self._remove(name, "age")
        disk, _ = await self._disk()
        if disk is None:
            return
        bytes_ = bytes_to_free(disk.capacity, disk.available, self._high, self._low)
        if bytes_:
            freed = await self._free(bytes_, in_use, now)
            if freed < bytes_:
                share = 100 - min(disk.available, disk.capacity) * 100 // disk.capacity
                self._report("FreeDiskSpaceFailed", (
                    f"Insufficient free disk space on the node's image filesystem ({share}% of {_size(disk.capacity)}"
                    f" used). Failed to free sufficient space by deleting unused images (freed {freed} bytes)."
                    " Investigate disk usage, as it could be used by active images, logs, volumes, or other data."
                ))  # fmt: skip

    async def free_all(self) -> None:
        """Remove every unused image, because the node is under pressure."""
        await self._free(1 << 62, await self._refresh(), self._clock.now())

    async def _free(self, bytes_: int, in_use: set[str], now: float) -> int:
        freed = 0
        for name in removal_order(self.records, in_use):
            if now - self.records[name].first_seen < self._least_age:
                continue
            size = self.records[name].size
            if await self._remove(name, "space"):
                freed += size
            if freed >= bytes_:
                break
        return freed

    async def _remove(self, name: str, reason: str) -> bool:
        try:
            await self._cri.remove_image(name)
        except CriError as error:
            log.warning("the image %s cannot be removed: %s", name, error)
            return False
        del self.records[name]
        self._metrics.add("kubelet_image_garbage_collected_total", ("reason", reason))
        return True


def _size(count: int) -> str:
    number = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if number < 1024:
            return f"{number:.1f} {unit}" if unit != "B" else f"{count} B"
        number /= 1024
    return f"{number:.1f} TiB"
