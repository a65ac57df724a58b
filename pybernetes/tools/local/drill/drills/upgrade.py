"""upgrade: kubeadm takes every control plane to the next patch release, one machine after the other, and back again.

There is one release of ourselves on a machine, so its images get the next release's names as well: every pod is made anew by the
way of a real upgrade, from what is the same inside.
"""

from __future__ import annotations

import asyncio

from pybernetes import KUBERNETES_VERSION
from pybernetes.node.containerd import images
from pybernetes.tools.image import names
from pybernetes.tools.kubeadm.upgrade import policy
from pybernetes.tools.local.control_planes import machines
from pybernetes.tools.local.drill.drill import Drill
from pybernetes.tools.local.drill.site import Site
from pybernetes.tools.local.processes import containerd_socket
from pybernetes.tools.local.settings import ETCD


def following(version: str) -> str:
    """Return the patch release after another."""
    major, minor, patch, _ = policy.parse(version)
    return f"v{major}.{minor}.{patch + 1}"


async def _run(site: Site) -> None:
    target = following(KUBERNETES_VERSION)
    for node in site.settings.nodes:
        if node.role != ETCD and not node.stopped:
            for name in names.COMPONENTS:
                socket = containerd_socket(site.cluster, node.name)
                await images.tag(socket, names.component(name), names.component(name, target))
    for version in (target, KUBERNETES_VERSION):
        first, *others = site.control_planes
        # Our kubeadm is of the release that all machines have, which is not the next one.
        await _kubeadm(site, first, "upgrade", "apply", version, "--force", "--yes")
        for machine in others:
            await _kubeadm(site, machine, "upgrade", "node")
        site.notes[f"{version} on all machines, and well"] = await site.until_well()


async def _kubeadm(site: Site, machine: str, *words: str) -> None:
    await asyncio.to_thread(machines.kubeadm, site.cluster, machine, *words)


DRILL = Drill("every control plane is upgraded under load, one machine after the other", _run, limit=6.0)
