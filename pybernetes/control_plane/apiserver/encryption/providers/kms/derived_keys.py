"""A key of its own for each value, derived from a seed by HKDF with SHA-256: no nonce is ever used twice with a key.

A value is stored as 32 random bytes, which the key is derived from, then as ``aesgcm`` has it.
"""

from __future__ import annotations

import os

from pybernetes.control_plane.apiserver.encryption.providers.aesgcm import TOO_SHORT, AesGcm

SEED = KEY = INFO = 32


class DerivedKeys:
    """The cipher of one seed."""

    def __init__(self, seed: bytes) -> None:
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

        if len(seed) < SEED:
            raise ValueError(f"invalid seed length {len(seed)} used for key generation")
        self._cipher = lambda info: AesGcm(HKDFExpand(SHA256(), KEY, info).derive(seed))

    def encrypt(self, value: bytes, where: bytes) -> bytes:
        """Return the encrypted value."""
        info = os.urandom(INFO)
        return info + self._cipher(info).encrypt(value, where)

    def decrypt(self, data: bytes, where: bytes) -> bytes:
        """Return the value; ValueError if it was encrypted with another seed or for another place."""
        if len(data) < INFO:
            raise ValueError(TOO_SHORT)
        return self._cipher(data[:INFO]).decrypt(data[INFO:], where)
