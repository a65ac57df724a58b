"""kill-controller-manager: the active controller-manager is killed with its machine's others left alone."""

from __future__ import annotations

from pybernetes.tools.local.drill.drill import Drill
from pybernetes.tools.local.drill.site import Site
from pybernetes.tools.local.drill.succession import hand_over


async def _run(site: Site) -> None:
    await hand_over(site, "kube-controller-manager")


DRILL = Drill("the active controller-manager is killed", _run, limit=1.5)
