"""kill-etcd-leader: the member of etcd that leads is killed."""

from __future__ import annotations

from pybernetes.tools.local.drill.drill import Drill
from pybernetes.tools.local.drill.site import Site


async def _run(site: Site) -> None:
    site.kill(site.etcd_leader(), "etcd")
    site.notes["a leader again"] = await site.until("etcd has a leader", lambda: bool(site.etcd_leader()))


DRILL = Drill("the leader of etcd is killed", _run, limit=3.0)
