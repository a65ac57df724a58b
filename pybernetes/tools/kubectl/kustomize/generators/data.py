"""Keys and values of generated objects, from literals, files and lists of variables."""

from __future__ import annotations

import base64
import os

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.errors import BuildError, wrapped
from pybernetes.tools.kubectl.kustomize.resource import BEHAVIOR, NEEDS_HASH, Resource
from pybernetes.tools.kubectl.kustomize.yaml_nodes.node import (
    BOOLEAN,
    MAPPING,
    SCALAR,
    STRING,
    Node,
    scalar,
    text,
)
from pybernetes.tools.kubectl.kustomize.yaml_nodes.paths import lookup, set_field

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.loader import Loader

_LINE = 70


def read(loader: Loader, name: str, config: dict[str, Any]) -> dict[str, bytes]:
    """Return the data of a generated object."""
    data: dict[str, bytes] = {}
    with wrapped("loading KV pairs"):
        pairs = list(_pairs(loader, config))
    for key, value in pairs:
        if key in data:
            raise BuildError(f"configmap {name} illegally repeats the key `{key}`")
        data[key] = value
    return data


def _pairs(loader: Loader, config: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    envs = [*config.get("envs", ()), *([config["env"]] if config.get("env") else ())]
    with wrapped(f"env source files: [{' '.join(envs)}]"):
        for path in envs:
            yield from _variables(loader.load(path))
    literals = config.get("literals", ())
    with wrapped(f"literal sources [{' '.join(literals)}]"):
        for literal in literals:
            yield _literal(literal)
    files = config.get("files", ())
    with wrapped(f"file sources: [{' '.join(files)}]"):
        for source in files:
            key, path = _file(source)
            yield key, loader.load(path)


def _literal(source: str) -> tuple[str, bytes]:
    key, equals, value = source.partition("=")
    if not key or not equals:
        raise BuildError(f"invalid literal source {source}, expected key=value")
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    return key, value.encode()


def _file(source: str) -> tuple[str, str]:
    from pybernetes.api.text.go_format import quote

    count = source.count("=")
    if not count:
        return os.path.basename(source.rstrip("/")) or source, source
    if count > 1:
        raise BuildError(f"source {quote(source)} key name or file path contains '='")
    key, _, path = source.partition("=")
    if not key:
        raise BuildError(f"missing key name for file path {quote(path)} in source {quote(source)}")
    if not path:
        raise BuildError(f"missing file path for key name {quote(key)} in source {quote(source)}")
    return key, path


def _variables(data: bytes) -> Iterator[tuple[str, bytes]]:
    for number, raw in enumerate(data.split(b"\n")):
        raw = raw.removesuffix(b"\r")
        try:
            line = raw.decode()
        except UnicodeDecodeError:
            shown = raw.decode("utf-8", "replace")
            raise BuildError(f"line {list(raw)} has invalid utf8 bytes : {shown}".replace(",", "")) from None
        line = (line.removeprefix("\ufeff") if not number else line).lstrip()
        if line and not line.startswith("#"):
            key, _, value = line.partition("=")
            if key:
                yield key, value.encode()


def base(kind: str, config: dict[str, Any]) -> Resource:
    """Return an object with its name and namespace; those of metadata count if there are no others."""
    metadata = config.get("metadata") or {}
    name = config.get("name") or metadata.get("name", "")
    namespace = config.get("namespace") or metadata.get("namespace", "")
    if not name:
        raise BuildError("a configmap must have a name")
    made = Node(MAPPING, content={"apiVersion": scalar("v1", STRING), "kind": scalar(kind, STRING)})
    made.content["metadata"] = Node(MAPPING, content={"name": text(name)})
    if namespace:
        made.content["metadata"].content["namespace"] = text(namespace)
    return Resource(made)


def finish(resource: Resource, config: dict[str, Any]) -> Resource:
    """Give a generated object what its options say, and what the build must remember of it."""
    options = config.get("options") or {}
    node = resource.node
    assert node is not None
    for field in ("labels", "annotations"):
        for key, value in sorted((options.get(field) or {}).items()):
            entries = lookup(node, ["metadata", field], create=MAPPING)
            assert entries is not None
            set_field(entries, key, Node(SCALAR, value, STRING, "'"))
    if options.get("immutable"):
        set_field(node, "immutable", scalar("true", BOOLEAN))
    if not options.get("disableNameSuffixHash"):
        resource.enable(NEEDS_HASH)
    behavior = config.get("behavior", "")
    behavior = behavior if behavior in ("create", "merge", "replace") else "unspecified"
    resource.set_map("annotations", {**resource.annotations, BEHAVIOR: behavior})
    return resource


def config_map_value(data: bytes) -> tuple[str, Node]:
    """Return the field and the value for data of a ConfigMap: text as it is, other bytes as base64."""
    try:
        value = data.decode()
    except UnicodeDecodeError:
        return "binaryData", base64_value(data)
    return "data", scalar(value, STRING, "|" if "\n" in value else "")


def base64_value(data: bytes) -> Node:
    """Return data as base64, in lines if it is long."""
    encoded = base64.b64encode(data).decode()
    if len(encoded) >= _LINE:
        encoded = "".join(f"{encoded[start : start + _LINE]}\n" for start in range(0, len(encoded), _LINE))
    return scalar(encoded, STRING, "|" if "\n" in encoded else "")
