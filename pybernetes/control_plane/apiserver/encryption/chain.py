"""The providers of a resource: the first encrypts, and each decrypts what begins with its prefix."""

from __future__ import annotations

import time
from collections.abc import Sequence

from pybernetes.api.strict_types import aggregate
from pybernetes.control_plane.apiserver.encryption.metrics import EncryptionMetrics
from pybernetes.control_plane.apiserver.encryption.provider import Provider
from pybernetes.control_plane.store.protocol import CannotSeal

_FAILED = "unknown-non-grpc"  # upstream's word for a failure that is none of a plug-in's


class Chain:
    """The providers in their order."""

    def __init__(self, providers: Sequence[Provider], metrics: EncryptionMetrics) -> None:
        self.providers = tuple(providers)
        self._first, self._prefix = providers[0], providers[0].prefix.decode()
        self._metrics = metrics

    def seal(self, resource: str, key: str, value: bytes) -> tuple[bytes, object]:
        """Return what is to be stored, and what it is sealed with; CannotSeal if that fails."""
        begin = time.perf_counter()
        try:
            sealed = self._first.encrypt(value, key.encode())
        except ValueError as error:
            self._metrics.transformed(resource, "to_storage", self._prefix, _FAILED, 0.0)
            raise CannotSeal(str(error)) from None
        self._metrics.transformed(resource, "to_storage", self._prefix, "OK", time.perf_counter() - begin)
        return sealed

    def unseal(self, resource: str, key: str, stored: bytes) -> tuple[bytes, object]:
        """Return the value, and what it was sealed with; ValueError if no provider can read it."""
        begin = time.perf_counter()
        where = key.encode()
        problems: list[str] = []
        for provider in self.providers:
            if not stored.startswith(provider.prefix):
                continue
            prefix = provider.prefix.decode() or "identity"
            try:
                opened = provider.decrypt(stored, where)
            except ValueError as error:
                # An identity that comes first leaves what is encrypted to those that follow.
                if provider.prefix:
                    self._metrics.transformed(resource, "from_storage", prefix, _FAILED, 0.0)
                    problems.append(str(error))
                continue
            self._metrics.transformed(resource, "from_storage", prefix, "OK", time.perf_counter() - begin)
            return opened
        if problems:
            raise ValueError(aggregate(problems))
        self._metrics.transformed(resource, "from_storage", "unknown", _FAILED, 0.0)
        raise ValueError("no matching prefix found")

    def current(self) -> object:
        """Return what a value would be sealed with now."""
        return self._first.current()
