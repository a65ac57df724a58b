"""What is remembered of the objects of one kind in one member, with our own writes ahead of the member's watch."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.errors import StatusError
from pybernetes.control_plane.federation.member_objects import remembered
from pybernetes.lib.unsigned import unsigned
from pybernetes.runtime.cache import key_of
from pybernetes.runtime.informer import Informer
from pybernetes.runtime.wary_informer import Nonsense

# So many writes may be ahead of a watch before those that it has passed are looked for.
_SWEEP = 256


class MemberCache:
    """An informer of a member; what was written is seen at once, although its event comes later."""

    def __init__(self, informer: Informer) -> None:
        self.informer = informer
        # By key: the version that was written, how often the member had been listed before, and what was written.
        self._ahead: dict[str, tuple[int, int, Object]] = {}

    @property
    def error(self) -> str:
        """Why the cache does not say what the member has; empty if it does."""
        error = self.informer.error
        # The member answers, and does not let us see, has no such kind, or says what makes no sense.
        if isinstance(error, (StatusError, Nonsense)):
            return str(error)
        if not self.informer.synced:
            return str(error or "not read yet")
        return ""

    @property
    def is_reading(self) -> bool:
        """Whether the first list is on its way, and nothing speaks against it."""
        return not self.informer.synced and self.informer.error is None

    def get(self, key: str) -> Object | None:
        """Return what is remembered of an object."""
        ahead = self._ahead.get(key)
        if ahead is not None:
            if self._is_ahead(ahead):
                return ahead[2]
            del self._ahead[key]
        return self.informer.get(key)

    def wrote(self, obj: Object) -> Object:
        """Remember an object as the member answered it; return what is remembered."""
        known = remembered(obj)
        version = unsigned(obj["metadata"].get("resourceVersion"))
        if version is not None and version > self.informer.version:
            self._ahead[key_of(obj)] = (version, self.informer.lists, known)
            if len(self._ahead) > _SWEEP:
                self._ahead = {key: entry for key, entry in self._ahead.items() if self._is_ahead(entry)}
        return known

    def _is_ahead(self, entry: tuple[int, int, Object]) -> bool:
        """Return whether the watch has not come to a write yet; whatever was listed since then has it, or lost it."""
        return entry[0] > self.informer.version and entry[1] == self.informer.lists

    def keys(self) -> list[str]:
        """Return the keys of all objects that the member is known to have."""
        return [*self.informer.keys(), *(key for key in self._ahead if key not in self.informer)]
