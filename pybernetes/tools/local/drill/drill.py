"""A drill: what fails, while clients write and watch, and what they saw of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from pybernetes.client import kubeconfig
from pybernetes.lib import discover
from pybernetes.tools.local.drill import figures
from pybernetes.tools.local.drill.figures import Figures
from pybernetes.tools.local.drill.site import Site
from pybernetes.tools.local.drill.workload import Workload
from pybernetes.tools.local.paths import Cluster, ClusterError
from pybernetes.tools.local.settings import SettingsError
from pybernetes.tools.local.settings import load as load_settings

_PACKAGE = "pybernetes.tools.local.drill.drills"
CALM_SECONDS = 2.0  # before and after


@dataclass(frozen=True, slots=True)
class Drill:
    """Something that fails; ``run`` makes it fail and brings it back, ``limit`` is what clients may feel, in seconds."""

    summary: str
    run: Callable[[Site], Awaitable[None]]
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a drill showed; ``problem`` says why it could not be carried out."""

    name: str
    summary: str
    limit: float | None
    figures: Figures | None
    notes: dict[str, float] = field(default_factory=dict)  # seconds until something was so
    counts: dict[str, int] = field(default_factory=dict)  # what was done, and how often
    problem: str = ""

    @property
    def is_good(self) -> bool:
        """Whether nothing was lost, and nobody waited longer than allowed."""
        if self.problem or self.figures is None or not self.figures.is_good:
            return False
        return self.limit is None or self.figures.longest_gap <= self.limit


def drills() -> dict[str, Drill]:
    """Return all drills by name."""
    return {name.replace("_", "-"): drill for name, drill in discover.discover(_PACKAGE, "DRILL").items()}


def check(cluster: Cluster, names: list[str]) -> list[str]:
    """Return the names of the drills to run; SettingsError for what is not possible."""
    known = drills()
    for name in names:
        if name not in known:
            raise SettingsError(f"there is no drill {name!r}; the drills are: {', '.join(known)}")
    if load_settings(cluster).control_planes < 3:
        raise SettingsError(
            f"drills need three control planes, of which one can fail: pyb up {cluster.name} --control-planes 3"
        )
    return names or list(known)


async def carry_out(cluster: Cluster, name: str, seconds: float = 0.0) -> Outcome:
    """Carry out one drill, with clients for at least so many seconds."""
    drill, site = drills()[name], Site(cluster, seconds)
    try:
        await site.until_well()
        config = kubeconfig.load(cluster.kubeconfig)
        servers = [f"https://{site.address(machine)}:6443" for machine in site.control_planes]
        workload = Workload(config, servers)
        await workload.start()
        site.workload = workload
        until = asyncio.get_running_loop().time() + seconds
        problem = ""
        try:
            await asyncio.sleep(CALM_SECONDS)
            await drill.run(site)
            await asyncio.sleep(max(CALM_SECONDS, until - asyncio.get_running_loop().time()))
        except (ClusterError, OSError, ValueError) as error:
            problem = str(error)
        record = await workload.stop()
    except (ClusterError, OSError, ValueError) as error:
        return Outcome(name, drill.summary, drill.limit, None, site.notes, dict(site.counts), str(error))
    seen = await asyncio.to_thread(figures.figures, record)
    return Outcome(name, drill.summary, drill.limit, seen, site.notes, dict(site.counts), problem)
