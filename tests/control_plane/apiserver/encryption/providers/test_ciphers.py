"""What the providers with keys make of values: upstream's forms, and nothing that was changed is read."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pybernetes.control_plane.apiserver.encryption import configuration
from pybernetes.control_plane.apiserver.encryption.metrics import EncryptionMetrics
from pybernetes.control_plane.apiserver.encryption.provider import Provider
from pybernetes.control_plane.apiserver.encryption.providers.kms.derived_keys import DerivedKeys

WHERE = b"/registry/secrets/default/a"
NAMES = ("aescbc", "aesgcm", "secretbox")


def secret(letter: str) -> str:
    """Return a key as configurations have it."""
    return base64.b64encode(letter.encode() * 32).decode()


def provider(name: str, *letters: str) -> Provider:
    """Return a provider with keys that are named like their letters."""
    keys = [{"name": letter, "secret": secret(letter)} for letter in letters]
    return configuration.provider_types()[name].build({"keys": keys}, EncryptionMetrics())


def test_names() -> None:
    assert sorted(configuration.provider_types()) == ["aescbc", "aesgcm", "identity", "kms", "secretbox"]


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None)
@given(value=st.binary(max_size=100))
def test_round_trip(name: str, value: bytes) -> None:
    encrypts = provider(name, "a", "b")
    stored, seal = encrypts.encrypt(value, WHERE)
    assert stored.startswith(f"k8s:enc:{name}:v1:a:".encode()) and seal == encrypts.current()
    assert encrypts.decrypt(stored, WHERE) == (value, seal)
    # The second key becomes the first: the value is read, and known to be due for the other.
    turned = provider(name, "b", "a")
    assert turned.decrypt(stored, WHERE) == (value, seal) and turned.current() != seal
    assert len(value) < 8 or value not in stored.removeprefix(f"k8s:enc:{name}:v1:a:".encode())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("aescbc", "no matching key was found for the provided AES transformer"),
        ("aesgcm", "no matching key was found for the provided AES transformer"),
        ("secretbox", "no matching key was found for the provided Secretbox transformer"),
    ],
)
def test_a_key_that_is_missing(name: str, text: str) -> None:
    stored, _ = provider(name, "a").encrypt(b"value", WHERE)
    with pytest.raises(ValueError, match=text):
        provider(name, "b").decrypt(stored, WHERE)


@pytest.mark.parametrize(
    ("name", "change", "text"),
    [
        ("aesgcm", lambda stored: stored[:-1] + bytes((stored[-1] ^ 1,)), "cipher: message authentication failed"),
        ("aesgcm", lambda stored: stored[:25], "the stored data was shorter than the required size"),
        ("secretbox", lambda stored: stored[:-1] + bytes((stored[-1] ^ 1,)), "output array was not large enough"),
        ("secretbox", lambda stored: stored[:40], "the stored data was shorter than the required size"),
        ("aescbc", lambda stored: stored[:-1], "the stored data is not a multiple of the block size"),
        ("aescbc", lambda stored: stored[:30], "the stored data was shorter than the required size"),
        ("aescbc", lambda stored: stored[:36], "invalid PKCS7 data"),
    ],
)  # fmt: skip
def test_what_was_changed_is_not_read(name: str, change: Callable[[bytes], bytes], text: str) -> None:
    encrypts = provider(name, "a")
    stored, _ = encrypts.encrypt(b"value", WHERE)
    with pytest.raises(ValueError, match=text):
        encrypts.decrypt(change(stored), WHERE)


def test_a_value_belongs_to_its_place() -> None:
    encrypts = provider("aesgcm", "a")
    stored, _ = encrypts.encrypt(b"value", WHERE)
    with pytest.raises(ValueError, match="message authentication failed"):
        encrypts.decrypt(stored, b"/registry/secrets/default/b")


@settings(deadline=None)
@given(value=st.binary(max_size=64))
def test_derived_keys(value: bytes) -> None:
    cipher = DerivedKeys(b"s" * 32)
    stored = cipher.encrypt(value, WHERE)
    assert len(stored) == 32 + 12 + len(value) + 16 and cipher.decrypt(stored, WHERE) == value
    for place, wrong in (
        (b"/elsewhere", stored),
        (WHERE, stored[:31]),
        (WHERE, bytes((stored[0] ^ 1,)) + stored[1:]),
    ):
        with pytest.raises(ValueError):
            cipher.decrypt(wrong, place)


def test_a_seed_has_a_length() -> None:
    with pytest.raises(ValueError, match="invalid seed length 31"):
        DerivedKeys(b"s" * 31)


def test_identity_reads_nothing_that_is_encrypted() -> None:
    identity: Any = configuration.provider_types()["identity"].build({}, EncryptionMetrics())
    assert identity.decrypt(b"{}", WHERE) == (b"{}", None)
    with pytest.raises(ValueError, match="identity transformer tried to read encrypted data"):
        identity.decrypt(b"k8s:enc:aesgcm:v1:a:x", WHERE)
