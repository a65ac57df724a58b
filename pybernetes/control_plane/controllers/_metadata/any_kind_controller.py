"""A controller that works on objects of any kind."""

from __future__ import annotations

import asyncio
import logging
from typing import ClassVar

from pybernetes.api.resource import Object
from pybernetes.client.refs import Ref
from pybernetes.control_plane.controllers._metadata.monitors import Monitors
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.runtime import Runtime

log = logging.getLogger(__name__)
_SYNC_SECONDS = 30.0


class AnyKindController(Controller):
    """Hears of every change of every object while it runs."""

    # What becomes of the kinds that cannot be watched, for the log.
    without: ClassVar[str]

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self.monitors = Monitors.of(runtime)

    def changed(self, ref: Ref, old: Object | None, new: Object | None) -> None:
        """Handle a change of an object."""
        raise NotImplementedError

    async def run(self) -> None:
        self.monitors.listen(self.changed)
        async with self.monitors.running():
            await super().run()

    async def prepare(self) -> None:
        """Wait until the caches are filled, but not for ever."""
        try:
            async with asyncio.timeout(_SYNC_SECONDS):
                await self.monitors.wait_synced()
        except TimeoutError:
            log.warning("not every kind can be watched; %s", self.without)
