"""One pass over the cluster: which pods go, in which order, decided without doing any of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import NamedTuple

from pybernetes.control_plane.descheduler.cluster import Cluster
from pybernetes.control_plane.descheduler.fit import Fit
from pybernetes.control_plane.descheduler.node_usage import Usage
from pybernetes.control_plane.descheduler.plugin import BALANCE, DESCHEDULE, Decisions, Outcome, PluginError
from pybernetes.control_plane.descheduler.pod_records import PodRecord
from pybernetes.control_plane.descheduler.pod_table import PodTable
from pybernetes.control_plane.descheduler.profile import Profile
from pybernetes.control_plane.descheduler.view import View

log = logging.getLogger(__name__)


class Eviction(NamedTuple):
    """A pod that is to go, and on whose account."""

    record: PodRecord
    profile: str
    strategy: str


# Gives evictions, and is told what became of each.
Pass = Generator[Eviction, Outcome | None, None]
Timer = Callable[[str, str], Callable[[], None]]


def _untimed(_profile: str, _strategy: str) -> Callable[[], None]:
    return lambda: None


def descheduling(
    cluster: Cluster,
    profiles: Sequence[Profile],
    now: float,
    node_selector: str = "",
    usages: Mapping[object, Usage | str] | None = None,
    timer: Timer = _untimed,
) -> Pass:
    """Give the pods that should go: first what all profiles deschedule, then what they balance.

    The cluster must stand still meanwhile. An evicted pod is gone for everybody who decides after it; at the end the
    cluster is as it was.
    """
    table = PodTable(cluster)
    fit = Fit(table)
    try:
        views = [View(table, fit, profile, now, node_selector, usages) for profile in profiles]
        if views and views[0].nodes.sum() <= 1:
            log.info("Skipping descheduling cycle: requires >=2 nodes, found %d", views[0].nodes.sum())
            return
        for point in (DESCHEDULE, BALANCE):
            for profile, view in zip(profiles, views, strict=True):
                for plugin in profile.strategies[point]:
                    done = timer(profile.name, plugin.name)
                    try:
                        yield from _strategy(view, profile, plugin.name, plugin.decide(view))
                    except PluginError as error:
                        log.error(
                            'profile "%s": plugin "%s" finished with error: %s',
                            profile.name,
                            plugin.name,
                            error,
                        )
                    done()
    finally:
        table.restore()


def _strategy(view: View, profile: Profile, strategy: str, decisions: Decisions) -> Pass:
    outcome: Outcome | None = None
    while True:
        try:
            row = decisions.send(outcome)
        except StopIteration:
            return
        outcome = yield Eviction(view.table.records[row], profile.name, strategy)
        if outcome is Outcome.EVICTED:
            view.table.remove(row)


def simulate(evictions: Pass, evict: Callable[[Eviction], Outcome]) -> list[Eviction]:
    """Run a pass with a function that says what becomes of each eviction; return those that went well."""
    result: list[Eviction] = []
    outcome: Outcome | None = None
    while True:
        try:
            eviction = evictions.send(outcome)
        except StopIteration:
            return result
        outcome = evict(eviction)
        if outcome is Outcome.EVICTED:
            result.append(eviction)
