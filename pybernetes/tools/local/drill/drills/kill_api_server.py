"""kill-api-server: the API server on the machine that has the virtual address is killed."""

from __future__ import annotations

from pybernetes.tools.local.drill.drill import Drill
from pybernetes.tools.local.drill.site import Site


async def _run(site: Site) -> None:
    machine = await site.holder()
    site.kill(machine, "kube-apiserver")
    site.notes["ready again"] = await site.until(
        f"the API server of {machine} is ready", lambda: site.is_ready(machine)
    )


DRILL = Drill("an API server is killed", _run, limit=1.5)
