"""kill-haproxy: HAProxy on the machine that has the virtual address is killed, and its kubelet starts it again."""

from __future__ import annotations

from pybernetes.tools.local.drill.drill import Drill
from pybernetes.tools.local.drill.site import Site


async def _run(site: Site) -> None:
    site.kill(await site.holder(), "haproxy")
    await site.until_well()


DRILL = Drill("HAProxy is killed where the virtual address is", _run, limit=6.0)
