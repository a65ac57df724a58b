"""secretbox: XSalsa20 with Poly1305. ``cryptography`` does not have it, so that PyNaCl does the work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pybernetes.api.strict_types import Struct
from pybernetes.control_plane.apiserver.encryption.metrics import EncryptionMetrics
from pybernetes.control_plane.apiserver.encryption.provider import KeyedProvider, ProviderType
from pybernetes.control_plane.apiserver.encryption.providers.aesgcm import KEYS, TOO_SHORT

_OVERHEAD = 24 + 16  # the nonce, and what proves that the value is what was written


class SecretBox:
    """The cipher with one key: the nonce, then what it made of the value."""

    def __init__(self, key: bytes) -> None:
        from nacl.exceptions import CryptoError
        from nacl.secret import SecretBox as Box

        self._box, self._wrong = Box(key), CryptoError

    def encrypt(self, value: bytes, where: bytes) -> bytes:
        """Return the encrypted value; where it is stored is not part of it."""
        return bytes(self._box.encrypt(value))

    def decrypt(self, data: bytes, where: bytes) -> bytes:
        """Return the value; ValueError if it was encrypted with another key."""
        if len(data) < _OVERHEAD:
            raise ValueError(TOO_SHORT)
        try:
            return bytes(self._box.decrypt(data))
        except self._wrong:
            raise ValueError("output array was not large enough for encryption") from None


def build(given: Mapping[str, Any], metrics: EncryptionMetrics) -> KeyedProvider:
    """Return the provider with its keys."""
    return KeyedProvider(b"k8s:enc:secretbox:v1:", "Secretbox", given["keys"], SecretBox)


PROVIDER = ProviderType("secretbox", Struct("v1.SecretboxConfiguration", KEYS), build, (32,))
