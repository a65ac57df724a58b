"""Service level indicators from what components tell Prometheus: pure functions of their pages."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import NamedTuple

_SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)")
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')
_WRITES = frozenset({"POST", "PUT", "PATCH", "APPLY", "DELETE"})
_REQUESTS, _STARTS = "apiserver_request_sli_duration_seconds", "kubelet_pod_start_sli_duration_seconds"
_SCHEDULING = "scheduler_pod_scheduling_sli_duration_seconds"


class Sample(NamedTuple):
    """One line of a page of metrics."""

    name: str
    labels: dict[str, str]
    value: float


class Indicator(NamedTuple):
    """An indicator and its objective, both in seconds; nan where nothing was measured yet."""

    name: str
    seconds: float
    objective: float
    requests: int

    @property
    def met(self) -> bool:
        """Whether the objective is met; nothing that was measured is too slow."""
        return math.isnan(self.seconds) or self.seconds <= self.objective


def parse(text: str) -> list[Sample]:
    """Return the samples of a page; lines that make no sense are left out."""
    samples = []
    for line in text.splitlines():
        match = _SAMPLE.match(line)
        if match is None:
            continue
        try:
            value = float(match[3])
        except ValueError:
            continue
        samples.append(Sample(match[1], dict(_LABEL.findall(match[2] or "")), value))
    return samples


def quantile(share: float, buckets: dict[float, float]) -> float:
    """Return a quantile of cumulated buckets as PromQL's histogram_quantile does; nan if nothing was counted."""
    bounds = sorted(buckets)
    total = buckets[bounds[-1]] if bounds else 0.0
    if not total:
        return math.nan
    rank, low, below = share * total, 0.0, 0.0
    for bound in bounds:
        if buckets[bound] >= rank:
            if math.isinf(bound):
                return low
            inside = buckets[bound] - below
            return low + (bound - low) * ((rank - below) / inside if inside else 1.0)
        low, below = bound, buckets[bound]
    return low


def _indicator(name: str, objective: float, samples: Iterable[Sample]) -> Indicator:
    buckets: dict[float, float] = {}
    for sample in samples:
        bound = float(sample.labels.get("le", "nan"))
        buckets[bound] = buckets.get(bound, 0.0) + sample.value
    count = int(buckets.get(math.inf, 0))
    return Indicator(name, quantile(0.99, buckets), objective, count)


def indicators(samples: Iterable[Sample]) -> list[Indicator]:
    """Return every indicator of a cluster; samples are those of all of its components."""
    kept = list(samples)
    requests = [
        sample for sample in kept if sample.name == f"{_REQUESTS}_bucket" and sample.labels.get("resource")
    ]

    def asked(verbs: frozenset[str], *scopes: str) -> list[Sample]:
        return [
            sample
            for sample in requests
            if sample.labels.get("verb") in verbs
            and (not scopes or sample.labels.get("scope") in scopes)
            and sample.labels.get("subresource") not in ("proxy", "exec", "attach", "portforward", "log")
        ]

    def named(name: str) -> list[Sample]:
        return [sample for sample in kept if sample.name == f"{name}_bucket"]

    reads = frozenset({"GET", "LIST"})
    return [
        _indicator("API calls that change objects, 99 %", 1.0, asked(_WRITES)),
        _indicator("API calls that read one object, 99 %", 1.0, asked(reads, "resource")),
        _indicator("API calls that read a namespace or a cluster, 99 %", 30.0, asked(reads, "namespace", "cluster")),
        _indicator("scheduling of a pod, 99 %", 5.0, named(_SCHEDULING)),
        _indicator("start of a pod, 99 %", 5.0, named(_STARTS)),
    ]  # fmt: skip
