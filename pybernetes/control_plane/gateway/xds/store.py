"""The resources that the proxy should have, each with a version that follows from its bytes."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

from pybernetes.control_plane.gateway.envoy.messages import Message


class Resource(NamedTuple):
    """A message in bytes."""

    version: str
    value: bytes


class Store:
    """Resources by type and name. Types are names of messages; ``followers`` are told which names have changed."""

    def __init__(self) -> None:
        self.by_type: dict[str, dict[str, Resource]] = defaultdict(dict)
        self.followers: set[Callable[[str, str], None]] = set()

    def put(self, type_: str, name: str, message: Message) -> None:
        """Set a resource."""
        value = message.SerializeToString(deterministic=True)
        made = Resource(hashlib.blake2b(value, digest_size=12).hexdigest(), value)
        if self.by_type[type_].get(name) != made:
            self.by_type[type_][name] = made
            self._tell(type_, name)

    def remove(self, type_: str, name: str) -> None:
        """Remove a resource, if it is there."""
        if self.by_type[type_].pop(name, None) is not None:
            self._tell(type_, name)

    def _tell(self, type_: str, name: str) -> None:
        for follower in self.followers:
            follower(type_, name)
