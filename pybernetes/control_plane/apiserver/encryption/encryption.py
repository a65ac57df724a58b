"""Encryption at rest: what the store asks to seal and unseal values.

Memory holds plain bytes, so that reading costs nothing: a value is encrypted when it is written and decrypted when it is
loaded. What cannot be decrypted is kept as it is, and tried again when the configuration changes or a plug-in is back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

from pybernetes.api.resource import Resource
from pybernetes.api.strict_types import aggregate
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.config_reloads import ConfigFile
from pybernetes.control_plane.apiserver.encryption import configuration
from pybernetes.control_plane.apiserver.encryption.chain import Chain
from pybernetes.control_plane.apiserver.encryption.configuration import ANY, GroupResource
from pybernetes.control_plane.apiserver.encryption.metrics import EncryptionMetrics
from pybernetes.control_plane.apiserver.encryption.provider import Provider
from pybernetes.control_plane.apiserver.encryption.providers.identity import Identity
from pybernetes.control_plane.apiserver.encryption.providers.kms.kms import Kms
from pybernetes.control_plane.apiserver.encryption.resource_paths import ResourcePaths

_IDENTITY = Identity()
# How long the plug-ins of a new configuration may take to become healthy.
_HEALTHY_SECONDS, _BETWEEN_SECONDS = 10.0, 0.1


class Providers:
    """What one configuration says: the providers of each resource, and the plug-ins among them."""

    def __init__(self, entries: Sequence[Mapping[str, Any]], metrics: EncryptionMetrics) -> None:
        self.plugins: list[Kms] = []
        listed: dict[GroupResource, list[Provider]] = {}
        for entry in entries:
            built = [self._build(provider, metrics) for provider in entry["providers"]]
            for text in entry["resources"]:
                resource = configuration.parse_resource(text)
                for wide in ((resource[0], "*"), ANY):
                    if wide in listed:
                        shown = [
                            go_format.quote(configuration.show_resource(item)) for item in (resource, wide)
                        ]
                        raise ValueError(
                            f"error while building transformers: resource {shown[0]} is masked by earlier rule {shown[1]}"
                        )
                listed.setdefault(resource, []).extend(built)
        self._chains = {resource: Chain(providers, metrics) for resource, providers in listed.items()}

    def _build(self, given: Mapping[str, Any], metrics: EncryptionMetrics) -> Provider:
        ((name, settings),) = given.items()
        try:
            provider = configuration.provider_types()[name].build(settings, metrics)
        except ValueError as error:
            raise ValueError(f"error while building transformers: {error}") from None
        if isinstance(provider, Kms):
            self.plugins.append(provider)
        return provider

    def chain(self, resource: GroupResource | None) -> Chain | None:
        """Return the providers of a resource; None if none are configured for it."""
        if resource is None:
            return None
        chains = self._chains
        return chains.get(resource) or chains.get((resource[0], "*")) or chains.get(ANY)

    async def problem(self) -> str:
        """Return what is wrong with the plug-ins; nothing if all are healthy."""
        problems = [
            f"kms-provider-{index}: {problem}"
            for index, plugin in enumerate(self.plugins)
            if (problem := await plugin.probe.check())
        ]
        return aggregate(problems) if problems else ""

    async def close(self) -> None:
        """Leave the plug-ins."""
        for plugin in self.plugins:
            await plugin.probe.close()


class Encryption:
    """What the store seals and unseals values with. Without a file nothing is encrypted."""

    def __init__(
        self, resources: Iterable[Resource] = (), path: str = "", *, reload: bool = False, server: str = ""
    ) -> None:
        self.metrics = EncryptionMetrics(server)
        self._paths, self._path, self.reload = ResourcePaths(resources), path, reload
        entries, self.metrics.reloads.config_hash = (
            configuration.load(path, reload=reload) if path else ((), "")
        )
        self._providers = Providers(entries, self.metrics)
        self._again: Callable[[], Awaitable[object]] | None = None
        self._file: ConfigFile | None = None
        self._closing: set[asyncio.Task[None]] = set()

    # -- what the store asks ---------------------------------------------------------------------------------

    def seal(self, key: str, value: bytes) -> tuple[bytes, object]:
        """Return what is to be stored, and what it is sealed with; CannotSeal if that fails."""
        if not self._path:
            return value, None
        resource = self._paths.of(key)
        chain = self._providers.chain(resource)
        return (value, None) if chain is None else chain.seal(_shown(resource), key, value)

    def unseal(self, key: str, stored: bytes) -> tuple[bytes, object]:
        """Return the value, and what it was sealed with; ValueError if that fails."""
        if self._path:
            resource = self._paths.of(key)
            chain = self._providers.chain(resource)
            if chain is not None:
                return chain.unseal(_shown(resource), key, stored)
        return _IDENTITY.decrypt(stored, b"")

    def current(self, key: str) -> object:
        """Return what a value would be sealed with now."""
        chain = self._providers.chain(self._paths.of(key))
        return None if chain is None else chain.current()

    async def prepare(self, stored: Iterable[bytes]) -> None:
        """Have plug-ins decrypt the keys of values."""
        if self._providers.plugins:
            values = list(stored)
            for plugin in self._providers.plugins:
                await plugin.prepare(values)

    # -- its life ----------------------------------------------------------------------------------------------

    @property
    def has_health(self) -> bool:
        """Whether there is, or may come to be, a plug-in whose health counts."""
        return bool(self._providers.plugins) or self.reload

    async def problem(self) -> str | None:
        """Return what is wrong with the plug-ins in use, or None."""
        return await self._providers.problem() or None

    async def start(self, again: Callable[[], Awaitable[object]]) -> None:
        """Ask the plug-ins for their keys and follow the file; ``again`` tries what could not be decrypted."""
        self._again = again
        for plugin in self._providers.plugins:
            await plugin.probe.start(again)
        if self.reload:
            self._file = ConfigFile(self._path, self._take, self.metrics.reloads)
            self._file.start()

    async def _take(self) -> None:
        """Take over the file; ValueError if it cannot be used."""
        entries, _ = configuration.load(self._path, reload=True)
        providers = Providers(entries, self.metrics)
        if problem := await self._wait(providers):
            await providers.close()
            raise ValueError(f"health check for new transformers failed, {problem}")
        before, self._providers = self._providers, providers
        task = asyncio.create_task(before.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
        if self._again is not None:
            await self._again()

    async def _wait(self, providers: Providers) -> str:
        """Wait until new plug-ins are healthy; return what is wrong if they do not become so."""
        if not providers.plugins or self._again is None:
            return ""
        for plugin in providers.plugins:
            await plugin.probe.start(self._again)
        deadline = asyncio.get_running_loop().time() + _HEALTHY_SECONDS
        while (problem := await providers.problem()) and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(_BETWEEN_SECONDS)
        return problem

    async def close(self) -> None:
        """Stop following and leave the plug-ins."""
        if self._file is not None:
            await self._file.close()
        await self._providers.close()
        await asyncio.gather(*self._closing)


def _shown(resource: GroupResource | None) -> str:
    return configuration.show_resource(resource) if resource is not None else ""
