"""Puts documents together: which definitions and paths belong into which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from pybernetes.api.resource import Resource
from pybernetes.api.schema import load
from pybernetes.control_plane.apiserver.openapi import operations, render, schemas
from pybernetes.control_plane.apiserver.openapi.operations import Operation, Path
from pybernetes.control_plane.apiserver.openapi.schemas import META, V2, V3, Kind, Schema

Key = tuple[str, str, str]  # group, version, plural


class Documents:
    """Everything that is needed to write documents. Make one, write what is needed, and drop it.

    Definitions are converted and encoded when a document first needs them, and once for all documents.
    """

    def __init__(self, resources: Iterable[Resource], custom: Mapping[Key, Schema | None]) -> None:
        self._resources = sorted(
            resources, key=lambda resource: (resource.group, resource.version, resource.plural)
        )
        self._custom = custom
        self._raw = load.definitions()
        self._kinds = schemas.kinds(self._raw)
        self._references: dict[str, set[str]] = {}
        self._encoded: dict[tuple[str, str], bytes] = {}

    def paths(self) -> list[str]:
        """Return the path below ``/openapi/v3/`` of every document of version 3."""
        paths = {"api", "apis", "version", *_OPENID}
        for resource in self._resources:
            paths.add(_place(resource.group, resource.version))
            if resource.group:
                paths.add(f"apis/{resource.group}")
        return sorted(paths)

    def v3(self, place: str) -> bytes:
        """Return the document of version 3 for one place, such as ``apis/apps/v1``."""
        members = [
            resource for resource in self._resources if _place(resource.group, resource.version) == place
        ]
        paths = sorted(self._paths(members, [place]), key=lambda path: path.path)
        own = self._own(members, V3)
        definitions = self._definitions(paths, own, V3)
        end = orjson.dumps(render.SECURITY_V3)[1:-1] + b"}}"
        return _document(
            b'"openapi":"3.0.0"', render.paths_v3(paths), b'"components":{"schemas":{', definitions, end
        )

    def v2(self) -> bytes:
        """Return the one document of version 2."""
        paths = sorted(self._paths(self._resources, self.paths()), key=lambda path: path.path)
        definitions = self._definitions(paths, self._own(self._resources, V2), V2)
        end = orjson.dumps(render.SECURITY_V2)[1:]
        return _document(b'"swagger":"2.0"', render.paths_v2(paths), b'"definitions":{', definitions, end)

    def _paths(self, members: list[Resource], places: Iterable[str]) -> list[Path]:
        paths = [_place_path(place) for place in places]
        for resource in members:
            kind = Kind(resource.group, resource.version, resource.kind)
            if self._is_custom(resource):
                definition = schemas.custom_name(kind)
                listed = schemas.custom_name(kind._replace(kind=resource.list_kind))
            else:
                definition = self._kinds[kind]
                listed = self._kinds.get(kind._replace(kind=resource.list_kind), "")
            paths.extend(operations.Describer(resource, definition, listed).paths(self._kinds))
        return paths

    def _is_custom(self, resource: Resource) -> bool:
        return (resource.group, resource.version, resource.plural) in self._custom

    def _own(self, members: list[Resource], prefix: str) -> dict[str, Schema]:
        """Return the definitions of the custom kinds among the members."""
        definitions: dict[str, Schema] = {}
        for resource in members:
            if self._is_custom(resource):
                kind = Kind(resource.group, resource.version, resource.kind)
                schema = self._custom[resource.group, resource.version, resource.plural]
                definitions |= schemas.custom(kind, resource.list_kind, schema, prefix)
        return definitions

    def _definitions(self, paths: list[Path], own: dict[str, Schema], prefix: str) -> list[bytes]:
        """Return the encoded definitions that paths and custom kinds need, by name."""
        pending = [
            name
            for path in paths
            for operation in path.operations
            for name in (operation.body, operation.answer)
        ]
        if any("{name}" in path.path for path in paths):
            pending.append(META["WatchEvent"])  # no operation names it, but every watch sends it
        encoded: dict[str, bytes] = {}
        for name, schema in own.items():
            encoded[name] = _entry(name, schema)
            pending.extend(schemas.references(schema) - own.keys())
        while pending:
            name = pending.pop()
            if not name or name in encoded:
                continue
            if name not in self._references:
                self._references[name] = schemas.references(self._raw[name])
            key = (prefix, name)
            if key not in self._encoded:
                self._encoded[key] = _entry(name, schemas.convert(name, self._raw[name], prefix))
            encoded[name] = self._encoded[key]
            pending.extend(self._references[name])
        return [encoded[name] for name in sorted(encoded)]


def _document(head: bytes, paths: Any, before: bytes, definitions: list[bytes], end: bytes) -> bytes:
    """Return a document of which the definitions are encoded already."""
    return b"".join(
        (
            b"{" + head + b',"info":',
            orjson.dumps(render.INFO),
            b',"paths":',
            orjson.dumps(paths),
            b"," + before,
            b",".join(definitions),
            b"},",
            end,
        )
    )


def _entry(name: str, schema: Schema) -> bytes:
    return orjson.dumps(name) + b":" + orjson.dumps(schema)


# What those who check our tokens elsewhere need: tag, name, description and media type.
_OPENID = {
    ".well-known/openid-configuration": (
        "WellKnown", "getServiceAccountIssuerOpenIDConfiguration",
        "get the OpenID configuration of the issuer of service account tokens", "application/json",
    ),
    "openid/v1/jwks": (
        "openid", "getServiceAccountIssuerOpenIDKeyset",
        "get the keys that service account tokens are checked with", "application/jwk-set+json",
    ),
}  # fmt: skip


def _place(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def _place_path(place: str) -> Path:
    """Return the path of the discovery document (or the version) that a document of OpenAPI begins with."""
    if place in _OPENID:
        tag, name, description, media = _OPENID[place]
        return _read(place, tag, name, description, "", answers=(media,))
    parts = place.split("/")
    group = operations.group_words("" if parts[0] == "api" else parts[1]) if len(parts) > 1 else parts[0]
    words = group[:1].upper() + group[1:]
    if place == "version":
        return _read(
            place, "version", "getCodeVersion", "get the version of this server", schemas.VERSION_INFO
        )
    if place == "api":
        return _read(place, "core", "getCoreAPIVersions", "get available API versions", META["APIVersions"])
    if place == "apis":
        return _read(place, "apis", "getAPIVersions", "get available API versions", META["APIGroupList"])
    if len(parts) == 2 and parts[0] == "apis":
        return _read(place, group, f"get{words}APIGroup", "get information of a group", META["APIGroup"])
    version = parts[-1]
    name = f"get{words}{version[:1].upper()}{version[1:]}APIResources"
    return _read(place, f"{group}_{version}", name, "get available resources", META["APIResourceList"])


def _read(place: str, tag: str, name: str, description: str, answer: str, **more: Any) -> Path:
    return Path(f"/{place}/", tag, (), (Operation("get", name, description, answer=answer, **more),))
