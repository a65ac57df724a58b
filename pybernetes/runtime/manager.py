"""Runs controllers together: shared informers, leader election, health and metrics."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType

from pybernetes.client.client import Client
from pybernetes.lib.clock import Clock
from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.lib.metrics.health_slis import HealthSlis
from pybernetes.runtime.candidate import Candidate
from pybernetes.runtime.component_server import (
    AccessCheck,
    Checks,
    ComponentServer,
    Handler,
    metrics_page,
    slis_page,
)
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.election import Election, Elector
from pybernetes.runtime.events import Recorder, Sender
from pybernetes.runtime.following import awaited, late
from pybernetes.runtime.informers import Informers
from pybernetes.runtime.metrics import Metrics
from pybernetes.runtime.runtime import Runtime

log = logging.getLogger(__name__)


class Manager:
    """Controllers of one process. ``run`` returns when it is cancelled, and raises when something cannot go on.

    With an ``election`` the controllers work only while this process holds the lease; LostLease ends ``run``, and the
    program is expected to end with it.
    """

    def __init__(
        self,
        client: Client,
        *,
        election: Election | None = None,
        election_client: Client | None = None,
        clock: Clock | None = None,
        informers: Informers | None = None,
    ) -> None:
        self.clock = clock or Clock()
        self.metrics = Metrics(self.clock)
        self.runtime = Runtime(client, informers=informers, clock=self.clock, metrics=self.metrics)
        # Whoever stopped to lead may still say so.
        self._lease_client = lease_client = (election_client or client).unguarded()
        self._lease_events = Sender(lease_client, self.clock)
        self.elector = (
            Elector(lease_client, election, clock=self.clock, metrics=self.metrics,
                    recorder=Recorder(lease_client, election.name, clock=self.clock, sender=self._lease_events))
            if election is not None else None
        )  # fmt: skip
        self.guard(client)
        self.slis = HealthSlis()
        self.health, self.ready = Checks(self.slis), Checks(self.slis)
        self.ready.add("informers", self._check_informers)
        self.pages: dict[str, Handler] = {}  # what is shown besides health and metrics
        self.controllers: dict[str, Controller] = {}
        self._tasks: list[tuple[str, Callable[[], Awaitable[None]]]] = []
        self.working = asyncio.Event()  # set while the controllers run
        self._http: ComponentServer | None = None

    def add(self, controller: type[Controller] | Controller) -> Controller:
        """Add a controller: a class, or an instance that was made with ``self.runtime``."""
        made = controller(self.runtime) if isinstance(controller, type) else controller
        if made.name in self.controllers:
            raise ValueError(f"there are two controllers named {made.name}")
        self.controllers[made.name] = made
        return made

    def guard(self, client: Client) -> None:
        """Let a client write only while this process is sure to lead; a manager without election leads always."""
        if self.elector is not None:
            client.guard = self.elector.check

    def add_task(self, name: str, run: Callable[[], Awaitable[None]]) -> None:
        """Add a loop that is not a controller and runs while this process leads."""
        self._tasks.append((name, run))

    async def run(self) -> None:
        """Run all controllers until cancelled."""
        try:
            if self.elector is None:
                await self._lead()
            else:
                await self._elect(self.elector)
        finally:
            await asyncio.gather(self.runtime.close(), self._lease_events.close())

    async def _elect(self, elector: Elector) -> None:
        candidate = None
        if elector.election.coordinated:
            standing = Candidate(self._lease_client, elector.election, elector.identity, self.clock)
            candidate = asyncio.create_task(standing.run(), name="candidate")
        try:
            await elector.run(self._lead)
        finally:
            if candidate is not None:
                candidate.cancel()
                await asyncio.gather(candidate, return_exceptions=True)

    async def _lead(self) -> None:
        self.runtime.informers.start()
        try:
            async with asyncio.TaskGroup() as group:
                for controller in self.controllers.values():
                    group.create_task(controller.run(), name=controller.name)
                for name, run in self._tasks:
                    group.create_task(awaited(run), name=name)
                self.working.set()
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0]
        finally:
            self.working.clear()
            await self.runtime.informers.stop()

    # -- what others see ---------------------------------------------------------------------------------

    async def serve(
        self,
        host: str = "127.0.0.1",
        port: int = 0,
        context: ssl.SSLContext | None = None,
        access_check: AccessCheck | None = None,
        more: Mapping[str, Handler] = MappingProxyType({}),
    ) -> int:
        """Serve /healthz, /livez, /readyz, /metrics and more; return the port."""
        pages: dict[str, Handler] = {
            "/healthz": self.health.page, "/livez": self.health.page, "/readyz": self.ready.page, "/metrics": metrics_page(self.metrics.write, lambda: self.metrics.native_histograms),
            "/metrics/slis": slis_page(self.slis), **self.pages, **more,
        }  # fmt: skip
        self._http = ComponentServer(pages, access_check=access_check)
        return await self._http.start(host, port, context)

    async def stop_serving(self) -> None:
        """Stop what ``serve`` started."""
        if self._http is not None:
            await self._http.stop()

    def write_running(self, text: Exposition, name: str) -> None:
        """Write which controllers of this manager, whose name is given, run now."""
        metric = "running_managed_controllers"
        text.family(metric, "gauge", "Indicates where instances of a controller are currently running")
        for controller in self.controllers:
            labels = (("manager", name), ("name", controller))
            text.sample(metric, labels, int(self.working.is_set()))

    def _check_informers(self) -> str | None:
        if not self.working.is_set():
            return None  # a backup is ready when it is there
        return late(self.runtime.informers)
