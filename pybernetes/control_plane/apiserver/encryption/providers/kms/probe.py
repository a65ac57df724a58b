"""Keeps up with a KMS v2 plug-in: asks for its status, and makes a new seed when it changes its key.

With the same key the seed stays in use. When the plug-in fails, it may be used for three minutes more, and what is stored can
be read for as long as its seeds are known.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from pybernetes.api.strict_types import aggregate
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.config_reloads import hashed
from pybernetes.control_plane.apiserver.encryption.metrics import EncryptionMetrics
from pybernetes.control_plane.apiserver.encryption.provider import Cipher
from pybernetes.control_plane.apiserver.encryption.providers.kms import encrypted_object, messages
from pybernetes.control_plane.apiserver.encryption.providers.kms.derived_keys import SEED
from pybernetes.control_plane.apiserver.encryption.providers.kms.service import KmsService
from pybernetes.lib.random_uuid import random_uuid

log = logging.getLogger(__name__)
_HEALTHY_SECONDS, _FAILING_SECONDS = 60.0, 10.0  # between questions
_HEALTHY_TTL, _FAILING_TTL = 20.0, 3.0  # for how long an answer counts
WRITE_SECONDS = 180.0
VERSIONS = ("v2", "v2beta1")


@dataclass(frozen=True, slots=True)
class State:
    """The seed in use: what encrypts with it, the message without data, and until when it may be used to write."""

    cipher: Cipher
    message: Any
    seal: object
    cache_key: tuple[object, ...]
    expires: float

    @property
    def key_id(self) -> str:
        """The key of the plug-in that the seed is encrypted with."""
        return str(self.message.keyID)


class Probe:
    """Asks one plug-in, as often as necessary."""

    def __init__(
        self, service: KmsService, metrics: EncryptionMetrics, clock: Callable[[], float] = time.time
    ) -> None:
        self.state: State | None = None
        self._service, self._metrics, self._clock = service, metrics, clock
        self._version = ""
        self._checked, self._problem, self._ttl = float("-inf"), "", _FAILING_TTL
        self._lock = asyncio.Lock()
        self._back = asyncio.Event()  # whoever asked has seen it healthy after it was not
        self._task: asyncio.Task[None] | None = None

    async def start(self, recovered: Callable[[], Awaitable[object]]) -> None:
        """Ask once, then go on asking; ``recovered`` is called after each good answer."""
        if self._task is None:
            await self.check()
            self._task = asyncio.create_task(self._run(recovered))

    async def _run(self, recovered: Callable[[], Awaitable[object]]) -> None:
        while True:
            self._back.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_FAILING_SECONDS if self._problem else _HEALTHY_SECONDS):
                    await self._back.wait()
            if problem := await self.check():
                log.error("kms plugin %s failed health check probe: %s", self._service.name, problem)
                continue
            try:
                await recovered()
            except Exception:
                log.exception("what could not be decrypted cannot be tried again")

    async def close(self) -> None:
        """Ask no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._service.close()

    async def check(self) -> str:
        """Return what is wrong with the plug-in, nothing if it is healthy; a recent answer counts."""
        async with self._lock:
            if self._clock() - self._checked < self._ttl:
                return self._problem
            before, self._problem = self._problem, await self._ask()
            if before and not self._problem:
                self._back.set()
            self._checked, self._ttl = self._clock(), _FAILING_TTL if self._problem else _HEALTHY_TTL
            return self._problem

    async def _ask(self) -> str:
        name = self._service.name
        try:
            status = await self._service.status()
        except ValueError as error:
            return f"failed to perform status section of the healthz check for KMS Provider {name}, error: {error}"
        problems = []
        if status.healthz != "ok":
            problems.append(f"got unexpected healthz status: {status.healthz}")
        if status.version not in VERSIONS:
            problems.append(f"expected KMSv2 API version v2, got {status.version}")
        else:
            self._version = self._version or status.version
            if self._version != status.version:
                problems.append(
                    f"KMSv2 API version should not change after the initial status response version {self._version}, got {status.version}"
                )
        code, problem = encrypted_object.key_id_problem(status.key_id)
        if problem:
            self._metrics.invalid_key_id(name, code)
            shown = go_format.quote(hashed(status.key_id))
            problems.append(f"got invalid KMSv2 KeyID hash {shown}: {problem}")
        else:
            self._metrics.status_key_id(name, status.key_id)
            if problem := await self._rotate(status.key_id):
                problems.append(problem)
        return f"kmsv2 Provider {name} is not healthy, error: {aggregate(problems)}" if problems else ""

    async def _rotate(self, key_id: str) -> str:
        """Go on with the seed if the key is the same, make a new one if it is not; return what went wrong."""
        expires = self._clock() + WRITE_SECONDS
        if self.state is not None and self.state.key_id == key_id:
            self.state = replace(self.state, expires=expires)
            return ""
        uid, made, problem = random_uuid(), None, "<nil>"
        try:
            made = await self._generate(uid, expires)
        except ValueError as error:
            problem = str(error)
        if made is not None and made.key_id == key_id:
            self.state = made
            return ""
        before = self.state
        return (
            f"failed to rotate DEK uid={go_format.quote(uid)}, useSeed=true, "
            f"errState={'<nil>' if before else 'got unexpected nil transformer'}, errGen={problem}, "
            f"statusKeyIDHash={go_format.quote(hashed(key_id))}, "
            f"encryptKeyIDHash={go_format.quote(hashed(made.key_id) if made else '')}, "
            f"stateKeyIDHash={go_format.quote(hashed(before.key_id) if before else '')}, "
            f"expirationTimestamp={timestamp(before.expires) if before else '0001-01-01T00:00:00Z'}"
        )

    async def _generate(self, uid: str, expires: float) -> State:
        begin = time.monotonic()
        seed = os.urandom(SEED)
        self._metrics.made_key(time.monotonic() - begin)
        try:
            answer = await self._service.encrypt(seed, uid)
        except ValueError as error:
            raise ValueError(f"failed to encrypt DEK, error: {error}") from None
        message = messages.classes()["EncryptedObject"](
            keyID=answer.key_id, encryptedDEKSource=answer.ciphertext, annotations=dict(answer.annotations),
            encryptedDEKSourceType=encrypted_object.SEED, encryptedData=b"\0",
        )  # fmt: skip
        encrypted_object.check(message)
        key = encrypted_object.cache_key(message)
        message.encryptedData = b""
        cipher = encrypted_object.cipher(encrypted_object.SEED, seed)
        return State(cipher, message, seal(self._service.name, message), key, expires)


def seal(provider: str, message: Any) -> object:
    """Return what a value is sealed with: the key of the plug-in, whatever the seed."""
    return "kms", provider, message.keyID, message.encryptedDEKSourceType


def timestamp(moment: float) -> str:
    """Return a moment as messages show it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))
