"""Names of container images: ``registry/path:tag@digest``."""

from __future__ import annotations

import re
from typing import NamedTuple

from pybernetes.lib.memory.bounded_cache import bounded_cache

_COMPONENT = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_PATH = rf"{_COMPONENT}(?:/{_COMPONENT})*"
_HOST = r"(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)"
_DOMAIN = rf"(?:{_HOST}(?:\.{_HOST})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
_DIGEST = r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}"
_TAG = r"[0-9A-Za-z_][0-9A-Za-z_.-]{0,127}"
_REFERENCE = re.compile(rf"({_DOMAIN}/{_PATH})(?::({_TAG}))?(?:@({_DIGEST}))?\Z")
_SHORT_REFERENCE = re.compile(rf"(?:{_DOMAIN}/)?{_PATH}(?::{_TAG})?(?:@{_DIGEST})?\Z")
_IDENTIFIER = re.compile(r"[a-f0-9]{64}\Z")
_DIGEST_LENGTHS = {"sha256": 64, "sha384": 96, "sha512": 128}
_NAME_LIMIT = 255
_DEFAULT_DOMAIN, _LEGACY_DOMAIN = "docker.io", "index.docker.io"


class Image(NamedTuple):
    """An image name in its parts; without tag and digest the tag is ``latest``."""

    name: str
    tag: str
    digest: str


def _split(image: str) -> tuple[str, str]:
    """Return the registry and the rest, with what a short name leaves out."""
    first, slash, rest = image.partition("/")
    if not slash or (
        not any(char in first for char in ".:") and first != "localhost" and first.lower() == first
    ):
        domain, rest = _DEFAULT_DOMAIN, image
    else:
        domain = first
    if domain == _LEGACY_DOMAIN:
        domain = _DEFAULT_DOMAIN
    if domain == _DEFAULT_DOMAIN and "/" not in rest:
        rest = f"library/{rest}"
    return domain, rest


@bounded_cache()
def parse(image: str) -> Image | None:
    """Return the parts of an image name, or None if it is not one."""
    if _IDENTIFIER.match(image):
        return None
    domain, rest = _split(image)
    match = _REFERENCE.match(f"{domain}/{rest}")
    if not match or len(match[1]) > _NAME_LIMIT + len(domain) + 1:
        return None
    name, tag, digest = match[1], match[2] or "", match[3] or ""
    if digest:
        algorithm, _, encoded = digest.partition(":")
        if _DIGEST_LENGTHS.get(algorithm) != len(encoded) or encoded.lower() != encoded:
            return None
    return Image(name, tag or ("" if digest else "latest"), digest)


def is_reference(image: str) -> bool:
    """Return whether a text has the form of an image name, as kubectl checks it: digests are not looked at."""
    return _SHORT_REFERENCE.match(image) is not None


def default_pull_policy(image: str) -> str:
    """Return ``Always`` for the tag ``latest``, named or implied, and ``IfNotPresent`` for all else."""
    parts = parse(image)
    return "Always" if parts and parts.tag == "latest" else "IfNotPresent"
