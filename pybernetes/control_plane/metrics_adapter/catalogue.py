"""Which metrics there are: series are listed when somebody asks and the last list is old."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

from pybernetes.control_plane.metrics_adapter.config import Rule
from pybernetes.control_plane.metrics_adapter.prometheus_client import PrometheusClient
from pybernetes.lib.clock import Clock

Key = TypeVar("Key")


class Ages(NamedTuple):
    """In seconds, how old a list of series may be, and how old a series in it."""

    list_: float = 600.0
    series: float = 1200.0


class RuleAndSeries(NamedTuple):
    """The rule and the series that a metric is made of."""

    rule: Rule
    series: str


class Catalogue(Generic[Key]):
    """Metrics by key. ``keys`` gives those that a series with some labels stands for, under the name of its metric."""

    def __init__(
        self, client: PrometheusClient, rules: Sequence[Rule],
        keys: Callable[[Rule, str, dict[str, str]], Iterable[Key]], ages: Ages, clock: Clock | None = None,
    ) -> None:  # fmt: skip
        self._client, self._rules, self._keys = client, list(rules), keys
        self._ages, self._clock = ages, clock or Clock()
        self._listed: float | None = None
        self._turn = asyncio.Lock()
        self.metrics: dict[Key, RuleAndSeries] = {}

    async def refresh(self) -> None:
        """List series again if the last list is old; many who ask at once wait for one list."""
        async with self._turn:
            now = self._clock.monotonic()
            if self._listed is not None and now - self._listed < self._ages.list_:
                return
            metrics: dict[Key, RuleAndSeries] = {}
            queries = dict.fromkeys(rule.series_query for rule in self._rules)
            since = self._clock.now() - self._ages.series
            listed = {query: await self._client.series(query, since) for query in queries}
            for rule in self._rules:
                for labels in listed[rule.series_query]:
                    series = labels.get("__name__", "")
                    name = rule.metric_name(series) if series and rule.takes(series) else None
                    if name:
                        for key in self._keys(rule, name, labels):
                            metrics.setdefault(key, RuleAndSeries(rule, series))
            self.metrics, self._listed = metrics, now
