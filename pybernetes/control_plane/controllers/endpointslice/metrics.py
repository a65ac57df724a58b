"""What the controller of EndpointSlices counts, under upstream's names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers.endpointslice.plan import Plan, endpoint_key, ports_key
from pybernetes.lib.metrics.counts import Histograms, exponential
from pybernetes.lib.metrics.exposition import Exposition

_PREFIX = "endpoint_slice_controller_"
_BOUNDS = exponential(2, 2, 15)


class EndpointSliceMetrics:
    """Endpoints and slices of services, and how they changed."""

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self.added = Histograms(f"{_PREFIX}endpoints_added_per_sync",
                                "Number of endpoints added on each Service sync", _BOUNDS)  # fmt: skip
        self.removed = Histograms(f"{_PREFIX}endpoints_removed_per_sync",
                                  "Number of endpoints removed on each Service sync", _BOUNDS)  # fmt: skip
        self._services: dict[
            str, dict[str, tuple[int, int, int]]
        ] = {}  # endpoints, slices, slices that are needed
        self._distribution: dict[str, str] = {}

    def synced(self, key: str, service: Object, plans: Iterable[tuple[str, list[Object], Plan]]) -> None:
        """Note what a service has now; each plan comes with its family and the slices that were there."""
        added = removed = 0
        families = {}
        for family, existing, plan in plans:
            same = {id(slice_) for slice_ in plan.unchanged}
            before = _endpoints(slice_ for slice_ in existing if id(slice_) not in same)
            after = _endpoints([*plan.create, *plan.update])
            added += len(after - before)
            removed += len(before - after)
            families[family] = self._sizes([*plan.create, *plan.update, *plan.unchanged])
        self.added.observe(added)
        self.removed.observe(removed)
        self._services[key] = families
        distribution = service["spec"].get("trafficDistribution")
        if distribution is None:
            self._distribution.pop(key, None)
        else:
            self._distribution[key] = distribution

    def forget(self, key: str) -> None:
        """Drop a service that is gone."""
        self._services.pop(key, None)
        self._distribution.pop(key, None)

    def _sizes(self, slices: list[Object]) -> tuple[int, int, int]:
        by_ports: Counter[object] = Counter()
        for slice_ in slices:
            by_ports[ports_key(slice_.get("ports"))] += len(slice_.get("endpoints") or ())
        needed = sum(-(-count // self._maximum) for count in by_ports.values())
        return sum(by_ports.values()), len(slices), needed

    def write(self, text: Exposition) -> None:
        """Write everything as text."""
        self.added.write(text)
        self.removed.write(text)
        endpoints = slices = needed = 0
        for families in self._services.values():
            endpoints += sum(sizes[0] for sizes in families.values())
            slices += sum(sizes[1] for sizes in families.values())
            needed += sum(sizes[2] for sizes in families.values()) or 1  # a service without endpoints has one
        for name, help_, value in (
            ("endpoints_desired", "Number of endpoints desired", endpoints),
            ("num_endpoint_slices", "Number of EndpointSlices", slices),
            ("desired_endpoint_slices", "Number of EndpointSlices that would exist with perfect allocation", needed),
        ):  # fmt: skip
            text.family(_PREFIX + name, "gauge", help_)
            text.sample(_PREFIX + name, (), value)
        name = f"{_PREFIX}services_count_by_traffic_distribution"
        text.family(name, "gauge", "Number of Services using some specific trafficDistribution")
        for distribution, count in sorted(Counter(self._distribution.values()).items()):
            text.sample(name, (("traffic_distribution", distribution),), count)


def _endpoints(slices: Iterable[Object]) -> set[object]:
    return {endpoint_key(endpoint) for slice_ in slices for endpoint in slice_.get("endpoints") or ()}
