"""What KMS v2 stores of an object, and what is wrong with one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pybernetes.api.strict_types import aggregate
from pybernetes.api.text import go_format
from pybernetes.api.validation.names import dns_label, dns_subdomain
from pybernetes.control_plane.apiserver.encryption.provider import Cipher
from pybernetes.control_plane.apiserver.encryption.providers.aesgcm import AesGcm
from pybernetes.control_plane.apiserver.encryption.providers.kms import messages
from pybernetes.control_plane.apiserver.encryption.providers.kms.derived_keys import DerivedKeys

KEY, SEED = 0, 1  # what the encrypted source is: a key, as before v1.29, or a seed of keys
_MOST_KEY_ID = _MOST_SOURCE = 1024
_MOST_ANNOTATIONS = 32 * 1024


def cipher(source_type: int, key: bytes) -> Cipher:
    """Return what encrypts with a decrypted source; ValueError if it is none."""
    if source_type == SEED:
        return DerivedKeys(key)
    if len(key) not in (16, 24, 32):
        raise ValueError(f"crypto/aes: invalid key size {len(key)}")
    return AesGcm(key)


def parse(data: bytes) -> Any:
    """Return the message that is stored; ValueError if it is none."""
    from google.protobuf.message import DecodeError

    stored = messages.classes()["EncryptedObject"]()
    try:
        stored.ParseFromString(data)
    except DecodeError as error:
        raise ValueError(f"proto: {error}") from None
    check(stored)
    return stored


def cache_key(stored: Any) -> tuple[object, ...]:
    """Return by what the decrypted source of a message is known."""
    annotations = tuple(sorted(stored.annotations.items())) if stored.annotations else ()
    return stored.encryptedDEKSourceType, stored.encryptedDEKSource, stored.keyID, annotations


def check(stored: Any) -> None:
    """Raise ValueError if a message cannot be stored, or cannot have been."""
    if stored.encryptedDEKSourceType not in (KEY, SEED):
        raise ValueError(f"unknown encryptedDEKSourceType: {stored.encryptedDEKSourceType}")
    if not stored.encryptedData:
        raise ValueError("encrypted data is empty")
    if problem := _source_problem(stored.encryptedDEKSource):
        raise ValueError(f"failed to validate encrypted DEK source: {problem}")
    if problem := key_id_problem(stored.keyID)[1]:
        raise ValueError(f"failed to validate key id: {problem}")
    if problems := annotation_problems(stored.annotations):
        raise ValueError(f"failed to validate annotations: {aggregate(problems)}")


def _source_problem(source: bytes) -> str:
    if not source:
        return "encrypted DEK source is empty"
    if len(source) > _MOST_SOURCE:
        return f"encrypted DEK source is {len(source)} bytes, which exceeds the max size of {_MOST_SOURCE}"
    return ""


def key_id_problem(key_id: str) -> tuple[str, str]:
    """Return what is wrong with the id of a key, in one word and in a sentence."""
    size = len(key_id.encode())
    if not size:
        return "empty", "keyID is empty"
    if size > _MOST_KEY_ID:
        return "too_long", f"keyID is {size} bytes, which exceeds the max size of {_MOST_KEY_ID}"
    return "ok", ""


def annotation_problems(annotations: Mapping[str, bytes]) -> list[str]:
    """Return what is wrong with the annotations of a key: names are domains, and all of them are not large."""
    problems = [problem for name in annotations if (problem := _name_problem(name))]
    size = sum(len(name.encode()) + len(value) for name, value in annotations.items())
    if size > _MOST_ANNOTATIONS:
        problems.append(
            f"total size of annotations is {size}, which exceeds the max size of {_MOST_ANNOTATIONS}"
        )
    return problems


def _name_problem(name: str) -> str:
    if not name:
        return "annotations: Required value"
    name = name.removesuffix(".")
    begin = f"annotations: Invalid value: {go_format.quote(name)}: "
    if problems := dns_subdomain(name):
        return begin + ",".join(problems)
    labels = name.split(".")
    if len(labels) < 2:
        return begin + "should be a domain with at least two segments separated by dots"
    for label in labels:
        if problems := dns_label(label):
            return f"annotations: Invalid value: {go_format.quote(label)}: {','.join(problems)}"
    return ""
