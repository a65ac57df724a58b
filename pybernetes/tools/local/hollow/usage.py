"""What hollow nodes and their pods use: counters that follow the curves of usage.yaml."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from pybernetes.api.resource import Object
from pybernetes.lib import rfc3339
from pybernetes.lib.clock import Clock
from pybernetes.lib.memory.bounded_cache import bounded_cache
from pybernetes.tools.local.hollow import stages
from pybernetes.tools.local.hollow.render import ABSENT
from pybernetes.tools.local.hollow.usage_curves import Constant, Curve, parse, read_csv

log = logging.getLogger(__name__)
CPU, MEMORY = "hollow.pybernetes.io/cpu-usage", "hollow.pybernetes.io/memory-usage"
_FACTS = {"$cpuAnnotation": CPU, "$memoryAnnotation": MEMORY}
# What a node uses besides its pods.
_NODE_CORES, _NODE_BYTES = 0.05, 512 * 2**20


class Entry(NamedTuple):
    """One entry of the file."""

    name: str
    when: Object
    cpu: Curve | str  # a curve, or the annotation that has one
    memory: Curve | str


def read(path: Path) -> list[Entry]:
    """Return the entries of a file; ValueError if one of them cannot be."""

    def curve(value: Any) -> Curve | str:
        if isinstance(value, dict):
            text = (path.parent / str(value.get("replay"))).read_text()
            return read_csv(text, str(value.get("column")), shared=value.get("shared") is True)
        return _FACTS.get(value) or parse(str(value))

    entries = stages.read_yaml(path)
    if not isinstance(entries, list):
        raise ValueError(f"{path} is no list of entries")
    return [
        Entry(entry["name"], entry.get("when") or {}, curve(entry["cpu"]), curve(entry["memory"]))
        for entry in entries
    ]


@lru_cache(maxsize=1)
def builtin() -> list[Entry]:
    """Return what hollow nodes use unless told otherwise."""
    return read(Path(__file__).parent / "usage.yaml")


@bounded_cache(4 << 20, weight=8)
def _annotated(text: str, least: float) -> Curve:
    try:
        return parse(text)
    except ValueError as error:
        log.warning("the usage %r of a hollow pod is not understood: %s", text, error)
        return Constant(least)


def curves(entries: Sequence[Entry], pod: Object) -> tuple[Curve, Curve]:
    """Return the curves of CPU and memory of a pod's containers."""
    annotations = pod["metadata"].get("annotations") or {}
    facts = {
        "cpuAnnotation": annotations.get(CPU) or ABSENT, "memoryAnnotation": annotations.get(MEMORY) or ABSENT
    }  # fmt: skip
    for entry in entries:
        if stages.holds(entry.when, pod, facts):
            cpu = (
                _annotated(annotations.get(entry.cpu, ""), 0.001) if isinstance(entry.cpu, str) else entry.cpu
            )
            memory = entry.memory
            if isinstance(memory, str):
                memory = _annotated(annotations.get(memory, ""), 2.0**24)
            return cpu, memory
    return Constant(0.001), Constant(2.0**24)


@dataclass(slots=True)
class _Counter:
    """CPU time up to a moment; a curve that changes goes on from there."""

    seconds: float
    moment: float


class HollowUsage:
    """Counts what is used, when somebody asks.

    ``pods_on`` gives the pods of a node, ``siblings`` counts those of an owner, ``node_at`` gives the node of an address.
    """

    def __init__(self, entries: Sequence[Entry] | None = None, clock: Clock | None = None) -> None:
        self._entries, self._clock = entries if entries is not None else builtin(), clock or Clock()
        self._counters: dict[str, dict[str, _Counter]] = {}  # by node, then by pod and container
        self.pods_on: Callable[[str], Sequence[Object]] = lambda node: ()
        self.node_at: Callable[[str], str | None] = lambda address: None
        self.siblings: Callable[[Object], int] = lambda pod: 1
        self.began = self._clock.now()

    def now(self) -> float:
        """Return the time of day that the figures are of."""
        return self._clock.now()

    def summary(self, node: str) -> Object:
        """Return what a kubelet's summary says, as far as it is of CPU and memory."""
        now = self._clock.now()
        old, new = self._counters.get(node, {}), {}
        pods, memory = [], _NODE_BYTES
        whole = old.get("", _Counter(_NODE_CORES * (now - self.began) + 1.0, now))
        total = whole.seconds + _NODE_CORES * (now - whole.moment)
        cores = _NODE_CORES
        for pod in self.pods_on(node):
            if pod.get("status", {}).get("phase") != "Running":
                continue
            containers = []
            cpu, used = curves(self._entries, pod)
            share = 1 / max(1, self.siblings(pod)) if cpu.shared or used.shared else 1.0
            for status in pod["status"].get("containerStatuses") or ():
                started = (status.get("state", {}).get("running") or {}).get("startedAt")
                if not started:
                    continue
                start, key = rfc3339.parse(started), f"{pod['metadata']['uid']}/{status['name']}"
                # Curves of loads that many share run by the time of day: they are the same for all of them.
                zero = self.began if cpu.shared else start
                last = old.get(key) or _Counter(0.0, start)
                part = share if cpu.shared else 1.0
                added = max(0.0, cpu.area(last.moment - zero, now - zero)) * part
                new[key] = _Counter(last.seconds + added, now)
                total += added
                size = int(
                    used.at(now - (self.began if used.shared else start)) * (share if used.shared else 1.0)
                )
                rate = cpu.at(now - zero) * part
                memory, cores = memory + size, cores + rate
                containers.append(
                    {
                        "name": status["name"],
                        "startTime": started,
                        **_figures(now, new[key].seconds, rate, size),
                    }
                )
            pods.append(_pod(pod, containers, now))
        new[""] = _Counter(total, now)
        self._counters[node] = new
        return {
            "node": {
                "nodeName": node,
                "startTime": rfc3339.seconds(self.began),
                **_figures(now, total, cores, memory),
            },
            "pods": pods,
        }


def _figures(now: float, seconds: float, rate: float, size: int) -> Object:
    moment = rfc3339.seconds(now)
    return {
        "cpu": {
            "time": moment,
            "usageNanoCores": int(rate * 1e9),
            "usageCoreNanoSeconds": int(seconds * 1e9),
        },
        "memory": {"time": moment, "usageBytes": size, "workingSetBytes": size, "rssBytes": size},
        "swap": {"time": moment, "swapUsageBytes": 0},
    }


def _pod(pod: Object, containers: list[Object], now: float) -> Object:
    meta = pod["metadata"]
    seconds = sum(item["cpu"]["usageCoreNanoSeconds"] for item in containers) / 1e9
    rate = sum(item["cpu"]["usageNanoCores"] for item in containers) / 1e9
    size = sum(item["memory"]["workingSetBytes"] for item in containers)
    return {
        "podRef": {key: meta[key] for key in ("name", "namespace", "uid")},
        "startTime": pod["status"].get("startTime"),
        "containers": containers,
        **_figures(now, seconds, rate, size),
    }
