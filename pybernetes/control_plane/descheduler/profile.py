"""The plugins of a profile, made from its policy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pybernetes.control_plane.descheduler.node_usage import Source
from pybernetes.control_plane.descheduler.plugin import (
    BALANCE,
    DESCHEDULE,
    FILTER,
    PRE_EVICTION_FILTER,
    EvictorPlugin,
    Plugin,
    StrategyPlugin,
)
from pybernetes.control_plane.descheduler.policy import POINTS, PolicyError, ProfilePolicy
from pybernetes.control_plane.descheduler.registry import known_plugins
from pybernetes.control_plane.descheduler.view import View
from pybernetes.scheduling.columns import Bools, Ints

_SHOWN = {PRE_EVICTION_FILTER: "preEvictionFilter"}


class Profile:
    """Strategies, and the rules about which pods may go."""

    def __init__(self, policy: ProfilePolicy) -> None:
        self.name = policy.name
        known = known_plugins()
        for point in POINTS:
            strange = sorted(
                name for name in policy.plugins[point] if name not in known or point not in known[name].points
            )
            if strange:
                listed = " ".join(f"{name}:{{}}" for name in strange)
                raise PolicyError(
                    f'unable to create "{self.name}" profile: profile "{self.name}" configures '
                    f"{_SHOWN.get(point, point)} extension point of non-existing plugins: map[{listed}]"
                )
        made: dict[str, Plugin] = {}
        for name in (name for point in POINTS for name in policy.plugins[point]):
            if name not in policy.arguments:
                raise PolicyError(
                    f'unable to create "{self.name}" profile: unable to build {name} plugin: '
                    f'unable to find "{name}" plugin config'
                )
            if name not in made:
                made[name] = known[name](policy.arguments[name])
        self.strategies = {
            point: [plugin for name in policy.plugins[point] if isinstance(plugin := made[name], StrategyPlugin)]
            for point in (DESCHEDULE, BALANCE)
        }  # fmt: skip
        self._filters = [
            plugin for name in policy.plugins[FILTER] if isinstance(plugin := made[name], EvictorPlugin)
        ]
        self._last = [
            plugin
            for name in policy.plugins[PRE_EVICTION_FILTER]
            if isinstance(plugin := made[name], EvictorPlugin)
        ]

    def evictable(self, view: View) -> Bools:
        """Return which pods may go."""
        result: Bools = np.ones(view.table.size, dtype=np.bool_)
        for plugin in self._filters:
            result &= plugin.evictable(view)
        return result

    def may_leave(self, view: View, row: int) -> bool:
        """Return whether a pod that was picked may go now."""
        return all(plugin.may_leave(view, row) for plugin in self._last)

    def all_may_leave(self, view: View, rows: Ints) -> Bools:
        """Return which of some pods may go now."""
        result: Bools = np.ones(len(rows), dtype=np.bool_)
        for plugin in self._last:
            result[result] = plugin.all_may_leave(view, rows[result])
        return result

    def sources(self) -> Iterator[Source]:
        """Yield whom plugins want to be asked for what nodes use."""
        for plugins in self.strategies.values():
            for plugin in plugins:
                source: Source | None = getattr(plugin, "source", None)
                if source is not None:
                    yield source
