"""lose-api-servers: no API server answers for a while; every container on every machine goes on, and nothing is started anew."""

from __future__ import annotations

import asyncio
import signal

from pybernetes.tools.local.drill.drill import Drill
from pybernetes.tools.local.drill.site import Site
from pybernetes.tools.local.paths import ClusterError

_SECONDS = 30.0
_PODS = "/api/v1/pods"
_CONTROL_PLANE = ("kube-apiserver-", "kube-controller-manager-", "kube-scheduler-")


async def _run(site: Site) -> None:
    before = await asyncio.to_thread(_containers, site)
    machines = site.control_planes
    for machine in machines:
        site.kill(machine, "kube-apiserver", signal.SIGSTOP)
    try:
        await asyncio.sleep(_SECONDS)
        for node, known in before.items():
            gone = known - await site.containers(node)
            if gone:
                raise ClusterError(f"{node} ended {len(gone)} containers while no API server answered")
    finally:
        for machine in machines:
            site.kill(machine, "kube-apiserver", signal.SIGCONT)
    site.notes["well again"] = await site.until_well()
    after = await asyncio.to_thread(_containers, site)
    for node, known in before.items():
        if gone := known - after[node]:
            raise ClusterError(f"{node} ended {len(gone)} containers when API servers came back")


def _containers(site: Site) -> dict[str, set[str]]:
    """Return the containers of pods that the API knows, by node, without those that end when they cannot renew a lease."""
    result: dict[str, set[str]] = {}
    for pod in site.api.call("GET", _PODS)["items"]:
        if pod["metadata"]["name"].startswith(_CONTROL_PLANE):
            continue
        for status in pod.get("status", {}).get("containerStatuses", ()):
            if "running" in status["state"]:
                identity = status["containerID"].partition("://")[2]
                result.setdefault(pod["spec"]["nodeName"], set()).add(identity)
    return result


DRILL = Drill("no API server answers for a while; containers go on", _run)
