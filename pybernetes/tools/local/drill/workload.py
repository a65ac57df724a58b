"""Clients that write and watch while something fails: each write raises a counter by compare-and-swap."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from dataclasses import replace

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import AlreadyExists, Conflict, Expired, NotSent, StatusError
from pybernetes.client.kubeconfig import Config
from pybernetes.client.refs import CONFIG_MAPS, NAMESPACES, Kindlike
from pybernetes.tools.local.drill import figures
from pybernetes.tools.local.drill.figures import Event, Record
from pybernetes.tools.local.drill.linearizability import DONE, READ, REFUSED, SWAP, UNKNOWN, Operation

NAMESPACE = "pybernetes-drill"
_COUNTERS = 4
_WRITERS = 2  # behind the virtual address
_WATCHES = 2
_CALL_SECONDS = 1.0
_PAUSE_SECONDS = 0.05
_WATCH_SECONDS = 10
_START_SECONDS = _END_SECONDS = 180.0  # on a machine that has far too much to do
_LABEL = "pybernetes.dev/drill"


class Workload:
    """Writers and watches; those behind the virtual address are what users are, the others show what servers agree on."""

    def __init__(self, config: Config, servers: list[str]) -> None:
        self._config = config
        self._run = f"{random.randrange(1 << 32):08x}"  # of this workload, in the names of its counters
        self._counters = [f"counter-{self._run}-{number}" for number in range(_COUNTERS)]
        behind = [f"client-{number}" for number in range(_WRITERS)]
        self.record = Record(
            operations={counter: [] for counter in self._counters}, writers=frozenset(behind)
        )
        self._clients = {name: self._client(config.server) for name in behind}
        self._clients |= {server.split("//")[1]: self._client(server) for server in servers}
        self._watching = [self._client(config.server) for _ in range(_WATCHES)]
        self._versions = ""
        self._tasks: list[asyncio.Task[None]] = []
        self._may_write = asyncio.Event()
        self._may_write.set()
        self._busy = 0

    def _client(self, server: str) -> Client:
        return replace(self._config, server=server).client(user_agent="pyb-drill")

    async def start(self) -> None:
        """Make the counters and begin."""
        client = next(iter(self._clients.values()))
        await self._ensured(client, NAMESPACES, {"name": NAMESPACE}, {})
        for counter in self._counters:
            metadata = {"name": counter, "namespace": NAMESPACE, "labels": {_LABEL: self._run}}
            made = await self._ensured(client, CONFIG_MAPS, metadata, {"data": {"value": figures.INITIAL}})
            self._versions = made["metadata"]["resourceVersion"]
        self.record.begin = time.monotonic()
        self._tasks = [
            asyncio.create_task(self._write(name, client)) for name, client in self._clients.items()
        ]
        for client in self._watching:
            events: list[Event] = []
            self.record.watches.append(events)
            self._tasks.append(asyncio.create_task(self._watch(client, events)))

    async def _ensured(self, client: Client, kind: Kindlike, metadata: Object, more: Object) -> Object:
        """Return an object that is made before anything fails on purpose: on a busy machine something may fail by itself."""
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                try:
                    return await client.create(kind, {"metadata": metadata, **more})
                except AlreadyExists:  # perhaps since the answer to the first question was lost
                    return await client.get(kind, metadata["name"], metadata.get("namespace", ""))
            except (OSError, StatusError) as error:
                refused = isinstance(error, StatusError) and error.code < 500
                if refused or time.monotonic() > deadline:
                    raise
            await asyncio.sleep(_PAUSE_SECONDS)

    async def hold(self) -> None:
        """Let nobody begin to write, and wait for those who have."""
        self._may_write.clear()
        while self._busy:
            await asyncio.sleep(_PAUSE_SECONDS)

    def release(self) -> None:
        """Let them write again."""
        self._may_write.set()

    async def stop(self) -> Record:
        """End, read what is there, wait until the watches have shown it, and remove the counters."""
        self.record.end = time.monotonic()
        writers, watches = self._tasks[: len(self._clients)], self._tasks[len(self._clients) :]
        await _end(writers)
        client = self._watching[0]
        deadline = time.monotonic() + _END_SECONDS
        while len(self.record.final) < len(self._counters):
            with contextlib.suppress(OSError, StatusError):
                for counter in self._counters:
                    async with asyncio.timeout(_CALL_SECONDS):
                        current = await client.get(CONFIG_MAPS, counter, NAMESPACE)
                    self.record.final[counter] = current["data"]["value"]
            if time.monotonic() > deadline:
                raise TimeoutError("no API server answers at the end of the drill")
            await asyncio.sleep(_PAUSE_SECONDS)
        while not all(map(self._has_shown_all, self.record.watches)) and time.monotonic() < deadline:
            await asyncio.sleep(_PAUSE_SECONDS)
        await _end(watches)
        with contextlib.suppress(OSError, StatusError):
            await client.delete_collection(CONFIG_MAPS, NAMESPACE, labels=f"{_LABEL}={self._run}")
        for client in (*self._clients.values(), *self._watching):
            await client.close()
        return self.record

    def _has_shown_all(self, events: list[Event]) -> bool:
        """Return whether a watch has come as far as the last read; a write without an answer may even come after it."""
        last = {event.counter: figures.count_of(event.value) for event in events}
        return all(
            last.get(counter, 0) >= figures.count_of(value) for counter, value in self.record.final.items()
        )

    async def _write(self, name: str, client: Client) -> None:
        number = 0
        while True:
            await self._may_write.wait()
            self._busy += 1
            counter = random.choice(self._counters)
            current = await self._read(name, client, counter)
            if current is not None:
                number += 1
                await self._raise(name, client, counter, current, f"{name}-{number}")
            self._busy -= 1
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _read(self, name: str, client: Client, counter: str) -> Object | None:
        begin = time.monotonic()
        try:
            async with asyncio.timeout(_CALL_SECONDS):
                current = await client.get(CONFIG_MAPS, counter, NAMESPACE)
        except (OSError, StatusError) as error:
            self._note(error)
            return None
        value = current["data"]["value"]
        self.record.operations[counter].append(Operation(name, READ, begin, time.monotonic(), value))
        return current

    async def _raise(self, name: str, client: Client, counter: str, current: Object, writer: str) -> None:
        expected = current["data"]["value"]
        value = figures.value(figures.count_of(expected) + 1, writer)
        current["data"]["value"] = value
        begin, outcome = time.monotonic(), UNKNOWN
        try:
            async with asyncio.timeout(_CALL_SECONDS):
                await client.update(CONFIG_MAPS, current)
            outcome = DONE
        except NotSent as error:
            self._note(error)
            outcome = ""
        except Conflict:
            outcome = REFUSED
        except (OSError, StatusError) as error:
            self._note(error)
        finally:  # also when the drill ends meanwhile
            if outcome:
                operation = Operation(name, SWAP, begin, time.monotonic(), value, expected, outcome)
                self.record.operations[counter].append(operation)

    async def _watch(self, client: Client, events: list[Event]) -> None:
        version = self._versions
        while True:
            try:
                watch = client.watch(
                    CONFIG_MAPS, NAMESPACE, labels=f"{_LABEL}={self._run}", resource_version=version,
                    timeout=_WATCH_SECONDS,
                )  # fmt: skip
                async with watch:
                    while True:
                        async with asyncio.timeout(_WATCH_SECONDS + _CALL_SECONDS):
                            batch = await watch.batch()
                        if not batch:
                            break
                        for kind, changed in batch:
                            version = changed["metadata"]["resourceVersion"]
                            if kind == "MODIFIED":
                                name = changed["metadata"]["name"]
                                events.append(Event(name, version, changed["data"]["value"]))
            except Expired as error:
                self._note(error)
                version = await self._list(client, events, version)
            except (OSError, StatusError) as error:
                self._note(error)
                await asyncio.sleep(_PAUSE_SECONDS)

    async def _list(self, client: Client, events: list[Event], version: str) -> str:
        """Note what is there now, and return from where to watch on."""
        try:
            async with asyncio.timeout(_CALL_SECONDS):
                page = await client.list(CONFIG_MAPS, NAMESPACE, labels=f"{_LABEL}={self._run}")
        except (OSError, StatusError) as error:
            self._note(error)
            return version
        for item in page.items:
            metadata = item["metadata"]
            value = item["data"]["value"]
            events.append(Event(metadata["name"], metadata["resourceVersion"], value, listed=True))
        return page.resource_version

    def _note(self, error: Exception) -> None:
        self.record.errors[figures.error_name(error)] += 1


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    for result in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(result, Exception):
            raise result
