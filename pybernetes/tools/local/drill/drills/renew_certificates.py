"""renew-certificates: kubeadm renews all certificates of a control plane, one machine after the other, and its pods read them."""

from __future__ import annotations

import asyncio
import signal

from pybernetes.tools.local.control_planes import machines
from pybernetes.tools.local.drill.drill import Drill
from pybernetes.tools.local.drill.site import Site

_SECONDS = 3.0
_READERS = ("kube-controller-manager", "kube-scheduler", "etcd", "kube-apiserver", "haproxy")


async def _run(site: Site) -> None:
    for machine in site.control_planes:
        await asyncio.to_thread(machines.kubeadm, site.cluster, machine, "certs", "renew", "all")
        for program in _READERS:
            if program != "etcd" or machine in site.members:
                await site.until_running(machine, program)
                site.kill(machine, program, signal.SIGTERM)
        await asyncio.sleep(_SECONDS)  # all of them have ended
        await site.until_well()


DRILL = Drill("certificates are renewed, one machine after the other", _run, limit=6.0)
