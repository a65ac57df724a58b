"""What plugins are given: what is known of the cluster, and a way to write to it."""

from __future__ import annotations

import random
from collections.abc import Awaitable
from typing import Protocol

from pybernetes.api.resource import Object
from pybernetes.scheduling.listers import Listers
from pybernetes.scheduling.nominations import Nominations
from pybernetes.scheduling.snapshot import Snapshot


class Writer(Protocol):
    """The writes that plugins make once a node is chosen.

    A resource is named as kubectl names it: ``pods``, ``events.events.k8s.io``.
    """

    def create(
        self, resource: str, obj: Object, namespace: str = "", *, name: str = "", subresource: str = ""
    ) -> Awaitable[Object]:
        """Create an object, or a subresource of the object of a name."""

    def update(self, resource: str, obj: Object) -> Awaitable[Object]:
        """Replace an object."""


class _NoWriter:
    """The writer of those who only ask where pods would go."""

    def create(
        self, resource: str, obj: Object, namespace: str = "", *, name: str = "", subresource: str = ""
    ) -> Awaitable[Object]:
        raise NotImplementedError("nothing can be written here")

    def update(self, resource: str, obj: Object) -> Awaitable[Object]:
        raise NotImplementedError("nothing can be written here")


class Handle:
    """The state that all plugins of all profiles share; without a writer nothing can be bound."""

    def __init__(
        self,
        snapshot: Snapshot,
        listers: Listers,
        writer: Writer | None = None,
        chance: random.Random | None = None,
    ) -> None:
        self.snapshot = snapshot
        self.listers = listers
        self.nominations = Nominations(snapshot)
        self.writer = writer or _NoWriter()
        self.chance = chance or random.Random()
