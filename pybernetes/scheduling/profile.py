"""A profile: the plugins that decide about the pods of one scheduler name, in order."""

from __future__ import annotations

from typing import cast

from pybernetes.lib.discover import discover
from pybernetes.scheduling.config import (
    ABSENT_PLUGINS,
    POINTS,
    ConfigurationError,
    ProfileConfig,
    at_point,
    default_arguments,
    multi_point,
)
from pybernetes.scheduling.evaluation import Weighted
from pybernetes.scheduling.listers import Listers
from pybernetes.scheduling.plugin import FilterPlugin, Plugin, PreFilterPlugin, ScorePlugin
from pybernetes.scheduling.plugins.default_preemption import DefaultPreemption
from pybernetes.scheduling.snapshot import Snapshot

PLUGINS = "pybernetes.scheduling.plugins"


def known_plugins() -> dict[str, type[Plugin]]:
    """Return every plugin by its name."""
    return discover(PLUGINS, "PLUGIN", key=lambda plugin: plugin.name)


# Fewer nodes than this are all looked at, whatever percentageOfNodesToScore says.
MIN_NODES = 100


def nodes_to_find(percentage: int, nodes: int) -> int:
    """Return the number of feasible nodes that is enough to choose from; 0 stands for all.

    Upstream looks at fewer nodes the more there are if no percentage is given. Here all nodes are looked at
    together and more of them cost next to nothing, so all are looked at unless the configuration says otherwise.
    """
    if nodes < MIN_NODES or percentage in (0, 100):
        return 0
    return max(MIN_NODES, nodes * percentage // 100)


class Profile:
    """The plugins of a profile at each point."""

    def __init__(self, config: ProfileConfig, snapshot: Snapshot, listers: Listers) -> None:
        self.scheduler_name = config.scheduler_name
        self._percentage = config.percentage_of_nodes_to_score
        known = known_plugins()
        named = {name for name, _ in multi_point(config)}
        named |= {plugin["name"] for sets in config.plugins.values() for plugin in sets["enabled"]}
        for name in sorted(named - known.keys()):
            why = "is not supported yet" if name in ABSENT_PLUGINS else "does not exist"
            raise ConfigurationError(f'profile "{config.scheduler_name}": plugin "{name}" {why}')
        self.plugins: dict[str, Plugin] = {
            name: known[name](snapshot, config.arguments.get(name) or default_arguments(name, {}), listers)
            for name in named
        }
        points = {
            point: at_point(config, point, lambda name, point=point: point in known[name].points)
            for point in POINTS
        }
        self.names = {point: [name for name, _ in enabled] for point, enabled in points.items()}
        self._check()
        self.filters = [cast(FilterPlugin, self.plugins[name]) for name in self.names["filter"]]
        self.pre_filters = [
            plugin
            for name in self.names["preFilter"]
            if isinstance(plugin := self.plugins[name], PreFilterPlugin)
        ]
        self.scores = [
            Weighted(cast(ScorePlugin, self.plugins[name]), weight or 1) for name, weight in points["score"]
        ]
        preemption = "DefaultPreemption" in self.names["postFilter"]
        self.preemption = cast(DefaultPreemption, self.plugins["DefaultPreemption"]) if preemption else None

    def _check(self) -> None:
        sorts, binds = self.names["queueSort"], self.names["bind"]
        name = self.scheduler_name
        if len(sorts) != 1:
            raise ConfigurationError(
                f'only one queue sort plugin required for profile with scheduler name "{name}", but got {len(sorts)}'
            )
        if not binds:
            raise ConfigurationError(
                f'at least one bind plugin is needed for profile with scheduler name "{name}"'
            )

    def share_of_nodes(self, nodes: int) -> int:
        """Return how many feasible nodes are enough to choose from; 0: all."""
        return nodes_to_find(self._percentage, nodes)
