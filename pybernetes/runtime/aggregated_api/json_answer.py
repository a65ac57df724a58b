"""Long answers in parts that are never put together: a list of 30,000 samples has 9 MB, and one copy of it is enough."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import orjson

from pybernetes.api.resource import Object


@dataclass(frozen=True, slots=True)
class JsonAnswer:
    """An answer as JSON, cut anywhere."""

    texts: tuple[bytes, ...]


def joined(items: Iterable[bytes]) -> bytes:
    """Return items of a list, each as JSON, as one part: thousands of small ones would leave holes in the memory."""
    return b",".join(items)


def listed(head: Object, parts: Sequence[bytes]) -> JsonAnswer:
    """Return a list: an object whose last member is an empty list, and what goes into that."""
    text = orjson.dumps(head)
    if not text.endswith(b"[]}"):
        raise ValueError("the last member of a list is what it lists")
    pieces = [text[:-2]]
    for number, part in enumerate(parts):
        pieces += [b",", part] if number else [part]
    return JsonAnswer((*pieces, text[-2:]))
