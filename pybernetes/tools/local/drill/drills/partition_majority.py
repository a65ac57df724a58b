"""partition-majority: most machines with members of etcd are cut off; nobody can write, and reads from memory go on."""

from __future__ import annotations

import asyncio
import time

from pybernetes.tools.local.admin_client import ApiError
from pybernetes.tools.local.drill.drill import Drill
from pybernetes.tools.local.drill.site import Site
from pybernetes.tools.local.paths import ClusterError

_SECONDS = 10.0
_PATIENCE_SECONDS = 30.0  # longer than an API server waits for etcd
_EXPECTED = (503, 504)


async def _run(site: Site) -> None:
    cut = site.members[: len(site.members) // 2 + 1]
    for machine in cut:
        await site.cut_off(machine)
    try:
        await asyncio.sleep(_SECONDS)
        await site.until("a read from memory is answered", lambda: _reads(site))
        site.notes["a write is refused"] = await asyncio.to_thread(_is_refused, site)
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


def _is_refused(site: Site) -> float:
    """Return after how many seconds a write was refused; it must be with 503 or 504, and say when to ask again."""
    begin = time.monotonic()
    body = {"metadata": {"generateName": "drill-", "namespace": "default"}}
    try:
        site.api.call("POST", "/api/v1/namespaces/default/configmaps", _PATIENCE_SECONDS, body)
    except ApiError as error:
        if error.status not in _EXPECTED or not error.retry_after:
            raise ClusterError(
                f"a write was refused with {error.status} and Retry-After {error.retry_after!r}: {error}"
            ) from None
        return time.monotonic() - begin
    raise ClusterError("a write was acknowledged while there was no quorum")


DRILL = Drill("most members of etcd are cut off: nobody writes, reads from memory go on", _run)
