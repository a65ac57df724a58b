"""lose-machine: the machine that has the virtual address loses power, and comes back."""

from __future__ import annotations

from pybernetes.tools.local.drill.drill import Drill
from pybernetes.tools.local.drill.site import Site


async def _run(site: Site) -> None:
    machine = await site.holder()
    await site.stop(machine)
    site.notes["the address moved"] = await site.until(
        "another machine has the virtual address", lambda: bool(site.holders())
    )
    await site.start(machine)
    await site.until_well()


DRILL = Drill("the machine that has the virtual address is lost, and back", _run, limit=4.0)
