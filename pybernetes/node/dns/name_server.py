"""A name server that a Corefile describes, and that takes another Corefile without losing a question."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Coroutine

from pybernetes.client.client import Client
from pybernetes.node.dns import chain
from pybernetes.node.dns.chain import Chains, Listening
from pybernetes.node.dns.cluster_names import ClusterNames, NameOptions
from pybernetes.node.dns.corefile import CorefileError
from pybernetes.node.dns.plugin import Environment, Page, Site
from pybernetes.node.dns.resolver import Resolver
from pybernetes.node.dns.server import Server
from pybernetes.runtime.component_server import ComponentServer

log = logging.getLogger(__name__)
_SYNC_SECONDS = 60.0
_LAST_ANSWERS_SECONDS = 6.0  # what the old plugins may still take for questions that they have


class NameServer:
    """Sockets, pages and plugins of one Corefile at a time."""

    def __init__(self, client: Client | None, environment: Environment | None = None) -> None:
        self.environment = environment or Environment()
        self.metrics = self.environment.metrics
        self._client = client
        if client is not None:
            self.environment.cluster = self._cluster
        self.names: ClusterNames | None = None
        self.chains: Chains | None = None
        self.servers: dict[tuple[tuple[str, ...], int], Server] = {}
        self._pages: dict[tuple[str, int], ComponentServer] = {}
        self._tasks: dict[object, asyncio.Task[None]] = {}
        self._hash = ""

    @property
    def port(self) -> int:
        """The port of the first block."""
        return next(iter(self.servers.values())).port

    @property
    def ready(self) -> bool:
        """Whether all plugins are."""
        return self.chains is not None and not any(check() for check in self.chains.site.unready.values())

    @property
    def reload_seconds(self) -> float:
        """How often to look whether the Corefile has changed; 0 if its changes do not count."""
        return self.chains.site.reload_seconds if self.chains is not None else 0.0

    async def wait_synced(self) -> None:
        """Wait until the names of the cluster are known."""
        if self.names is not None:
            await self.names.wait_synced()

    def _cluster(self, options: NameOptions) -> ClusterNames:
        if self.names is not None and self.names.options == options:
            return self.names
        assert self._client is not None
        return ClusterNames(self._client, options, self.environment.clock)

    # -- taking a Corefile -------------------------------------------------------------------------------

    async def reload(self, text: str) -> bool:
        """Take another Corefile, unless it is wrong: then the old one stays."""
        if digest(text) == self._hash:
            return True
        try:
            await self.load(text)
            return True
        except (CorefileError, OSError, TimeoutError) as error:
            log.error(
                "Corefile changed but reload failed: %s", error or "the names of the cluster are not known"
            )
            self.metrics.count("coredns_reload_failed_total")
            return False
        finally:
            self._note(text)

    def _note(self, text: str) -> None:
        """Remember what was tried last: the same wrong file is not tried again and again."""
        name = "coredns_reload_version_info"
        self.metrics.counters.pop((name, (("hash", "sha512"), ("value", self._hash))), None)
        self._hash = digest(text)
        self.metrics.set(name, 1, (("hash", "sha512"), ("value", self._hash)))

    async def load(self, text: str) -> None:
        """Take a Corefile; CorefileError or OSError if that cannot be, and nothing has changed then."""
        chains = chain.build(text, self.environment)
        first = self.chains is None
        names = chains.site.names
        opened: list[Server] = []
        pages: dict[tuple[str, int], ComponentServer] = {}
        servers = dict(self.servers)
        try:
            if names is not None and names is not self.names:
                self._run(names, names.run())
                if not first:  # nobody is to be told that a name does not exist because it is not known yet
                    async with asyncio.timeout(_SYNC_SECONDS):
                        await names.wait_synced()
            for place in chains.listening:
                if (place.addresses, place.port) not in servers:
                    server = await self._open(place)
                    opened.append(server)
                    servers[(place.addresses, place.port)] = server
            for address, shown in chains.site.pages.items():
                if address not in self._pages:
                    pages[address] = ComponentServer(dict(shown))
                    await pages[address].start(*address)
        except BaseException:
            for server in opened:
                await server.stop()
            for page in pages.values():
                await page.stop()
            if names is not None and names is not self.names:
                self._end(names)
            await _close(chains.site)
            raise
        await self._use(chains, servers, pages)
        if first:
            self._note(text)

    async def _open(self, place: Listening) -> Server:
        server = Server(Resolver(None, None, self.metrics))
        port = place.port
        try:
            for address in place.addresses:
                port = await server.start(address, port)
        except BaseException:
            await server.stop()
            raise
        return server

    async def _use(
        self, chains: Chains, servers: dict[tuple[tuple[str, ...], int], Server],
        pages: dict[tuple[str, int], ComponentServer],
    ) -> None:  # fmt: skip
        """Let the new plugins answer, and end what is of the old ones alone."""
        before, self.chains, self.servers = self.chains, chains, servers
        old_names, self.names = self.names, chains.site.names
        kept = set()
        for place in chains.listening:
            key = (place.addresses, place.port)
            servers[key].resolver.use(place.lookup, place.handler, place.udp_size)
            kept.add(key)
        for key in [key for key in servers if key not in kept]:
            await servers.pop(key).stop()
        for address, page in list(self._pages.items()):
            shown: dict[str, Page] | None = chains.site.pages.get(address)
            if shown is None:
                await self._pages.pop(address).stop()
            else:
                page.pages = dict(shown)
        self._pages |= pages
        for work in chains.site.background:
            self._run(work, work())
        if before is not None:
            for work in before.site.background:
                self._end(work)
            self._run(before, self._close_later(before))
        if old_names is not None and old_names is not self.names:
            self._end(old_names)

    async def _close_later(self, chains: Chains) -> None:
        try:
            await self.environment.clock.sleep(_LAST_ANSWERS_SECONDS)
        finally:
            await _close(chains.site)

    def _run(self, key: object, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks[id(key)] = task
        task.add_done_callback(lambda done: self._ended(id(key), done))

    def _ended(self, key: int, task: asyncio.Task[None]) -> None:
        if self._tasks.get(key) is task:
            del self._tasks[key]
        if not task.cancelled() and task.exception() is not None:
            log.error("a part of the name server failed", exc_info=task.exception())

    def _end(self, key: object) -> None:
        task = self._tasks.pop(id(key), None)
        if task is not None:
            task.cancel()

    # -- ending ------------------------------------------------------------------------------------------

    async def stop(self) -> None:
        """Close all sockets; before that, keep on answering for as long as ``lameduck`` says."""
        if self.chains is not None and self.chains.site.lameduck_seconds:
            await self.environment.clock.sleep(self.chains.site.lameduck_seconds)
        await self.close()

    async def close(self) -> None:
        """Close all sockets at once."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for server in self.servers.values():
            await server.stop()
        for page in self._pages.values():
            await page.stop()
        if self.chains is not None:
            await _close(self.chains.site)


async def _close(site: Site) -> None:
    for close in site.closing:
        await close()


def digest(text: str) -> str:
    """Return the number by which a Corefile is known."""
    return hashlib.sha512(text.encode()).hexdigest()
