"""What all backends have in common: their flags, modes, the buffer of the batch mode, and cutting events short."""

from __future__ import annotations

import asyncio
import logging
import time
from abc import ABC, abstractmethod
from argparse import Namespace
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from pybernetes.control_plane.apiserver.audit.event import Event, encode
from pybernetes.lib.flags import Flag, Seconds
from pybernetes.lib.metrics.exposition import Exposition

log = logging.getLogger(__name__)
BATCH, BLOCKING, STRICT = "batch", "blocking", "blocking-strict"
MODES = (BATCH, BLOCKING, STRICT)
_OBJECTS = ("requestObject", "responseObject")
Item = tuple[Event, bytes]


@dataclass(frozen=True, slots=True)
class Options:
    """How a backend takes events."""

    mode: str
    buffer_size: int = 10_000
    max_size: int = 1
    max_wait: float = 0.0
    qps: float = 0.0  # 0 does not throttle
    burst: int = 1
    truncate: bool = False
    max_event_bytes: int = 100 * 1024
    max_batch_bytes: int = 10 * 1024 * 1024


def flags(name: str, defaults: Options) -> tuple[Flag, ...]:
    """Return the flags of a backend."""
    begin = f"audit-{name}"
    return (
        Flag(f"{begin}-mode", defaults.mode, f"how events are sent: {', '.join(MODES)}"),
        Flag(f"{begin}-batch-buffer-size", defaults.buffer_size, "events that may wait in batch mode"),
        Flag(f"{begin}-batch-max-size", defaults.max_size, "most events of a batch"),
        Flag(
            f"{begin}-batch-max-wait", Seconds(defaults.max_wait), "how long a batch that is not full waits"
        ),
        Flag(f"{begin}-batch-throttle-enable", defaults.qps > 0, "limit how many batches are sent"),
        Flag(f"{begin}-batch-throttle-qps", float(defaults.qps), "batches per second on average"),
        Flag(f"{begin}-batch-throttle-burst", defaults.burst, "batches at once after a pause"),
        Flag(f"{begin}-truncate-enabled", False, "cut events and batches short"),
        Flag(f"{begin}-truncate-max-event-size", defaults.max_event_bytes, "most bytes of an event"),
        Flag(f"{begin}-truncate-max-batch-size", defaults.max_batch_bytes, "most bytes of a batch"),
        Flag(f"{begin}-version", "audit.k8s.io/v1", "version in which events are written"),
    )


def options(name: str, given: Namespace) -> Options:
    """Return the options from the flags; ValueError if they make no sense."""

    def of(flag: str) -> Any:
        return getattr(given, f"audit_{name}_{flag}")

    if of("mode") not in MODES:
        raise ValueError(f'invalid audit {name} mode {of("mode")}, allowed modes are "{",".join(MODES)}"')
    if of("version") != "audit.k8s.io/v1":
        raise ValueError('invalid group version, allowed versions are ["audit.k8s.io/v1"]')
    throttle = of("batch_throttle_enable")
    if of("mode") == BATCH:
        sizes = [("buffer size", "batch_buffer_size"), ("max batch size", "batch_max_size")]
        if throttle:
            sizes += [("throttle QPS", "batch_throttle_qps"), ("throttle burst", "batch_throttle_burst")]
        for text, flag in sizes:
            if of(flag) <= 0:
                raise ValueError(f"invalid audit batch {name} {text} {of(flag):g}, must be a positive number")
    event, batch = of("truncate_max_event_size"), of("truncate_max_batch_size")
    if event <= 0:
        raise ValueError(f"invalid audit truncate {name} max event size {event}, must be a positive number")
    if batch < event:
        raise ValueError(
            f"invalid audit truncate {name} max batch size {batch}, must be greater than max event size ({event})"
        )
    return Options(
        of("mode"), of("batch_buffer_size"), of("batch_max_size"), of("batch_max_wait"),
        of("batch_throttle_qps") if throttle else 0.0, of("batch_throttle_burst"), of("truncate_enabled"), event, batch,
    )  # fmt: skip


def shortened(item: Item, limit: int) -> Item | None:
    """Return an event without its objects if it is too large; None if it is too large even then."""
    event, line = item
    if len(line) <= limit:
        return item
    event = {key: value for key, value in event.items() if key not in _OBJECTS}
    event["annotations"] = {**event.get("annotations", {}), "audit.k8s.io/truncated": "true"}
    line = encode(event)
    return (event, line) if len(line) <= limit else None


class Losses:
    """Counts the events that a backend lost, and says so in the log."""

    def __init__(self, name: str) -> None:
        self.name, self.count = name, 0

    def add(self, count: int, why: object) -> None:
        """Count some."""
        self.count += count
        log.error("audit backend %s lost %d events: %s", self.name, count, why)

    def render(self, out: Exposition) -> None:
        """Write the metric."""
        if self.count:
            out.sample("apiserver_audit_error_total", [("plugin", self.name)], self.count)


class Buffer:
    """Events that wait for their batch to be full or old enough."""

    def __init__(
        self, options: Options, deliver: Callable[[list[Item]], Coroutine[Any, Any, None]], losses: Losses
    ) -> None:
        self._options, self._deliver, self._losses = options, deliver, losses
        self._waiting: deque[Item] = deque()
        self._full, self._some = asyncio.Event(), asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._sending: set[asyncio.Task[None]] = set()
        self._tokens, self._filled = float(options.burst), time.monotonic()

    def start(self) -> None:
        """Send batches from now on."""
        self._task = asyncio.create_task(self._run(), name="audit")

    def put(self, item: Item) -> None:
        """Take an event, or lose it if too many wait."""
        if len(self._waiting) >= self._options.buffer_size:
            self._losses.add(1, "audit buffer queue blocked")
            return
        self._waiting.append(item)
        self._some.set()
        if len(self._waiting) >= self._options.max_size:
            self._full.set()

    async def _run(self) -> None:
        while True:
            await self._some.wait()
            try:
                if self._options.max_wait:
                    async with asyncio.timeout(self._options.max_wait):
                        await self._full.wait()
            except TimeoutError:
                pass
            await self._turn()
            self._send()

    def _send(self) -> None:
        batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), self._options.max_size))]
        if not self._waiting:
            self._some.clear()
        if len(self._waiting) < self._options.max_size:
            self._full.clear()
        task = asyncio.create_task(self._deliver(batch))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _turn(self) -> None:
        """Wait until another batch may be sent."""
        options = self._options
        if not options.qps:
            return
        now = time.monotonic()
        self._tokens = min(float(options.burst), self._tokens + (now - self._filled) * options.qps)
        self._filled = now
        self._tokens -= 1
        if self._tokens < 0:
            await asyncio.sleep(-self._tokens / options.qps)

    async def close(self) -> None:
        """Send what is left."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        while self._waiting:
            self._send()
        await asyncio.gather(*self._sending, return_exceptions=True)


class Base(ABC):
    """A backend but for how it sends: at once, or in batches."""

    name: str

    def __init__(self, options: Options) -> None:
        self.options, self.losses = options, Losses(self.name)
        self.buffer = Buffer(options, self.deliver, self.losses) if options.mode == BATCH else None

    async def start(self) -> None:
        """Take events from now on."""
        if self.buffer is not None:
            self.buffer.start()

    async def close(self) -> None:
        """Send what waits."""
        if self.buffer is not None:
            await self.buffer.close()

    def take(self, event: Event, line: bytes) -> bool | Awaitable[bool]:
        """Send an event or have it wait for its batch; False if that failed and nobody may be served without."""
        item: Item | None = (dict(event), line)
        if self.options.truncate:
            item = shortened((dict(event), line), self.options.max_event_bytes)
        if item is None:
            self.losses.add(1, "event is too large")
            return True
        if self.buffer is not None:
            self.buffer.put(item)
            return True
        return self.send(item)

    @abstractmethod
    def send(self, item: Item) -> bool | Awaitable[bool]:
        """Send one event now."""

    @abstractmethod
    async def deliver(self, items: list[Item]) -> None:
        """Send a batch."""

    def render(self, out: Exposition) -> None:
        """Write the metrics."""
        self.losses.render(out)
