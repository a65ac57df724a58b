"""A cluster with several control planes from ``up`` on; the rest of its life is that of every local cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pybernetes.node.containerd.requirements import check_programs
from pybernetes.tools.local import kubeconfig, name_lock
from pybernetes.tools.local import lifecycle as local
from pybernetes.tools.local import settings as saved_settings
from pybernetes.tools.local.control_planes import installation, serving_certificates, topology
from pybernetes.tools.local.network import kernel_settings, server_address
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import Settings


def up(
    cluster: Cluster, before: Settings, changes: Mapping[str, Any], step: Callable[..., None], wait: float
) -> Settings:
    """Make a new cluster, or start one that is stopped; the caller excludes other commands on it."""
    new = not cluster.kubeconfig.exists()
    settings = topology.decide(cluster.name, before, changes, new=not before.nodes)
    check_programs()
    name_lock.acquire(cluster)
    kernel_settings.remember(cluster)
    saved_settings.save(cluster, settings)
    installation.prepare(cluster, settings)
    step("machines and networks are there", "starting container runtimes")
    started = local.start_supervisor(cluster, changed=settings != before)
    if new:
        installation.install(cluster, settings, step)
    installation.wait_until_ready(cluster)
    if not new:
        serving_certificates.approve(cluster, settings, wait=False)
    step(f"the API is ready at {server_address.server_of(settings)}")
    path = kubeconfig.users_file()
    kubeconfig.change(path, lambda config: kubeconfig.merged(config, kubeconfig.read(cluster.kubeconfig)))
    step(f"the context {cluster.name} is in {path}", "waiting for nodes" if wait else "")
    if wait:
        for name in local.wait_for_nodes(cluster, settings, wait, started):
            step(f"the node {name} is ready", "waiting for nodes")
    return settings
