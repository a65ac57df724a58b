"""create secret generic."""

from __future__ import annotations

import base64

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.create._generator import COMMON, generator, metadata
from pybernetes.tools.kubectl.commands.create._sources import SOURCES, check_key, gather, hash_of
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.output.json import dumps

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Create a secret from a local file, directory, or literal value"
USAGE = "create secret generic NAME [--type=string] [--from-file=[key=]source] [--from-literal=key1=value1] [--dry-run=server|client|none]"
FLAGS = (*COMMON, SOURCES, "- type string | type of the secret\n")


def secret(context: Context, name: str, data: list[tuple[str, bytes]], kind: str) -> Object:
    """Return a Secret with some data."""
    encoded: dict[str, str] = {}
    for key, value in data:
        if errors := check_key(key):
            raise CommandError(f'"{key}" is not valid key name for a Secret {";".join(errors)}')
        if key in encoded:
            raise CommandError(f"cannot add key {key}, another key by that name already exists")
        encoded[key] = base64.b64encode(value).decode()
    made: Object = {"kind": "Secret", "apiVersion": "v1", "metadata": metadata(context, name)}
    if encoded:
        made["data"] = dict(sorted(encoded.items()))
    if kind:
        made["type"] = kind
    if context.flags.append_hash:
        content = {"kind": "Secret", "type": kind, "name": name, "data": made.get("data") or ""}
        made["metadata"]["name"] = f"{name}-{hash_of(dumps(content, indent=None))}"
    return made


def make(context: Context, name: str) -> Object:
    """Return a Secret of any type."""
    return secret(context, name, gather(context, "secret"), context.flags.type)


run = generator(make, "failed to create secret ")
