"""Credentials of pull secrets, matched with the images that they are for."""

from __future__ import annotations

import base64
import fnmatch
import hashlib
from typing import NamedTuple

import orjson

from pybernetes.api.core.pod import image_names
from pybernetes.api.resource import Object


class Credential(NamedTuple):
    """What a registry is shown, and the secret that it comes from, in the words of records about pulls."""

    auth: dict[str, str]
    secret: Object


def credentials(image: str, secrets: list[Object]) -> list[Credential]:
    """Return the credentials that pull secrets have for an image, the most specific first."""
    matches: list[tuple[int, Credential]] = []
    for secret in secrets:
        for pattern, entry in _entries(secret):
            if _matches(pattern, image):
                matches.append((len(pattern), Credential(entry, _source(secret, entry))))
    return [credential for _, credential in sorted(matches, key=lambda match: -match[0])]


def _source(secret: Object, entry: dict[str, str]) -> Object:
    meta = secret.get("metadata") or {}
    digest = hashlib.sha256(orjson.dumps(entry, option=orjson.OPT_SORT_KEYS)).hexdigest()
    return {"credentialHash": digest, **{key: meta.get(key) or "" for key in ("uid", "namespace", "name")}}


def _entries(secret: Object) -> list[tuple[str, dict[str, str]]]:
    data = secret.get("data") or {}
    try:
        if ".dockerconfigjson" in data:
            value = orjson.loads(base64.b64decode(data[".dockerconfigjson"])).get("auths") or {}
        elif ".dockercfg" in data:
            value = orjson.loads(base64.b64decode(data[".dockercfg"]))
        else:
            return []
        return [(name, _entry(entry)) for name, entry in value.items()]
    except (ValueError, AttributeError, TypeError):
        return []  # a malformed secret is skipped, others may match; its contents are nobody's business


def _entry(value: Object) -> dict[str, str]:
    entry = {"username": value.get("username", ""), "password": value.get("password", "")}
    if value.get("auth"):
        entry["username"], _, entry["password"] = base64.b64decode(value["auth"]).decode().partition(":")
    if value.get("identitytoken"):
        entry["identity_token"] = value["identitytoken"]
    if not all(isinstance(text, str) for text in entry.values()):
        raise TypeError("credentials are texts")
    return entry


def _matches(pattern: str, image: str) -> bool:
    pattern = pattern.removeprefix("https://").removeprefix("http://").rstrip("/")
    host, _, path = pattern.partition("/")
    registry, _, name = with_registry(image).partition("/")
    if host == "index.docker.io":
        host, path = "docker.io", ""
    if path in ("v1", "v2"):
        path = ""
    return _same_host(registry, host) and (not path or name.startswith(path))


def _same_host(registry: str, pattern: str) -> bool:
    """Return whether a registry is meant; a star stands for one part between dots, so that no deeper name is."""
    name, _, port = registry.partition(":")
    wanted, _, wanted_port = pattern.partition(":")
    parts, patterns = name.split("."), wanted.split(".")
    return (
        port == wanted_port
        and len(parts) == len(patterns)
        and all(fnmatch.fnmatchcase(part, glob) for part, glob in zip(parts, patterns, strict=True))
    )


def with_registry(image: str) -> str:
    """Return the name of an image with the registry that it comes from, without tag and digest."""
    parts = image_names.parse(image)
    return parts.name if parts is not None else image
