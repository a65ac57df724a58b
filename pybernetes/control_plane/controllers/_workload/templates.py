"""From templates to pods: what is copied, who owns it, and the hash that tells templates apart."""

from __future__ import annotations

from hashlib import blake2s
from typing import Any

import orjson

from pybernetes.api.resource import Object

# Letters and digits that make no words and are not mistaken for one another.
_SAFE = "bcdfghjklmnpqrstvwxz2456789"


def pod_from(template: Object, owner: Object, reference: Object) -> Object:
    """Return a pod from a template; its parts are the template's own: copy what is to be changed."""
    given = template.get("metadata", {})
    meta: Object = {"generateName": f"{owner['metadata']['name']}-", "ownerReferences": [reference]}
    for name in ("labels", "annotations", "finalizers"):
        if given.get(name):
            meta[name] = given[name]
    return {"metadata": meta, "spec": template.get("spec", {})}


def safe(text: str) -> str:
    """Encode a text so that it contains no vowels, like all generated names."""
    return "".join(_SAFE[ord(char) % len(_SAFE)] for char in text)


def hash_of(value: Any, collisions: int | None = None) -> str:
    """Return a short hash of a value, a different one for each count of collisions."""
    data = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    if collisions is not None:
        data += str(collisions).encode()
    return safe(str(int.from_bytes(blake2s(data, digest_size=4).digest(), "big")))


def without_label(template: Object, label: str) -> Object:
    """Return a template without one of its labels."""
    meta = template.get("metadata", {})
    labels = meta.get("labels")
    if not labels or label not in labels:
        return template
    kept = {name: value for name, value in labels.items() if name != label}
    meta = {name: value for name, value in meta.items() if name != "labels"}
    return {**template, "metadata": {**meta, "labels": kept} if kept else meta}


def scaled(value: int | str | None, total: int, up: bool) -> int:
    """Return a number, or a percentage of a total rounded up or down."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value
    share = int(value.rstrip("%") or 0) * total
    return -(-share // 100) if up else share // 100
