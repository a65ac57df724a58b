"""loop: asks itself once at the start, and notices if the question comes back: then nothing is forwarded any more.

CoreDNS ends its program then. Here the rest of the server goes on: what would be forwarded gets SERVFAIL, and the
page of ``ready`` names this plugin.
"""

from __future__ import annotations

import asyncio
import logging
import secrets

from pybernetes.node.dns import wire
from pybernetes.node.dns.plugin import Controller, Plugin, Wrap
from pybernetes.node.dns.query import Handler, Query
from pybernetes.node.dns.upstream import exchange

log = logging.getLogger(__name__)
_MOST_SEEN = 2
_TRIES, _TRY_SECONDS = 30, 1.0
_LAST_SECONDS = 2.0  # how long the question may take to come back


class Loop:
    """Counts how often its own question comes by."""

    def __init__(self, zone: bytes, address: tuple[str, int]) -> None:
        numbers = "".join(f"{secrets.randbits(62)}." for _ in range(2))
        self.question = wire.name(numbers)[:-1] + zone + wire.HINFO.to_bytes(2) + wire.IN
        self._zone, self._address = zone, address
        self._seen = 0
        self._is_off = False
        self.detected = False

    def note(self, query: Query) -> None:
        """Look at a question that goes on."""
        if self._is_off or query.question != self.question:
            return
        self._seen += 1
        if self._seen > _MOST_SEEN and not self.detected:
            self.detected = True
            log.error(
                'Loop (%s:%s -> %s:%s) detected for zone "%s", see https://coredns.io/plugins/loop#troubleshooting. '
                'Query: "HINFO %s"; nothing is forwarded any more',
                *query.client, *self._address, wire.text(self._zone), wire.text(query.name),
            )  # fmt: skip

    async def run(self) -> None:
        """Ask the question, and stop looking for it after a while."""
        for _ in range(_TRIES):
            try:
                async with asyncio.timeout(_TRY_SECONDS):
                    await exchange(self.question, self._address)
                await asyncio.sleep(_LAST_SECONDS)
                break
            except (OSError, TimeoutError):
                if self.detected:
                    break
                self._seen = 0
                await asyncio.sleep(_TRY_SECONDS)
        self._is_off = True


def setup(controller: Controller) -> Wrap:
    """Set up the question of a block."""
    controller.bare()
    host = controller.hosts[0] if controller.hosts else "127.0.0.1"
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    loop = Loop(controller.zones[0], (host, controller.port))
    if controller.port:
        controller.site.background.append(loop.run)
    controller.site.unready["loop"] = lambda: loop.detected

    def wrap(following: Handler) -> Handler:
        async def answer(query: Query) -> bytes:
            if query.type == wire.HINFO:
                loop.note(query)
            if loop.detected:
                raise OSError("questions come back to where they were sent from: nothing is forwarded")
            return await following(query)

        return answer

    return wrap


PLUGIN = Plugin(setup, passes_cluster_names=True)
