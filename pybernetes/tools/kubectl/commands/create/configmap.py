"""create configmap."""

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


SUMMARY = "Create a config map from a local file, directory or literal value"
USAGE = "create configmap NAME [--from-file=[key=]source] [--from-literal=key1=value1] [--dry-run=server|client|none]"
ALIASES = ("cm",)
FLAGS = (*COMMON, SOURCES)


def make(context: Context, name: str) -> Object:
    """Return a ConfigMap."""
    texts: dict[str, str] = {}
    binaries: dict[str, str] = {}
    for key, value in gather(context, "config"):
        if errors := check_key(key):
            raise CommandError(f'"{key}" is not a valid key name for a ConfigMap: {",".join(errors)}')
        for where, known in (("Data", texts), ("BinaryData", binaries)):
            if key in known:
                raise CommandError(
                    f'cannot add key "{key}", another key by that name already exists in {where} for ConfigMap "{name}"'
                )
        try:
            texts[key] = value.decode()
        except UnicodeDecodeError:
            binaries[key] = base64.b64encode(value).decode()
    config_map: Object = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata(context, name)}
    if texts:
        config_map["data"] = dict(sorted(texts.items()))
    if binaries:
        config_map["binaryData"] = dict(sorted(binaries.items()))
    if context.flags.append_hash:
        content: Object = {
            "data": config_map.get("data") or ({} if binaries else ""),
            "kind": "ConfigMap",
            "name": name,
        }
        if binaries:
            content["binaryData"] = config_map["binaryData"]
        config_map["metadata"]["name"] = f"{name}-{hash_of(dumps(content, indent=None))}"
    return config_map


run = generator(make, "failed to create configmap: ")
