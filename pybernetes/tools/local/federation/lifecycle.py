"""A federation of local clusters from ``up`` to ``delete``."""

from __future__ import annotations

import argparse
import asyncio
import io
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from pybernetes.client import kubeconfig
from pybernetes.client.errors import NotFound
from pybernetes.control_plane.federation import health
from pybernetes.control_plane.federation.kinds import KUBEFED_CLUSTERS, NAMESPACE
from pybernetes.tools.federation import host_objects, installing, joining
from pybernetes.tools.federation.joining import Joining
from pybernetes.tools.federation.session import Session
from pybernetes.tools.local import lifecycle, paths
from pybernetes.tools.local.federation.clusters import member_settings, members
from pybernetes.tools.local.paths import Cluster

_AT_ONCE = 4
_READY_SECONDS, _AGAIN_SECONDS = 60.0, 0.05
Say = Callable[[str], None]


def up(name: str, count: int, hollow: int | None, say: Say) -> None:
    """Make a host and members, join them, and wait until the host finds them well; what is there stays."""
    began = time.monotonic()

    def step(text: str) -> None:
        say(f"{time.monotonic() - began:6.2f} s  {text}")

    names = members(name, count)
    host = Cluster(name)

    def start(cluster: Cluster, changes: dict[str, object]) -> None:
        lifecycle.up(cluster, changes, lambda done, doing, seconds: None)
        step(f"the cluster {cluster.name} is up")

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        # The host has no nodes: nothing runs there but the control planes.
        jobs = [pool.submit(start, host, {"hollow": 0})]
        for number, member in enumerate(names, 1):
            cluster = Cluster(member)
            changes = {} if cluster.settings.exists() else member_settings(number, hollow)
            jobs.append(pool.submit(start, cluster, changes))
        jobs[0].result()
        asyncio.run(_install(host, step))
        for job in jobs:
            job.result()
    asyncio.run(_join(host, names))
    lifecycle.up(host, {"federation": True}, lambda done, doing, seconds: None)
    step("the control plane of the federation runs")
    asyncio.run(_wait(host, names))
    step(f"{len(names)} clusters have joined, and are ready")


async def _install(host: Cluster, step: Say) -> None:
    """Make the host one, with the usual kinds."""
    arguments = argparse.Namespace(
        kubeconfig=str(host.kubeconfig), host_cluster_context=host.name, kubefed_namespace=NAMESPACE, dry_run=False
    )  # fmt: skip
    async with Session(arguments, io.StringIO()) as session:
        client = await session.host()
        await installing.install(client, NAMESPACE)
        known = {config.name for config in await host_objects.enabled_types(client, NAMESPACE)}
        await installing.enable_types(
            session, tuple(kind for kind in installing.DEFAULT_TYPES if kind not in known)
        )
        step("the usual kinds are federated")


async def _join(host: Cluster, names: list[str]) -> None:
    """Join members that have not."""
    async with kubeconfig.load(host.kubeconfig).client() as client:
        types = await host_objects.enabled_types(client, NAMESPACE)
        joined = {row["metadata"]["name"] for row in (await client.list(KUBEFED_CLUSTERS, NAMESPACE)).items}

        async def join(member: str) -> None:
            config = kubeconfig.load(Cluster(member).kubeconfig)
            joins = Joining(member, host.name, NAMESPACE)
            async with config.client() as other:
                token = await joining.prepare_member(other, joins, types)
            await joining.register(client, joins, config, token, new=False)

        await asyncio.gather(*(join(member) for member in names if member not in joined))


async def _wait(host: Cluster, names: list[str]) -> None:
    """Wait until the control plane says that members are ready."""
    async with kubeconfig.load(host.kubeconfig).client() as client:
        deadline = time.monotonic() + _READY_SECONDS
        while True:
            page = await client.list(KUBEFED_CLUSTERS, NAMESPACE)
            ready = {row["metadata"]["name"] for row in page.items if health.is_ready(row)}
            missing = sorted(set(names) - ready)
            if not missing:
                return
            if time.monotonic() > deadline:
                raise paths.ClusterError(
                    f"not ready after {_READY_SECONDS:.0f} seconds: {', '.join(missing[:5])}; pyb logs kubefed-controller-manager "
                    f"--cluster {host.name} says more"
                )
            await asyncio.sleep(_AGAIN_SECONDS)


def local_members(name: str) -> list[str]:
    """Return the local clusters that belong to a federation, as its host says, or as they are called if it is gone."""

    async def ask() -> list[str]:
        async with kubeconfig.load(Cluster(name).kubeconfig).client() as client:
            page = await client.list(KUBEFED_CLUSTERS, NAMESPACE)
            return [row["metadata"]["name"] for row in page.items]

    try:
        named = asyncio.run(ask()) if Cluster(name).kubeconfig.exists() else []
    except (OSError, NotFound, kubeconfig.ConfigError):
        named = []
    folder = paths.home() / "clusters"
    called = [
        path.name for path in folder.glob(f"{name}-*") if path.name.removeprefix(f"{name}-").isdecimal()
    ] if folder.is_dir() else []  # fmt: skip
    return sorted({member for member in {*named, *called} if Cluster(member).exists})


def delete(name: str, say: Say) -> None:
    """Delete the members and the host."""
    for member in [*local_members(name), name]:
        cluster = Cluster(member)
        if cluster.exists:
            lifecycle.delete(cluster)
            say(f"the cluster {member} is deleted")
