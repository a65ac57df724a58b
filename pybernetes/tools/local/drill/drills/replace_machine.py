"""replace-machine: a control-plane machine is lost for good, taken out, and a new one joins in its place."""

from __future__ import annotations

from pybernetes.tools.local.drill.drill import Drill
from pybernetes.tools.local.drill.site import Site
from pybernetes.tools.local.settings import CONTROL_PLANE


async def _run(site: Site) -> None:
    holder = await site.holder()
    machine = next(name for name in site.control_planes if name != holder)
    await site.stop(machine)
    await site.remove(machine)
    await site.add(CONTROL_PLANE)
    await site.until_well()


DRILL = Drill("a control-plane machine is lost for good, and another one joins", _run, limit=6.0)
