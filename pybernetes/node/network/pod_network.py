"""Keeps a node joined to the others: syncs again whenever a Node object or the kernel's state changes."""

from __future__ import annotations

import asyncio
import logging

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.refs import NODES
from pybernetes.lib.clock import Clock
from pybernetes.lib.kernel.rule_monitor import RuleMonitor
from pybernetes.lib.processes.commands import MissingProgram
from pybernetes.node.network import cni, firewall
from pybernetes.node.network.kernel import Kernel, with_kernel
from pybernetes.node.network.netlink_monitor import NetlinkMonitor
from pybernetes.node.network.plan import Configuration, Peer, Plan, peer, plan
from pybernetes.node.network.policy import gate
from pybernetes.node.network.policy.policies import Policies
from pybernetes.runtime.informer import Informer

log = logging.getLogger(__name__)
_FIRST_DELAY, _LONGEST_DELAY = 0.1, 30.0


class PodNetwork:
    """The pod network of one node, in the network namespace of the thread that runs it."""

    def __init__(
        self,
        client: Client,
        node_name: str,
        configuration: Configuration,
        clock: Clock | None = None,
        joined: asyncio.Event | None = None,
    ) -> None:
        self.name, self.configuration = node_name, configuration
        self.clock = clock or Clock()
        self.nodes = Informer(client, NODES, transform=_without_unused_fields)
        self.nodes.add_handler(self._node_changed)
        self.applied: Plan | None = None  # what the kernel was last made to match
        self.joined = joined or asyncio.Event()  # set once there are routes to the pods of the others
        self.syncs = 0
        self._changed = asyncio.Event()
        self._firewall_plan: Plan | Peer | None = None
        self._rule_monitor = RuleMonitor("the pod network", (firewall.PREFIX.encode(),), self._rules_removed)
        self._problems: tuple[str, ...] = ()
        self.policies: Policies | None = None
        if configuration.policies:
            self.policies = Policies(
                client, node_name, self._changed.set, socket=configuration.policy_socket, clock=clock
            )
        self._gate = gate.PLUGIN if configuration.policy_socket and configuration.cni_plugins else ""

    def _node_changed(self, old: Object | None, new: Object | None) -> None:
        # Heartbeats change nodes all the time; only ranges and addresses matter here.
        if old is None or new is None or peer(old) != peer(new):
            self._changed.set()

    def _rules_removed(self) -> None:
        self._firewall_plan = None
        self._changed.set()

    async def run(self) -> None:
        """Sync until cancelled; what was made stays, so that pods keep their network."""
        self._install_gate()
        monitor = NetlinkMonitor(self._changed.set)
        try:
            async with asyncio.TaskGroup() as group:
                if self.policies is not None:
                    group.create_task(self.policies.run())
                group.create_task(self.nodes.run())
                group.create_task(self._sync_loop())
        finally:
            monitor.close()
            self._rule_monitor.stop()

    def _install_gate(self) -> None:
        """Make pods ask before they start, as long as it is not known whether there are policies."""
        folder, plugins, socket = (
            self.configuration.cni_folder,
            self.configuration.cni_plugins,
            self.configuration.policy_socket,
        )
        if self.policies is None or folder is None or plugins is None or socket is None:
            return
        gate.install(plugins, socket)
        cni.add_gate(folder, gate.PLUGIN)

    def _write_cni(self, own: Peer, mtu: int) -> None:
        """Let the runtime start pods, once the policies that there were at first hold."""
        if self.configuration.cni_folder is None or (self.policies is not None and not self.policies.settled):
            return
        gated = self.policies is not None and self.policies.gated
        cni.write(
            self.configuration.cni_folder, [str(pod_range) for pod_range in own.ranges], mtu=mtu,
            state=self.configuration.cni_state, gate=self._gate if gated else "",
            masquerade=self.configuration.backend == "alone" and self.configuration.masquerade,
        )  # fmt: skip

    async def _sync_loop(self) -> None:
        await self.nodes.wait_synced()
        delay = _FIRST_DELAY
        while True:
            self._changed.clear()
            try:
                await self.sync()
                delay = _FIRST_DELAY
            except Exception as error:
                log.warning("the pod network of %s is not complete: %s; trying again", self.name, error)
                self.clock.call_later(delay, self._changed.set)
                delay = min(_LONGEST_DELAY, delay * 2)
            await self._changed.wait()

    async def sync(self) -> None:
        """Make this node match the Node objects, once."""
        peers = [peer(node) for node in self.nodes.values()]
        own = next((node for node in peers if node.name == self.name), Peer(self.name, (), ()))
        if not own.addresses or not own.ranges:
            return
        if self.configuration.backend == "alone":
            if own != self._firewall_plan:
                await self._write_firewall(own)
            if self.policies is not None:
                self.policies.set_ranges(own.ranges)
            self.joined.set()
            self._write_cni(own, self.configuration.mtu)
            return
        new_plan: Plan | None = None

        async def apply(kernel: Kernel) -> None:
            nonlocal new_plan
            link, mtu = await kernel.underlay(own.addresses[0])
            if not link:
                raise OSError(f"no link of this machine has the node's address {own.addresses[0]}")
            new_plan = plan(own, peers, self.configuration, mtu)
            if new_plan is not None:
                await kernel.apply(new_plan, link)

        await asyncio.to_thread(with_kernel, apply)
        if new_plan is None:
            return
        self.joined.set()
        if new_plan != self._firewall_plan:
            await self._write_firewall(new_plan)
        if self.policies is not None:
            self.policies.set_ranges(own.ranges)
        self._write_cni(own, new_plan.mtu)
        if new_plan.problems != self._problems:
            self._problems = new_plan.problems
            for problem in new_plan.problems:
                log.warning("%s: its pods can not be reached from here", problem)
        if new_plan != self.applied:
            log.info("%s is joined to %d ranges of pods", self.name, len(new_plan.routes))
        self.applied = new_plan
        self.syncs += 1

    async def _write_firewall(self, wanted: Plan | Peer) -> None:
        self._rule_monitor.start()
        self._firewall_plan = wanted  # before writing, since others may remove rules meanwhile
        try:
            with self._rule_monitor.own_change(large=False):
                if isinstance(wanted, Plan):
                    versions = sorted({network.version for network in wanted.cluster})
                    await firewall.apply(wanted, versions, masquerade=self.configuration.masquerade)
                else:
                    await self._write_alone()
        except BaseException:
            self._firewall_plan = None
            raise

    async def _write_alone(self) -> None:
        try:
            await firewall.apply_alone()
        except MissingProgram as error:  # everything else works without it
            log.warning(
                "pods with a hostPort may reach what listens on 127.0.0.1 of %s: %s", self.name, error
            )


def _without_unused_fields(node: Object) -> Object:
    """Return a Node object with only the fields that are used here."""
    spec, status = node.get("spec") or {}, node.get("status") or {}
    return {
        "metadata": {key: node["metadata"].get(key) for key in ("name", "resourceVersion")},
        "spec": {key: spec[key] for key in ("podCIDR", "podCIDRs") if key in spec},
        "status": {"addresses": status.get("addresses") or []},
    }


async def run(
    client: Client, node_name: str, configuration: Configuration, joined: asyncio.Event | None = None
) -> None:
    """Keep the pod network of a node in sync until cancelled; ``joined`` is set once there are routes."""
    await PodNetwork(client, node_name, configuration, joined=joined).run()
