"""aesgcm: AES in Galois/Counter Mode, with a random nonce for each value: quick, and the key is to be changed often."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from pybernetes.api.strict_types import STRING, Many, Struct
from pybernetes.control_plane.apiserver.encryption.metrics import EncryptionMetrics
from pybernetes.control_plane.apiserver.encryption.provider import KeyedProvider, ProviderType

KEYS = {"keys": Many(Struct("v1.Key", {"name": STRING, "secret": STRING}))}
KEY_SIZES = (16, 24, 32)
NONCE = 12
TOO_SHORT = "the stored data was shorter than the required size"


class AesGcm:
    """The cipher with one key: the nonce, then what it made of the value."""

    def __init__(self, key: bytes) -> None:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        self._aead, self._wrong = AESGCM(key), InvalidTag

    def encrypt(self, value: bytes, where: bytes) -> bytes:
        """Return the encrypted value."""
        nonce = os.urandom(NONCE)
        return nonce + self._aead.encrypt(nonce, value, where)

    def decrypt(self, data: bytes, where: bytes) -> bytes:
        """Return the value; ValueError if it was encrypted with another key or for another place."""
        if len(data) < NONCE:
            raise ValueError(TOO_SHORT)
        try:
            return self._aead.decrypt(data[:NONCE], data[NONCE:], where)
        except self._wrong:
            raise ValueError("cipher: message authentication failed") from None


def build(given: Mapping[str, Any], metrics: EncryptionMetrics) -> KeyedProvider:
    """Return the provider with its keys."""
    return KeyedProvider(b"k8s:enc:aesgcm:v1:", "AES", given["keys"], AesGcm)


PROVIDER = ProviderType("aesgcm", Struct("v1.AESConfiguration", KEYS), build, KEY_SIZES)
