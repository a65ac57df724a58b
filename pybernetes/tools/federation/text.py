"""Objects as YAML: read from files, written to the terminal."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from pybernetes.api.resource import Object
from pybernetes.api.text import yaml_reader
from pybernetes.tools.federation.errors import FederationError

# Where a document ends and the next one begins.
_SEPARATOR = re.compile(rb"^---(?=\s|$)", re.MULTILINE)
_BREAKS = re.compile("[\x85\u2028\u2029\ufeff]")
_TEXT = "tag:yaml.org,2002:str"


def read(path: Path) -> Iterator[Object]:
    """Yield the objects of a file; ``-`` is what comes on the standard input. Lists are taken apart."""
    text = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    for part in _SEPARATOR.split(text):
        try:
            document, _ = yaml_reader.loads(part)
        except yaml_reader.YamlError as error:
            raise FederationError(f'Failed to load yaml from file "{path}": {error}') from None
        if document is None:
            continue
        if (
            not isinstance(document, dict)
            or not isinstance(document.get("kind"), str)
            or not document["kind"]
        ):
            raise FederationError(f'Failed to load yaml from file "{path}": a document has no kind')
        if document["kind"].endswith("List") and isinstance(document.get("items"), list):
            yield from document["items"]
        else:
            yield document


def read_one(path: Path) -> Object:
    """Return the only object of a file."""
    objects = list(read(path))
    if len(objects) != 1:
        raise FederationError(f'Failed to load yaml from file "{path}": one object is expected')
    return objects[0]


class _Dumper(yaml.SafeDumper):
    """Writes what every reader of YAML takes for what it is: some take ``y`` for true, and some know no anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    if "\n" in text:
        return dumper.represent_scalar(_TEXT, text, style="|")
    return dumper.represent_scalar(_TEXT, text, style='"' if _is_ambiguous(text) else None)


def _is_ambiguous(text: str) -> bool:
    """Return whether a text without quotes is something else for readers of YAML 1.1, or of what Go makes of it."""
    if _BREAKS.search(text):  # the library would break the line for some of these
        return True
    try:
        return not isinstance(yaml_reader.loads(text.encode())[0], str)
    except yaml_reader.YamlError:  # it cannot be without quotes
        return False


_Dumper.add_representer(str, _text)


def documents(*objects: tuple[str, str, Object]) -> str:
    """Return objects, each with its apiVersion and kind, as documents of YAML."""
    texts = [
        yaml.dump({"apiVersion": api_version, "kind": kind, **obj}, Dumper=_Dumper, allow_unicode=True)
        for api_version, kind, obj in objects
    ]
    return "".join(f"---\n{text}" for text in texts).rstrip("\n")
