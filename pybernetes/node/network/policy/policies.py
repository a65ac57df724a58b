"""Keeps a node's table in step with the API server: nothing at all while there is no policy."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from pybernetes.client.client import Client
from pybernetes.lib.clock import Clock
from pybernetes.lib.kernel.rule_monitor import RuleMonitor
from pybernetes.lib.processes.commands import MissingProgram
from pybernetes.lib.processes.commands import run as run_command
from pybernetes.node.network.plan import Network
from pybernetes.node.network.policy import nft
from pybernetes.node.network.policy.connections import Connections
from pybernetes.node.network.policy.gate import Gate, Request
from pybernetes.node.network.policy.sources import Sources
from pybernetes.node.network.policy.state import State

log = logging.getLogger(__name__)
_FIRST_DELAY, _LONGEST_DELAY = 0.1, 30.0
_LARGE = 1 << 20  # bytes of a table, of which the kernel need not tell us what we know


class Policies:
    """The network policies of one node, in the network namespace of the thread that runs them."""

    def __init__(
        self,
        client: Client,
        node_name: str,
        on_gate: Callable[[], None] = lambda: None,
        *,
        socket: Path | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.name, self._on_gate = node_name, on_gate
        self.clock = clock or Clock()
        self.sources = Sources(client, self._changed, clock)
        self.gate = Gate(self._admit, socket)
        self.connections = Connections()
        self.own: tuple[Network, ...] = ()
        self.state: State | None = None  # while there are policies, and all is known
        self.gated = (
            True  # whether pods must ask before they start: until it is known that there is no policy
        )
        self.syncs = 0
        self._written: State | None = None  # whose table the kernel has
        self._waiting: list[asyncio.Future[None]] = []
        self._settled = False
        self._rule_monitor = RuleMonitor("network policies", (nft.NAME.encode() + b"\0",), self._removed)

    def _removed(self) -> None:
        self._written = None
        self.sources.changed.set()

    def set_ranges(self, own: Iterable[Network]) -> None:
        """Take in the ranges of this node's pods."""
        if tuple(own) != self.own:
            self.own = tuple(own)
            self.state = None
            self.sources.changed.set()

    async def run(self) -> None:
        """Write until cancelled; the table stays, so that nothing is open meanwhile."""
        await self.gate.start()
        self.sources.start()
        delay = _FIRST_DELAY
        try:
            while True:
                await self.sources.changed.wait()
                self.sources.changed.clear()
                try:
                    await self.sync()
                    delay = _FIRST_DELAY
                except OSError as error:
                    log.warning(
                        "the network policies of %s do not hold yet: %s; trying again", self.name, error
                    )
                    self._written = None
                    self.clock.call_later(delay, self.sources.changed.set)
                    delay = min(_LONGEST_DELAY, delay * 2)
        finally:
            self._rule_monitor.stop()
            await self.gate.close()
            await self.connections.close()
            await self.sources.close()

    async def sync(self) -> None:
        """Make the table match what is known, once."""
        await self.sources.adapt()
        if not self.sources.known or not self.own:
            return
        if self.sources.pods is None:
            await self._write_nothing()
        elif self.sources.complete:
            waiting, self._waiting = self._waiting, []
            try:
                await self._write()
            except BaseException:
                self._waiting += waiting
                raise
            for future in waiting:
                _wake(future)
        else:
            return
        gated = self.sources.pods is not None
        if gated != self.gated or not self._settled:
            self.gated, self._settled = gated, True
            self._on_gate()

    @property
    def settled(self) -> bool:
        """Whether the policies that there were at first hold."""
        return self._settled

    async def _write_nothing(self) -> None:
        self._rule_monitor.stop()
        if self._written is not None or not self._settled:
            await cleanup()
            log.info("%s has no network policies", self.name)
        self.state = self._written = None
        for future in self._waiting:
            _wake(future)
        self._waiting.clear()

    async def _write(self) -> None:
        if self.state is None:
            self.state = self._begin()
        if self._written is not self.state:
            self._rule_monitor.start()
            await self._replace(self.state)
            log.info("%s has a table for %d network policies", self.name, len(self.state.policies))
            self.syncs += 1
        elif changes := self.state.take():
            with self._rule_monitor.own_change(large=False):
                await run_command("nft", "-f", "-", text=nft.difference(changes))
            self.syncs += 1
        # Not before the rules hold, which the next packet of what is forgotten has to pass.
        self.connections.forget(self.state.passed_on())

    async def _replace(self, state: State) -> None:
        text = nft.whole(state.everything(), self.own)
        self._written = state  # before writing, since others may remove it meanwhile
        try:
            with self._rule_monitor.own_change(large=len(text) > _LARGE):
                await run_command("nft", "-f", "-", text=text)
        except BaseException:
            self._written = None
            raise

    def _begin(self) -> State:
        state = State(self.name, {network.version for network in self.own})
        assert self.sources.pods is not None and self.sources.namespaces is not None
        for key, policy in self.sources.policies().items():
            state.set_policy(key, policy)
        for namespace in self.sources.namespaces.values():
            state.set_namespace(namespace["metadata"]["name"], namespace["metadata"]["labels"])
        for obj in self.sources.pods.values():
            state.set_pod(obj["pod"].key, obj["pod"])
        return state

    def _changed(self, kind: str, key: str, value: Any) -> None:
        state = self.state
        if state is not None:
            take: dict[str, Callable[[str, Any], None]] = {
                "pod": state.set_pod,
                "namespace": state.set_namespace,
                "policy": state.set_policy,
            }
            take[kind](key, value)
            self.sources.changed.set()

    async def _admit(self, request: Request) -> None:
        """Wait until the rules of a pod that starts are in."""
        while True:
            state = self.state
            if self._settled and not self.gated:
                return
            pods = self.sources.pods
            known = pods.get(request.key) if pods is not None else None
            same = known is not None and request.uid in ("", known["pod"].uid)
            changed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            if state is not None and same and state.start_pod(request.key, request.addresses):
                self._waiting.append(changed)
                self.sources.changed.set()
                await changed
                if self.state is state:
                    await self.connections.forgotten(request.addresses)
                    return
                continue
            # The pod's own event is still on its way, or policies are just being read.
            if pods is not None and state is not None:
                pods.when_changed(request.key, partial(_wake, changed))
            else:
                self._waiting.append(changed)
            await changed


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


async def cleanup() -> None:
    """Remove the table."""
    with contextlib.suppress(MissingProgram):  # which can have left none
        await run_command("nft", "-f", "-", text=nft.removal())
