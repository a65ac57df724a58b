"""A profile: the plugins that decide about the pods of one scheduler name, in order."""

from __future__ import annotations

from functools import partial
from typing import TypeVar, cast

from pybernetes.scheduling.config import (
    ABSENT_PLUGINS,
    ConfigurationError,
    ProfileConfig,
    at_point,
    default_arguments,
    multi_point,
)
from pybernetes.scheduling.evaluation import Weighted
from pybernetes.scheduling.handle import Handle
from pybernetes.scheduling.plugin import (
    POINTS,
    BindPlugin,
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PostBindPlugin,
    PostFilterPlugin,
    PreBindPlugin,
    PreFilterPlugin,
    QueueSortPlugin,
    ReservePlugin,
    ScorePlugin,
)
from pybernetes.scheduling.registry import known_plugins

P = TypeVar("P", bound=Plugin)
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

    def __init__(self, config: ProfileConfig, handle: Handle) -> None:
        self.scheduler_name = config.scheduler_name
        self._percentage = config.percentage_of_nodes_to_score
        known = known_plugins()
        named = {name for name, _ in multi_point(config)}
        named |= {plugin["name"] for sets in config.plugins.values() for plugin in sets["enabled"]}
        for name in sorted(named - known.keys()):
            why = "is not supported yet" if name in ABSENT_PLUGINS else "does not exist"
            raise ConfigurationError(f'profile "{config.scheduler_name}": plugin "{name}" {why}')
        self.plugins: dict[str, Plugin] = {
            name: known[name](handle, config.arguments.get(name) or default_arguments(name, {}))
            for name in named
        }

        def has(point: str, name: str) -> bool:
            return point in known[name].points

        points = {point: at_point(config, point, partial(has, point)) for point in POINTS}
        self.names = {point: [name for name, _ in enabled] for point, enabled in points.items()}
        self._check()
        self.queue_sort = self._at("queueSort", QueueSortPlugin)[0]
        self.pre_filters = self._at("preFilter", PreFilterPlugin)
        self.filters = self._at("filter", FilterPlugin)
        self.post_filters = self._at("postFilter", PostFilterPlugin)
        weights = dict(points["score"])
        self.scores = [
            Weighted(plugin, weights[plugin.name] or 1) for plugin in self._at("score", ScorePlugin)
        ]
        self.reserves = self._at("reserve", ReservePlugin)
        self.permits = self._at("permit", PermitPlugin)
        self.pre_binds = self._at("preBind", PreBindPlugin)
        self.binds = self._at("bind", BindPlugin)
        self.post_binds = self._at("postBind", PostBindPlugin)

    def _at(self, point: str, kind: type[P]) -> list[P]:
        """Return the plugins that are enabled at a point and do something there; upstream's have more points."""
        plugins = [self.plugins[name] for name in self.names[point]]
        return [cast(P, plugin) for plugin in plugins if hasattr(plugin, POINTS[point])]

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
