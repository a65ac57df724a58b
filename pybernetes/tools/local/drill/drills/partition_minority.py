"""partition-minority: the machine with the leader of etcd is cut off from everybody, and healed."""

from __future__ import annotations

import asyncio

from pybernetes.tools.local.drill.drill import Drill
from pybernetes.tools.local.drill.site import Site

_SECONDS = 10.0


async def _run(site: Site) -> None:
    machine = site.etcd_leader()
    await site.cut_off(machine)
    await asyncio.sleep(_SECONDS)
    await site.heal(machine)
    await site.until_well()


DRILL = Drill("the machine with the leader of etcd is cut off", _run, limit=6.0)
