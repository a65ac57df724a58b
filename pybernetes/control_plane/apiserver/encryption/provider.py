"""What a provider of ``EncryptionConfiguration`` offers, and what those with named keys share.

A value is stored as the provider's prefix, the name of a key, and what the cipher made of it. The key under which the object
is stored goes into the cipher as authenticated data, so that nobody can put a value in the place of another.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pybernetes.api.strict_types import Struct, aggregate
from pybernetes.control_plane.apiserver.encryption.metrics import EncryptionMetrics


class Provider(Protocol):
    """Encrypts, and decrypts what begins with its prefix."""

    @property
    def prefix(self) -> bytes:
        """What its values begin with; nothing if they are stored as they are."""
        ...

    def encrypt(self, value: bytes, where: bytes) -> tuple[bytes, object]:
        """Return what is to be stored, and what it is sealed with; ValueError if that fails."""
        ...

    def decrypt(self, stored: bytes, where: bytes) -> tuple[bytes, object]:
        """Return the value, and what it was sealed with; ValueError if that fails."""
        ...

    def current(self) -> object:
        """Return what a value would be sealed with now."""
        ...

    async def prepare(self, stored: Iterable[bytes]) -> None:
        """Fetch what is needed to decrypt values, where that takes time."""


@dataclass(frozen=True, slots=True)
class ProviderType:
    """One sort of provider: its name in the configuration, what it is configured with, and what makes one."""

    name: str
    type: Struct
    build: Callable[[Mapping[str, Any], EncryptionMetrics], Provider]
    # The lengths that keys may have, for those that have keys.
    key_sizes: tuple[int, ...] = ()


class Cipher(Protocol):
    """Encrypts with one key."""

    def encrypt(self, value: bytes, where: bytes) -> bytes: ...

    def decrypt(self, data: bytes, where: bytes) -> bytes: ...


class KeyedProvider:
    """Encrypts with the first of its named keys, and decrypts with all of them."""

    def __init__(
        self, prefix: bytes, family: str, keys: Iterable[Mapping[str, str]], cipher: Callable[[bytes], Cipher]
    ) -> None:
        self.prefix = prefix
        self._problem = f"no matching key was found for the provided {family} transformer"
        self._keys: list[tuple[bytes, Cipher, object]] = []
        for key in keys:
            secret = base64.b64decode(key["secret"])
            name = prefix + key["name"].encode() + b":"
            self._keys.append((name, cipher(secret), (name, hashlib.sha256(secret).digest())))

    def encrypt(self, value: bytes, where: bytes) -> tuple[bytes, object]:
        """Return what is to be stored, and what it is sealed with."""
        name, cipher, seal = self._keys[0]
        return name + cipher.encrypt(value, where), seal

    def decrypt(self, stored: bytes, where: bytes) -> tuple[bytes, object]:
        """Return the value, and what it was sealed with; ValueError if no key fits."""
        problems: list[str] = []
        for name, cipher, seal in self._keys:
            if stored.startswith(name):
                try:
                    return cipher.decrypt(stored[len(name) :], where), seal
                except ValueError as error:
                    problems.append(str(error))
        raise ValueError(aggregate(problems) if problems else self._problem)

    def current(self) -> object:
        """Return what a value would be sealed with now."""
        return self._keys[0][2]

    async def prepare(self, stored: Iterable[bytes]) -> None:
        """Fetch nothing: the keys are here."""
