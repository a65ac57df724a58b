"""A running local cluster with several control planes, as drills see it: who leads, and how to make something fail."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable

from pybernetes.node.kubelet.cri.client import CriClient, messages
from pybernetes.tools.local import settings as saved_settings
from pybernetes.tools.local.admin_client import AdminClient, ApiError
from pybernetes.tools.local.control_planes import machines, membership, topology
from pybernetes.tools.local.drill.workload import Workload
from pybernetes.tools.local.network import network
from pybernetes.tools.local.nodes import nodes
from pybernetes.tools.local.nodes.node import Node
from pybernetes.tools.local.paths import Cluster, ClusterError
from pybernetes.tools.local.processes import containerd_socket
from pybernetes.tools.local.settings import Settings

# Longer than a kubelet waits before it starts a container once more that was killed many times: five minutes.
WAIT_SECONDS = 360.0
_LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
_ETCD_METRICS = "http://127.0.0.1:2381/metrics"


class Site:
    """The machines of a cluster; what is said of one is true at the moment of asking."""

    def __init__(self, cluster: Cluster, seconds: float = 0.0) -> None:
        self.cluster, self.seconds = cluster, seconds  # for how long clients are asked to work
        self.api = AdminClient(cluster)
        self.notes: dict[str, float] = {}  # what a drill measured besides, in seconds
        self.counts: Counter[str] = Counter()  # what it did, and how often
        self.workload: Workload | None = None  # the clients, while they work

    @property
    def settings(self) -> Settings:
        """The settings of now: machines are stopped and started meanwhile."""
        return saved_settings.load(self.cluster)

    @property
    def control_planes(self) -> list[str]:
        """The machines with API servers that run."""
        return [node.name for node in topology.control_planes(self.settings) if not node.stopped]

    @property
    def members(self) -> list[str]:
        """The machines with members of etcd that run."""
        settings = self.settings
        wanted = topology.etcd_machines(settings) or topology.control_planes(settings)
        return [node.name for node in wanted if not node.stopped]

    def address(self, machine: str) -> str:
        """Return the address of a machine."""
        return network.node_addresses(self.settings, machine)[0]

    def run(self, machine: str, *words: str) -> str:
        """Run a program on a machine."""
        return machines.run(Node(self.cluster, machine), *words)

    def holders(self) -> list[str]:
        """Return the machines that have the virtual address: one, unless something is wrong."""
        own, result = f"inet {self.settings.address}/", []
        for machine in self.control_planes:
            with contextlib.suppress(ClusterError):
                if own in self.run(machine, "ip", "-4", "-oneline", "address", "show"):
                    result.append(machine)
        return result

    async def holder(self) -> str:
        """Return the machine that has the virtual address, as soon as exactly one has."""
        machines_with_it: list[str] = []

        def is_one() -> bool:
            machines_with_it[:] = self.holders()
            return len(machines_with_it) == 1

        await self.until("one machine has the virtual address", is_one)
        return machines_with_it[0]

    def etcd_leader(self) -> str:
        """Return the machine whose member leads; empty if none does."""
        for machine in self.members:
            with contextlib.suppress(ClusterError):
                text = self.run(machine, "curl", "--silent", "--max-time", "2", _ETCD_METRICS)
                if "\netcd_server_is_leader 1\n" in text:
                    return machine
        return ""

    def active(self, component: str) -> str:
        """Return who is active of a component, as its lease says; empty if nobody answers."""
        try:
            lease = self.api.call("GET", f"{_LEASES}/{component}", 2.0)
        except (ApiError, OSError):
            return ""
        return str(lease["spec"].get("holderIdentity") or "")

    def kill(self, machine: str, program: str, number: int = signal.SIGKILL) -> None:
        """Kill a program on a machine, without a word unless another signal is given; it is an error if none runs."""
        pids = self._processes(machine, program)
        if not pids:
            raise ClusterError(f"there is no {program} on {machine}")
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    async def until_running(self, machine: str, program: str) -> None:
        """Wait until a program runs on a machine: one that lost its lease may be about to be started again."""
        await self.until(f"{program} runs on {machine}", lambda: bool(self._processes(machine, program)))

    def _processes(self, machine: str, program: str) -> list[int]:
        listed = Node(self.cluster, machine).machine.processes()
        return [pid for pid in listed if machines.is_program(pid, program)]

    async def containers(self, machine: str) -> set[str]:
        """Return the containers that run on a machine."""
        client = CriClient(f"unix://{containerd_socket(self.cluster, machine)}")
        try:
            listed = await client.list_containers()
        finally:
            await client.close()
        return {container.id for container in listed if container.state == messages.CONTAINER_RUNNING}

    def count(self, what: str) -> None:
        """Note that something was done."""
        self.counts[what] += 1

    async def until(self, what: str, condition: Callable[[], bool]) -> float:
        """Wait until something holds; return the seconds that it took."""
        begin = time.monotonic()
        while not await asyncio.to_thread(condition):
            if time.monotonic() - begin > WAIT_SECONDS:
                raise ClusterError(f"{what}: not after {WAIT_SECONDS:.0f} seconds")
            await asyncio.sleep(0.05)
        return time.monotonic() - begin

    async def until_well(self) -> float:
        """Wait until all that should run does: API servers, members, the virtual address, nodes; return the seconds."""
        begin = time.monotonic()
        await self.until("every API server is ready", lambda: all(map(self.is_ready, self.control_planes)))
        await self.holder()
        await self.until("etcd has a leader", lambda: bool(self.etcd_leader()))
        wanted = {node.name for node in self.settings.nodes if not node.stopped and node.role != "etcd"}
        await self.until("every node is ready", lambda: wanted <= self.api.ready_nodes())
        return time.monotonic() - begin

    async def hold_writers(self) -> None:
        """Let clients write nothing more, and wait until what they wrote last is answered."""
        if self.workload is not None:
            await self.workload.hold()

    def release_writers(self) -> None:
        """Let clients write again."""
        if self.workload is not None:
            self.workload.release()

    def is_ready(self, machine: str) -> bool:
        """Return whether the API server of a machine says that it is ready."""
        url = f"https://{self.address(machine)}:6443/readyz"
        command = [
            "curl",
            "--silent",
            "--insecure",
            "--fail",
            "--max-time",
            "2",
            "--output",
            "/dev/null",
            url,
        ]
        return subprocess.run(command, check=False).returncode == 0

    async def stop(self, machine: str) -> None:
        """Take a machine away."""
        await asyncio.to_thread(nodes.stop, self.cluster, machine)

    async def start(self, machine: str) -> None:
        """Bring a machine back."""
        await asyncio.to_thread(nodes.start, self.cluster, machine)

    async def add(self, role: str) -> str:
        """Have a new machine join."""
        return await asyncio.to_thread(membership.add, self.cluster, role)

    async def remove(self, machine: str) -> None:
        """Give a machine up for good."""
        await asyncio.to_thread(membership.remove, self.cluster, machine)

    async def pause(self, machine: str) -> None:
        """Hold everything on a machine until it is started."""
        await asyncio.to_thread(nodes.pause, self.cluster, machine)

    async def cut_off(self, machine: str, *others: str) -> None:
        """Cut a machine off from others, or from everybody."""
        await asyncio.to_thread(nodes.cut_off, self.cluster, machine, others)

    async def heal(self, machine: str) -> None:
        """Undo that."""
        await asyncio.to_thread(nodes.heal, self.cluster, machine)
