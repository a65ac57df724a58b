"""When a node is under pressure: thresholds, observations, and since when a threshold is crossed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from pybernetes.api import quantity
from pybernetes.api.resource import Object
from pybernetes.lib.flags import duration

MEMORY, ALLOCATABLE_MEMORY = "memory.available", "allocatableMemory.available"
NODE_DISK, NODE_INODES = "nodefs.available", "nodefs.inodesFree"
IMAGE_DISK, IMAGE_INODES = "imagefs.available", "imagefs.inodesFree"
CONTAINER_DISK, CONTAINER_INODES = "containerfs.available", "containerfs.inodesFree"
PIDS = "pid.available"
# The condition of the node that each signal leads to, and the resource that is short.
SIGNALS = {
    MEMORY: ("MemoryPressure", "memory"),
    ALLOCATABLE_MEMORY: ("MemoryPressure", "memory"),
    NODE_DISK: ("DiskPressure", "ephemeral-storage"),
    NODE_INODES: ("DiskPressure", "inodes"),
    IMAGE_DISK: ("DiskPressure", "ephemeral-storage"),
    IMAGE_INODES: ("DiskPressure", "inodes"),
    CONTAINER_DISK: ("DiskPressure", "ephemeral-storage"),
    CONTAINER_INODES: ("DiskPressure", "inodes"),
    PIDS: ("PIDPressure", "pids"),
}


@dataclass(frozen=True, slots=True)
class Amount:
    """A quantity, or a share of the capacity."""

    text: str = ""
    share: Fraction | None = None

    def of(self, capacity: int) -> int:
        """Return the amount for a capacity."""
        return int(capacity * self.share) if self.share is not None else quantity.integer(self.text)

    def shown(self, capacity: int) -> str:
        """Return the amount as messages show it."""
        return binary(self.of(capacity)) if self.share is not None else quantity.canonical(self.text)


@dataclass(frozen=True, slots=True)
class Threshold:
    """An amount below which the kubelet acts after so many seconds; 0 seconds make a hard threshold."""

    signal: str
    amount: Amount
    grace: float = 0.0
    reclaim: Amount | None = None

    @property
    def hard(self) -> bool:
        """Whether it takes effect at once."""
        return self.grace == 0


@dataclass(frozen=True, slots=True)
class Observation:
    """How much there is and how much of it is available."""

    available: int
    capacity: int
    inodes: bool = False  # counted, not bytes

    @property
    def shown(self) -> str:
        """What is available, as messages show it."""
        return quantity.canonical(str(self.available)) if self.inodes else binary(self.available)


def binary(value: int) -> str:
    """Return a number of bytes with a binary suffix."""
    return quantity.format_like(Fraction(value), "1Ki")


def _percent(text: str) -> Fraction:
    return Fraction(text.rstrip("%").strip()) / 100


def _statement(signal: str, text: str) -> Amount | None:
    if signal not in SIGNALS or signal == ALLOCATABLE_MEMORY:
        raise ValueError(f"unsupported eviction signal {signal}")
    if text.endswith("%"):
        if text in ("0%", "100%"):
            return None  # these disable a threshold
        share = _percent(text)
        if share < 0:
            raise ValueError(f"eviction percentage threshold {signal} must be >= 0%: {text}")
        if share > 1:
            raise ValueError(f"eviction percentage threshold {signal} must be <= 100%: {text}")
        return Amount(share=share)
    if quantity.parse(text) <= 0:
        raise ValueError(f"eviction threshold {signal} must be positive: {text}")
    return Amount(text)


def _reclaims(given: Mapping[str, str]) -> dict[str, Amount]:
    amounts = {}
    for signal, text in given.items():
        if signal not in SIGNALS:
            raise ValueError(f"unsupported eviction signal {signal}")
        if text.endswith("%"):
            if _percent(text) <= 0:
                raise ValueError(f"eviction percentage minimum reclaim {signal} must be positive: {text}")
            amounts[signal] = Amount(share=_percent(text))
            continue
        if quantity.parse(text) < 0:
            raise ValueError(f"negative eviction minimum reclaim specified for {signal}")
        amounts[signal] = Amount(text)
    return amounts


def parse(settings: Object) -> list[Threshold]:
    """Return the thresholds of a KubeletConfiguration; ValueError names what is wrong."""
    reclaims = _reclaims(settings.get("evictionMinimumReclaim") or {})
    graces = {}
    for signal, text in (settings.get("evictionSoftGracePeriod") or {}).items():
        if signal not in SIGNALS:
            raise ValueError(f"unsupported eviction signal {signal}")
        graces[signal] = float(duration(text))
    thresholds = []
    for signal, text in (settings.get("evictionHard") or {}).items():
        amount = _statement(signal, text)
        if amount is not None:
            thresholds.append(Threshold(signal, amount, 0.0, reclaims.get(signal)))
    for signal, text in (settings.get("evictionSoft") or {}).items():
        amount = _statement(signal, text)
        if amount is None:
            continue
        if signal not in graces:
            raise ValueError(f"grace period must be specified for the soft eviction threshold {signal}")
        thresholds.append(Threshold(signal, amount, graces[signal], reclaims.get(signal)))
    if "pods" in (settings.get("enforceNodeAllocatable") or ()):
        thresholds += [
            Threshold(ALLOCATABLE_MEMORY, threshold.amount, 0.0, threshold.reclaim)
            for threshold in thresholds
            if threshold.signal == MEMORY and threshold.hard
        ]
    # The runtimes known here keep containers on the filesystem of images, so these signals say the same.
    return [
        threshold for threshold in thresholds if threshold.signal not in (CONTAINER_DISK, CONTAINER_INODES)
    ]


def observe(node: Object) -> dict[str, Observation]:
    """Return what the node's part of a summary says about each signal."""
    observations = {}

    def memory(signal: str, stats: Object) -> None:
        if "availableBytes" in stats:
            left = stats["availableBytes"]
            observations[signal] = Observation(left, left + stats["workingSetBytes"])

    def disk(size: str, inodes: str, stats: Object) -> None:
        observations[size] = Observation(stats["availableBytes"], stats["capacityBytes"])
        if stats["inodes"]:  # some filesystems have no fixed number of inodes
            observations[inodes] = Observation(stats["inodesFree"], stats["inodes"], inodes=True)

    memory(MEMORY, node.get("memory", {}))
    for container in node.get("systemContainers", ()):
        if container["name"] == "pods":
            memory(ALLOCATABLE_MEMORY, container["memory"])
    if "fs" in node:
        disk(NODE_DISK, NODE_INODES, node["fs"])
    if "imageFs" in node.get("runtime", {}):
        disk(IMAGE_DISK, IMAGE_INODES, node["runtime"]["imageFs"])
    if "rlimit" in node:
        limit = node["rlimit"]
        observations[PIDS] = Observation(limit["maxpid"] - limit["curproc"], limit["maxpid"], inodes=True)
    return observations


def met(
    thresholds: Iterable[Threshold], seen: Mapping[str, Observation], *, reclaim: bool = False
) -> list[Threshold]:
    """Return the thresholds that are crossed, no matter since when; with ``reclaim`` until enough is free again."""
    crossed = []
    for threshold in thresholds:
        observation = seen.get(threshold.signal)
        if observation is None:
            continue
        amount = threshold.amount.of(observation.capacity)
        if reclaim and threshold.reclaim is not None:
            amount += threshold.reclaim.of(observation.capacity)
        if amount > observation.available:
            crossed.append(threshold)
    return crossed


@dataclass(slots=True)
class PressureWatch:
    """Remembers since when thresholds are crossed, and until when the node counts as under pressure."""

    thresholds: list[Threshold]
    transition: float
    since: dict[Threshold, float] = field(default_factory=dict)
    pressed: dict[str, float] = field(default_factory=dict)  # condition → when it was last observed
    due: list[Threshold] = field(default_factory=list)

    def step(self, seen: Mapping[str, Observation], now: float) -> tuple[frozenset[str], list[Threshold]]:
        """Return the conditions that hold, and the thresholds that have to be acted on, memory first."""
        crossed = met(self.thresholds, seen)
        crossed += [threshold for threshold in met(self.due, seen, reclaim=True) if threshold not in crossed]
        self.since = {threshold: self.since.get(threshold, now) for threshold in crossed}
        self.pressed |= {SIGNALS[threshold.signal][0]: now for threshold in crossed}
        self.pressed = {
            name: at for name, at in self.pressed.items() if now - at < self.transition or at == now
        }
        due = [threshold for threshold, at in self.since.items() if now - at >= threshold.grace]
        self.due = sorted(due, key=lambda threshold: threshold.signal not in (MEMORY, ALLOCATABLE_MEMORY))
        return frozenset(self.pressed), self.due
