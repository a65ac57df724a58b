"""kill-scheduler: the active scheduler is killed with its machine's others left alone."""

from __future__ import annotations

from pybernetes.tools.local.drill.drill import Drill
from pybernetes.tools.local.drill.site import Site
from pybernetes.tools.local.drill.succession import hand_over


async def _run(site: Site) -> None:
    await hand_over(site, "kube-scheduler")


DRILL = Drill("the active scheduler is killed", _run, limit=1.5)
