"""restart-api-servers: all API servers are told to end, one after the other, each when the one before is ready again."""

from __future__ import annotations

import signal

from pybernetes.tools.local.drill.drill import Drill
from pybernetes.tools.local.drill.site import Site


async def _run(site: Site) -> None:
    for machine in site.control_planes:
        await _restart(site, machine)


async def _restart(site: Site, machine: str) -> None:
    site.kill(machine, "kube-apiserver", signal.SIGTERM)
    await site.until(f"the API server of {machine} ends", lambda: not site.is_ready(machine))
    await site.until(f"the API server of {machine} is ready", lambda: site.is_ready(machine))


DRILL = Drill("all API servers are started anew, one by one", _run, limit=1.5)
