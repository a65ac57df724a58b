"""Reads the objects of a file as the API server would: decoded, completed with defaults, checked."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from pybernetes.api import registry
from pybernetes.api.field import Errors
from pybernetes.api.resource import Object, Resource
from pybernetes.api.schema.decode import DecodeError, Decoder
from pybernetes.api.text import yaml_reader
from pybernetes.api.validation.meta import validate as validate_metadata
from pybernetes.tools.what_if.cluster import QuestionError

_SEPARATOR = re.compile(rb"^---(?=\s|$)", re.MULTILINE)
MAX_BYTES = 64 << 20


def read(path: str, namespace: str) -> list[tuple[Resource, Object]]:
    """Return the objects of a file (``-``: standard input) with their kinds; raise QuestionError with the field."""
    try:
        raw = sys.stdin.buffer.read(MAX_BYTES + 1) if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise QuestionError(f"cannot read {path}: {error.strerror or error}") from None
    if len(raw) > MAX_BYTES:
        raise QuestionError(f"{path} has more than {MAX_BYTES >> 20} MiB")
    return parse(raw, namespace, path)


def parse(raw: bytes, namespace: str, name: str = "the file") -> list[tuple[Resource, Object]]:
    """Return the objects of a text in YAML or JSON with their kinds."""
    values: list[Any] = []
    for document in _SEPARATOR.split(raw):
        try:
            value, _ = yaml_reader.loads(document)
        except yaml_reader.YamlError as error:
            raise QuestionError(f"{name}: {error}") from None
        if value is not None:
            values += _unpacked(value, name)
    if not values:
        raise QuestionError(f"{name} has no objects")
    return [_object(value, namespace, name) for value in values]


def _unpacked(value: Any, name: str) -> list[Any]:
    if not isinstance(value, dict):
        raise QuestionError(f"{name}: an object is needed, this is: {str(value)[:60]!r}")
    if value.get("kind") == "List" and isinstance(value.get("items"), list):
        return [inner for item in value["items"] for inner in _unpacked(item, name)]
    return [value]


def _object(value: Object, namespace: str, name: str) -> tuple[Resource, Object]:
    version, kind = value.get("apiVersion"), value.get("kind")
    for field, given in (("apiVersion", version), ("kind", kind)):
        if not isinstance(given, str) or not given:
            raise QuestionError(f"{name}: {field}: Required value")
    resource = next(
        (
            resource
            for resource in registry.builtin()
            if resource.kind == kind and resource.api_version == version
        ),
        None,
    )
    if resource is None:
        raise QuestionError(f'{name}: no matches for kind "{kind}" in version "{version}"')
    decoder = Decoder()
    try:
        obj = decoder.decode(resource.type, value)
    except DecodeError as error:
        raise QuestionError(f"{name}: {kind}: {error}") from None
    if unknown := decoder.unknown:
        raise QuestionError(f"{name}: {kind}: " + ", ".join(f'unknown field "{field}"' for field in unknown))
    meta = obj.setdefault("metadata", {})
    if not meta.get("name") and not meta.get("generateName"):
        raise QuestionError(
            f"{name}: {kind}: metadata.name: Required value: name or generateName is required"
        )
    meta.setdefault("name", f"{meta.get('generateName', '')}0")
    if resource.namespaced:
        meta.setdefault("namespace", namespace)
    obj |= {"kind": kind, "apiVersion": version}
    if resource.default is not None:
        resource.default(obj)
    if resource.prepare_create is not None:
        meta["uid"] = "what-if"  # some selectors are made of it
        resource.prepare_create(obj)
    problems = Errors()
    validate_metadata(resource, obj, problems)
    if resource.validate is not None:
        resource.validate(obj, problems)
    if problems:
        texts = "\n".join(f"{name}: {kind} {meta['name']}: {problem}" for problem in problems[:20])
        raise QuestionError(texts)
    return resource, obj
