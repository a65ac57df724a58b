"""aescbc: AES in Cipher Block Chaining mode, padded as PKCS #7 has it. Nothing proves that a value is what was written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from pybernetes.api.strict_types import Struct
from pybernetes.control_plane.apiserver.encryption.metrics import EncryptionMetrics
from pybernetes.control_plane.apiserver.encryption.provider import KeyedProvider, ProviderType
from pybernetes.control_plane.apiserver.encryption.providers.aesgcm import KEY_SIZES, KEYS, TOO_SHORT

BLOCK = 16


class AesCbc:
    """The cipher with one key: a random block, then what it made of the value."""

    def __init__(self, key: bytes) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher
        from cryptography.hazmat.primitives.ciphers.algorithms import AES
        from cryptography.hazmat.primitives.ciphers.modes import CBC

        algorithm = AES(key)
        self._cipher = lambda start: Cipher(algorithm, CBC(start))

    def encrypt(self, value: bytes, where: bytes) -> bytes:
        """Return the encrypted value."""
        start = os.urandom(BLOCK)
        padding = BLOCK - len(value) % BLOCK
        worker = self._cipher(start).encryptor()
        return start + worker.update(value + bytes((padding,)) * padding) + worker.finalize()

    def decrypt(self, data: bytes, where: bytes) -> bytes:
        """Return the value; ValueError if what comes out makes no sense."""
        if len(data) < BLOCK:
            raise ValueError(TOO_SHORT)
        if len(data) % BLOCK:
            raise ValueError("the stored data is not a multiple of the block size")
        worker = self._cipher(data[:BLOCK]).decryptor()
        padded = worker.update(data[BLOCK:]) + worker.finalize()
        padding = padded[-1] if padded else 0
        if not 0 < padding <= len(padded):
            raise ValueError("invalid PKCS7 data (empty or not padded)")
        if padded[-padding:] != bytes((padding,)) * padding:
            raise ValueError("invalid padding on input")
        return padded[:-padding]


def build(given: Mapping[str, Any], metrics: EncryptionMetrics) -> KeyedProvider:
    """Return the provider with its keys."""
    return KeyedProvider(b"k8s:enc:aescbc:v1:", "AES", given["keys"], AesCbc)


PROVIDER = ProviderType("aescbc", Struct("v1.AESConfiguration", KEYS), build, KEY_SIZES)
