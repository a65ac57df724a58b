"""restore-snapshot: a snapshot is saved, all members of etcd are lost with their disks, and it is restored on all of them.

Writers are held from the snapshot on: what was acknowledged before it must be there afterwards. API servers and those who watch
them have seen later revisions (leases are renewed all the time), so the API servers start anew, as upstream's documents ask for.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
from pathlib import Path

from pybernetes.lib.files import trees
from pybernetes.tools.kubeadm import etcd_pod
from pybernetes.tools.local.drill.drill import Drill
from pybernetes.tools.local.drill.site import Site
from pybernetes.tools.local.nodes.node import Node
from pybernetes.tools.local.paths import ClusterError
from pybernetes.tools.local.processes import pyb


async def _run(site: Site) -> None:
    members = site.members
    await site.hold_writers()
    file = site.cluster.root / "drill.snapshot"
    file.unlink(missing_ok=True)
    try:
        await asyncio.to_thread(_save, site, members[0], file)
        for machine in members:
            await site.stop(machine)
        for machine in members:
            await asyncio.to_thread(_restore, site, machine, members, file)
        for machine in members:
            await site.start(machine)
    finally:
        file.unlink(missing_ok=True)
    for machine in site.control_planes:
        if machine not in members:
            site.kill(machine, "kube-apiserver", signal.SIGTERM)
    site.notes["well again"] = await site.until_well()
    site.release_writers()


def _save(site: Site, machine: str, file: Path) -> None:
    own = Node(site.cluster, machine).machine.own("/etc/kubernetes") / "pki" / "etcd"
    command = pyb(
        "etcd", "snapshot", "save", str(file), f"--endpoints={etcd_pod.client_url(site.address(machine))}",
        f"--cacert={own}/ca.crt", f"--cert={own}/server.crt", f"--key={own}/server.key",
    )  # fmt: skip
    _call(command)


def _restore(site: Site, machine: str, members: list[str], file: Path) -> None:
    folder = Node(site.cluster, machine).machine.own("/var/lib/etcd")
    trees.remove_path(folder)
    everybody = ",".join(f"{name}={etcd_pod.peer_url(site.address(name))}" for name in members)
    command = pyb(
        "etcd", "snapshot", "restore", str(file), f"--data-dir={folder}", f"--name={machine}",
        f"--initial-cluster={everybody}", f"--initial-advertise-peer-urls={etcd_pod.peer_url(site.address(machine))}",
    )  # fmt: skip
    _call(command)


def _call(command: tuple[str, ...]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ClusterError(f"{' '.join(command[-4:])}: {done.stderr.strip()}")


DRILL = Drill("a snapshot is restored after all members of etcd are lost", _run)
