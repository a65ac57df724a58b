"""What two drills share: the active one of a component is killed, and another one takes its place."""

from __future__ import annotations

import asyncio

from pybernetes.tools.local.drill.site import Site
from pybernetes.tools.local.paths import ClusterError

_LEASE_SECONDS = 15.0
_PATIENCE_SECONDS = 3.0


async def hand_over(site: Site, component: str) -> None:
    """Kill the active one of a component; it is an error if no other is active soon after the lease has run out."""
    before = await asyncio.to_thread(site.active, component)  # the clients work on this loop
    site.kill(before.partition("_")[0], component)
    seconds = await site.until(
        f"another {component} is active", lambda: site.active(component) not in ("", before)
    )
    site.notes["active again"] = seconds
    if seconds > _LEASE_SECONDS + _PATIENCE_SECONDS:
        raise ClusterError(f"it took {seconds:.1f} s until another {component} was active")
