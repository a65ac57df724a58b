"""Objects as YAML: read from files, written to the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

from pybernetes.api.resource import Object
from pybernetes.tools.federation.errors import FederationError

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read(path: Path) -> Iterator[Object]:
    """Yield the objects of a file; ``-`` is what comes on the standard input. Lists are taken apart."""
    text = sys.stdin.read() if str(path) == "-" else path.read_text()
    try:
        documents = list(yaml.load_all(text, Loader=_Loader))
    except yaml.YAMLError as error:
        raise FederationError(f'Failed to load yaml from file "{path}": {error}') from None
    for document in documents:
        if document is None:
            continue
        if not isinstance(document, dict) or not document.get("kind"):
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


def documents(*objects: tuple[str, str, Object]) -> str:
    """Return objects, each with its apiVersion and kind, as documents of YAML."""
    texts = [
        yaml.safe_dump({"apiVersion": api_version, "kind": kind, **obj}, sort_keys=False)
        for api_version, kind, obj in objects
    ]
    return "".join(f"---\n{text}" for text in texts).rstrip("\n")
