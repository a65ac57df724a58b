"""What is known of the work on one federated object: what clusters were given, what goes on, and what failed."""

from __future__ import annotations

from dataclasses import dataclass, field

from pybernetes.api.resource import Object
from pybernetes.control_plane.federation import desired, overrides
from pybernetes.control_plane.federation.deletion import USUAL, Deletion
from pybernetes.control_plane.federation.members.back_off import BackOff
from pybernetes.control_plane.federation.sync_plan import Action, Applied
from pybernetes.control_plane.federation.versions import digest


@dataclass
class Going:
    """An operation that is on its way to a cluster."""

    action: Action
    since: float


@dataclass
class Failure:
    """How the last operation in a cluster failed, what it was about, and when another try makes sense."""

    status: str
    about: str
    back_off: BackOff


@dataclass
class Entry:
    """The work on one federated object, by cluster."""

    applied: dict[str, Applied] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    going: dict[str, Going] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)
    updated: bool = False  # something was written to a cluster since the status was
    told: tuple[str, ...] = ()
    deletion: Deletion = USUAL  # how objects in members are deleted
    _generation: tuple[str, int] = ("", 0)
    _operations: dict[str, overrides.Operations] = field(default_factory=dict)
    _wanted: dict[str, str] = field(default_factory=dict)
    _plain: str = ""

    def read(self, obj: Object) -> None:
        """Take in what an object asks for, unless it is known; ValueError if its overrides cannot be."""
        meta = obj["metadata"]
        generation = (meta.get("uid", ""), meta.get("generation", 0))
        if generation == self._generation and generation[1]:
            return
        self._operations = overrides.by_cluster(obj)
        self._wanted = {}
        self._plain = desired.wanted(obj, ())
        self._generation = generation
        for name, operations in self._operations.items():
            self._wanted[name] = desired.wanted(obj, operations)

    def wanted(self, cluster: str) -> str:
        """Return a digest of what the object asks for in a cluster."""
        return self._wanted.get(cluster, self._plain)

    def operations(self, cluster: str) -> overrides.Operations:
        """Return the overrides for a cluster."""
        return self._operations.get(cluster, ())

    def forget(self, cluster: str) -> None:
        """Forget what a cluster was given: it is not there any more."""
        self.applied.pop(cluster, None)
        self.versions.pop(cluster, None)


def about(action: Action, wanted: str | None, current: Object | None) -> str:
    """Return a text that is the same as long as trying again means trying the same."""
    version = current["metadata"].get("resourceVersion", "") if current is not None else ""
    return digest([action.value, wanted, version])
