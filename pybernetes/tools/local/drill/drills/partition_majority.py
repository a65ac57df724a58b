"""partition-majority: most machines with members of etcd are cut off; nobody can write, and reads from memory go on."""

from __future__ import annotations

import asyncio

from pybernetes.tools.local.admin_client import ApiError
from pybernetes.tools.local.drill.drill import Drill
from pybernetes.tools.local.drill.site import Site

_SECONDS = 10.0


async def _run(site: Site) -> None:
    cut = site.members[: len(site.members) // 2 + 1]
    for machine in cut:
        await site.cut_off(machine)
    try:
        await asyncio.sleep(_SECONDS)
        await site.until("a read from memory is answered", lambda: _reads(site))
    finally:
        for machine in cut:
            await site.heal(machine)
    site.notes["well again"] = await site.until(
        "every API server is ready", lambda: all(map(site.is_ready, site.control_planes))
    )
    await site.until_well()


def _reads(site: Site) -> bool:
    try:
        return bool(site.api.call("GET", "/api/v1/namespaces?resourceVersion=0", 2.0)["items"])
    except (ApiError, OSError):
        return False


DRILL = Drill("most members of etcd are cut off: nobody writes, reads from memory go on", _run)
