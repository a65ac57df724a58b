"""identity: values are stored as they are; what is encrypted is not read."""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.api.strict_types import Struct
from pybernetes.control_plane.apiserver.encryption.provider import ProviderType

ENCRYPTED = b"k8s:enc:"


class Identity:
    """The provider."""

    prefix = b""

    def encrypt(self, value: bytes, where: bytes) -> tuple[bytes, object]:
        """Return the value as it is."""
        return value, None

    def decrypt(self, stored: bytes, where: bytes) -> tuple[bytes, object]:
        """Return the value as it is; ValueError if another provider encrypted it."""
        if stored.startswith(ENCRYPTED):
            raise ValueError("identity transformer tried to read encrypted data")
        return stored, None

    def current(self) -> object:
        """Return that nothing seals the value."""
        return None

    async def prepare(self, stored: Iterable[bytes]) -> None:
        """Fetch nothing."""


PROVIDER = ProviderType("identity", Struct("v1.IdentityConfiguration", {}), lambda given, metrics: Identity())
