"""From templates to pods: what is copied, who owns it, and the hash that tells templates apart."""

from __future__ import annotations

from hashlib import blake2s
from typing import Any

import orjson

Object = dict[str, Any]
# Letters and digits that make no words and are not mistaken for one another.
_SAFE = "bcdfghjklmnpqrstvwxz2456789"


def pod_from(template: Object, owner: Object, reference: Object) -> Object:
    """A pod made after a template. Its parts are the template's own: copy what is to be changed."""
    given = template.get("metadata", {})
    meta: Object = {"generateName": f"{owner['metadata']['name']}-", "ownerReferences": [reference]}
    for name in ("labels", "annotations", "finalizers"):
        if given.get(name):
            meta[name] = given[name]
    return {"metadata": meta, "spec": template.get("spec", {})}


def safe(text: str) -> str:
    """Text as names may hold it."""
    return "".join(_SAFE[ord(char) % len(_SAFE)] for char in text)


def hash_of(value: Any, collisions: int | None = None) -> str:
    """A short name for a value, another one for each count of collisions."""
    data = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    if collisions is not None:
        data += str(collisions).encode()
    return safe(str(int.from_bytes(blake2s(data, digest_size=4).digest(), "big")))


def without_label(template: Object, label: str) -> Object:
    """A template without one of its labels."""
    meta = template.get("metadata", {})
    labels = meta.get("labels")
    if not labels or label not in labels:
        return template
    kept = {name: value for name, value in labels.items() if name != label}
    meta = {name: value for name, value in meta.items() if name != "labels"}
    return {**template, "metadata": {**meta, "labels": kept} if kept else meta}


def scaled(value: int | str | None, total: int, up: bool) -> int:
    """A count, or a share of a total rounded up or down."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value
    share = int(value.rstrip("%") or 0) * total
    return -(-share // 100) if up else share // 100
