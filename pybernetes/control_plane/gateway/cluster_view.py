"""What translations may look up: objects by key, from caches or from a test's dictionaries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from pybernetes.api.resource import Object


class ClusterView(Protocol):
    """The part of a cluster that references point into."""

    def service(self, key: str) -> Object | None: ...
    def secret(self, key: str) -> Object | None: ...
    def namespace_labels(self, name: str) -> Mapping[str, str]: ...
    def grants(self, namespace: str) -> Iterable[Object]: ...
