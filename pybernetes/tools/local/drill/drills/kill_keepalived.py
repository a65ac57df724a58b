"""kill-keepalived: keepalived on the machine that has the virtual address is killed, so that nobody takes it away there."""

from __future__ import annotations

from pybernetes.tools.local.drill.drill import Drill
from pybernetes.tools.local.drill.site import Site


async def _run(site: Site) -> None:
    site.kill(await site.holder(), "keepalived")
    await site.until_well()


DRILL = Drill("keepalived is killed where the virtual address is", _run, limit=4.0)
