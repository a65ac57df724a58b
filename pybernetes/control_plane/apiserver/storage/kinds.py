"""All kinds that a server serves: built-in ones from the start, custom ones that come and go."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from pybernetes.api.resource import Resource
from pybernetes.control_plane.apiserver.storage.kind import Kind


class Kinds:
    """The kinds by group, version and plural."""

    def __init__(self, resources: Iterable[Resource] = ()) -> None:
        self._kinds: dict[tuple[str, str, str], Kind] = {}
        # Called after a kind came or went, to drop what was derived from the list.
        self.listeners: list[Callable[[], None]] = []
        for resource in resources:
            self._kinds[resource.group, resource.version, resource.plural] = Kind(resource)

    def get(self, group: str, version: str, plural: str) -> Kind | None:
        """Return the kind that is served under a group, version and plural, or None."""
        return self._kinds.get((group, version, plural))

    def find(self, group: str, plural: str) -> Kind:
        """Return a kind by group and plural, in whichever version comes first; KeyError if there is none."""
        for (its_group, _, its_plural), kind in self._kinds.items():
            if its_group == group and its_plural == plural:
                return kind
        raise KeyError((group, plural))

    def has_version(self, group: str, version: str) -> bool:
        """Return whether a group is served at a version."""
        return any(key[0] == group and key[1] == version for key in self._kinds)

    def __iter__(self) -> Iterator[Kind]:
        return iter(self._kinds.values())

    def add(self, kind: Kind) -> None:
        """Serve one more kind."""
        resource = kind.resource
        self._kinds[resource.group, resource.version, resource.plural] = kind
        self._changed()

    def remove(self, kind: Kind) -> None:
        """Stop serving a kind, and end its watches."""
        resource = kind.resource
        self._kinds.pop((resource.group, resource.version, resource.plural), None)
        self._changed()
        for close in list(kind.watches):
            close()

    def _changed(self) -> None:
        for listener in self.listeners:
            listener()
