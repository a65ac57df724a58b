"""kms: a seed in memory encrypts values; the seed, encrypted by the plug-in, is stored beside each of them.

A write calls nobody. Reading what another server or an earlier process wrote takes one call for each seed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pybernetes.api.strict_types import DURATION, INT32, STRING, Struct
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.config_reloads import hashed
from pybernetes.control_plane.apiserver.encryption.metrics import EncryptionMetrics
from pybernetes.control_plane.apiserver.encryption.provider import Cipher, ProviderType
from pybernetes.control_plane.apiserver.encryption.providers.kms import encrypted_object, messages
from pybernetes.control_plane.apiserver.encryption.providers.kms.probe import Probe, seal, timestamp
from pybernetes.control_plane.apiserver.encryption.providers.kms.service import CallFailed, KmsService
from pybernetes.lib.random_uuid import random_uuid

_MOST_SOURCES = 10_000  # seeds that are known at once
_AT_ONCE = 8  # calls under way
DEFAULT_SECONDS = 3.0


class Kms:
    """The provider of one plug-in."""

    def __init__(
        self,
        name: str,
        service: KmsService,
        metrics: EncryptionMetrics,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.prefix = b"k8s:enc:kms:v2:" + name.encode() + b":"
        self.name, self.probe = name, Probe(service, metrics, clock)
        self._service, self._metrics, self._clock = service, metrics, clock
        self._sources: dict[tuple[object, ...], Cipher] = {}
        self._problems: dict[tuple[object, ...], str] = {}

    def encrypt(self, value: bytes, where: bytes) -> tuple[bytes, object]:
        """Return what is to be stored, and what it is sealed with; ValueError while there is no seed to use."""
        state = self.probe.state
        if state is None:
            raise ValueError("got unexpected nil transformer")
        now = self._clock()
        if now > state.expires:
            shown = go_format.quote(hashed(state.key_id))
            raise ValueError(
                f"encryptedDEKSource with keyID hash {shown} expired at {timestamp(state.expires)} "
                f"(current time is {timestamp(now)})"
            )
        self._remember(state.cache_key, state.cipher)
        self._metrics.used_key_id("to_storage", self.name, state.key_id)
        message = messages.classes()["EncryptedObject"]()
        message.CopyFrom(state.message)
        message.encryptedData = state.cipher.encrypt(value, where)
        return self.prefix + message.SerializeToString(), state.seal

    def decrypt(self, stored: bytes, where: bytes) -> tuple[bytes, object]:
        """Return the value, and what it was sealed with; ValueError if its seed is not known."""
        message = encrypted_object.parse(stored[len(self.prefix) :])
        key = encrypted_object.cache_key(message)
        cipher = self._sources.get(key)
        if cipher is None:
            problem = self._problems.get(key, "it has not been asked for")
            raise ValueError(f"failed to decrypt DEK, error: {problem}")
        self._metrics.used_key_id("from_storage", self.name, message.keyID)
        return cipher.decrypt(message.encryptedData, where), seal(self.name, message)

    def current(self) -> object:
        """Return what a value would be sealed with now."""
        return self.probe.state.seal if self.probe.state is not None else None

    # -- seeds -----------------------------------------------------------------------------------------------

    async def prepare(self, stored: Iterable[bytes]) -> None:
        """Have the plug-in decrypt each seed that is not known yet, once."""
        wanted: dict[tuple[object, ...], Any] = {}
        for value in stored:
            if value.startswith(self.prefix):
                try:
                    message = encrypted_object.parse(value[len(self.prefix) :])
                except ValueError:
                    continue  # whoever reads it is told
                key = encrypted_object.cache_key(message)
                if key not in self._sources:
                    wanted[key] = message
        if not wanted:
            return
        self._problems = {}
        turns = asyncio.Semaphore(_AT_ONCE)
        down = ""

        async def fetch(key: tuple[object, ...], message: Any) -> None:
            nonlocal down
            async with turns:
                if down:  # nobody waits for one timeout after the other
                    self._problems[key] = down
                    return
                self._metrics.misses += 1
                try:
                    plain = await self._service.decrypt(
                        message.encryptedDEKSource, random_uuid(), message.keyID, dict(message.annotations)
                    )
                    self._remember(key, encrypted_object.cipher(message.encryptedDEKSourceType, plain))
                except ValueError as error:
                    self._problems[key] = str(error)
                    if isinstance(error, CallFailed) and error.is_down:
                        down = str(error)

        await asyncio.gather(*(fetch(key, message) for key, message in wanted.items()))

    def _remember(self, key: tuple[object, ...], cipher: Cipher) -> None:
        if key not in self._sources:
            self._sources[key] = cipher
            if len(self._sources) > _MOST_SOURCES:
                del self._sources[next(iter(self._sources))]
            self._metrics.cache_sizes[self.name] = len(self._sources)


def build(given: Mapping[str, Any], metrics: EncryptionMetrics) -> Kms:
    """Return the provider of a plug-in; ValueError for version 1 of the protocol."""
    if given.get("apiVersion", "v1") == "v1":
        raise ValueError(
            "KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.  "
            "Set --feature-gates=KMSv1=true to use the deprecated KMSv1 feature."
        )
    seconds = given.get("timeout", DEFAULT_SECONDS)
    return Kms(given["name"], KmsService(given["name"], given["endpoint"], seconds, metrics), metrics)


PROVIDER = ProviderType(
    "kms",
    Struct(
        "v1.KMSConfiguration",
        {"apiVersion": STRING, "name": STRING, "cachesize": INT32, "endpoint": STRING, "timeout": DURATION},
    ),
    build,
)
