"""The resources that the proxy should have, each with a version that follows from its bytes."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from typing import NamedTuple

from pybernetes.control_plane.gateway.envoy.messages import Message

TYPE_PREFIX = "type.googleapis.com/"


class Resource(NamedTuple):
    """A message in bytes."""

    version: str
    value: bytes


class Store:
    """Resources by type and name. Types are names of messages."""

    def __init__(self) -> None:
        self.by_type: dict[str, dict[str, Resource]] = defaultdict(dict)

    def put(self, type_: str, name: str, message: Message) -> bool:
        """Set a resource; return whether it is another than before."""
        value = message.SerializeToString(deterministic=True)
        made = Resource(hashlib.blake2b(value, digest_size=12).hexdigest(), value)
        changed = self.by_type[type_].get(name) != made
        self.by_type[type_][name] = made
        return changed

    def remove(self, type_: str, name: str) -> bool:
        """Remove a resource; return whether there was one."""
        return self.by_type[type_].pop(name, None) is not None
