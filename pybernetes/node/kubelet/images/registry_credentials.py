"""Credentials of pull secrets, matched with the images that they are for."""

from __future__ import annotations

import base64
import fnmatch

import orjson

from pybernetes.api.core.pod import image_names
from pybernetes.api.resource import Object


def credentials(image: str, secrets: list[Object]) -> list[dict[str, str]]:
    """Return the credentials that pull secrets have for an image, the most specific first."""
    matches: list[tuple[int, dict[str, str]]] = []
    for secret in secrets:
        for pattern, entry in _entries(secret):
            if _matches(pattern, image):
                matches.append((len(pattern), entry))
    return [entry for _, entry in sorted(matches, key=lambda match: -match[0])]


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
    except (ValueError, AttributeError):
        return []  # a malformed secret is skipped, others may match


def _entry(value: Object) -> dict[str, str]:
    user, password = value.get("username", ""), value.get("password", "")
    if value.get("auth"):
        user, _, password = base64.b64decode(value["auth"]).decode().partition(":")
    entry = {"username": user, "password": password}
    if value.get("identitytoken"):
        entry["identity_token"] = value["identitytoken"]
    return entry


def _matches(pattern: str, image: str) -> bool:
    pattern = pattern.removeprefix("https://").removeprefix("http://").rstrip("/")
    host, _, path = pattern.partition("/")
    registry, _, name = with_registry(image).partition("/")
    if host == "index.docker.io":
        host, path = "docker.io", ""
    if path in ("v1", "v2"):
        path = ""
    return fnmatch.fnmatchcase(registry, host) and (not path or name.startswith(path))


def with_registry(image: str) -> str:
    """Return the name of an image with the registry that it comes from, without tag and digest."""
    parts = image_names.parse(image)
    return parts.name if parts is not None else image
