"""VolumeBinding: a pod's volumes must be reachable from its node; unbound claims get a suitable volume."""

from __future__ import annotations

from collections.abc import Awaitable, Hashable, Iterable
from typing import NamedTuple

import numpy as np

from pybernetes.api import quantity, selectors
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.scheduling import persistent_volumes
from pybernetes.scheduling.cluster_events import (
    CLAIM,
    CSI_CAPACITY,
    CSI_DRIVER,
    CSI_NODE,
    NODE,
    STORAGE_CLASS,
    VOLUME,
    Action,
    Interest,
)
from pybernetes.scheduling.columns import Bools, Ints, Rows
from pybernetes.scheduling.handle import Handle
from pybernetes.scheduling.persistent_volumes import Plan, Storage, StorageError, annotations_of
from pybernetes.scheduling.plugin import (
    FilterPlugin,
    PreBindPlugin,
    PreFilterPlugin,
    Rejection,
    ReservePlugin,
    Scope,
    ScorePlugin,
)
from pybernetes.scheduling.plugins.node_affinity import matching_term
from pybernetes.scheduling.plugins.node_resources_fit import check_shape, shape_table
from pybernetes.scheduling.plugins.volume_binding.reservation import Reservation
from pybernetes.scheduling.plugins.volume_binding.volume_binder import VolumeBinder
from pybernetes.scheduling.plugins.volume_restrictions import uses
from pybernetes.scheduling.pods import Pod

REASONS = {
    1: "node(s) didn't match PersistentVolume's node affinity",
    2: "node(s) didn't find available persistent volumes to bind",
    4: "node(s) did not have enough free storage",
    8: "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
}
_NODE, _BIND, _SPACE, _GONE = 1, 2, 4, 8
IMMEDIATE = "pod has unbound immediate PersistentVolumeClaims"


class _Search(NamedTuple):
    """The result of a search for volumes on some rows: problems, and which volume each claim would get."""

    problems: Ints  # bits
    chosen: list[
        tuple[Object, list[Object], Ints]
    ]  # claim, volumes, and which of these on each row; -1: none
    made: list[
        tuple[Object, Ints]
    ]  # claims for which volumes would be made, and the room there is (-1: not known)


class VolumeBinding(PreFilterPlugin, FilterPlugin, ScorePlugin, ReservePlugin, PreBindPlugin):
    """Bound claims restrict the nodes by their volume's affinity, the others by what could be bound or provisioned."""

    name = "VolumeBinding"
    points = ("preFilter", "filter", "reserve", "preBind", "preScore", "score")
    filter_scope = score_scope = Scope.CLUSTER
    normalizes = True  # it is not relative to other nodes, but depends on more than a node's own row

    @classmethod
    def default_arguments(cls, given: Object) -> Object:
        shape = given.get("shape") or [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}]
        return {"bindTimeoutSeconds": 600, **given, "shape": shape}

    @classmethod
    def check_arguments(cls, arguments: Object, path: Path, errors: Errors) -> None:
        seconds = arguments.get("bindTimeoutSeconds", 600)
        if seconds < 0:
            text = "invalid BindTimeoutSeconds, should not be a negative value"
            errors.invalid(path / "bindTimeoutSeconds", seconds, text)
        if arguments.get("shape") is not None:
            check_shape(arguments["shape"], path / "shape", errors)

    def __init__(self, handle: Handle, arguments: Object) -> None:
        super().__init__(handle, arguments)
        self.storage = Storage(handle.listers)
        self._binder = VolumeBinder(handle, arguments["bindTimeoutSeconds"])
        self._reservations: dict[str, Reservation] = {}  # by the uid of the pod
        self._table = shape_table(arguments["shape"])

    def pre_filter(self, pod: Pod) -> Rejection | frozenset[str] | None:
        if not self._has_claims(pod):
            return None
        try:
            claims = self.storage.claims(pod)
        except StorageError as error:
            return Rejection(self.name, str(error))
        return Rejection(self.name, IMMEDIATE) if claims.immediate else None

    def _has_claims(self, pod: Pod) -> bool:
        return pod.shape.volumes is not None and bool(pod.shape.volumes.claims)

    def filter_key(self, pod: Pod) -> Hashable | None:
        return True if self._has_claims(pod) else None

    def filter(self, pod: Pod, rows: Rows) -> Ints:
        return -self._search(pod, rows).problems

    def reasons(self, pod: Pod, code: int) -> tuple[str, ...]:
        return tuple(text for bit, text in REASONS.items() if -code & bit)

    def _search(self, pod: Pod, rows: Rows) -> _Search:
        claims = self.storage.claims(pod)
        size = len(self.snapshot.valid[rows])
        problems = np.zeros(size, dtype=np.int64)
        for claim in claims.bound:
            volume = self.storage.get(persistent_volumes.VOLUMES, claim["spec"]["volumeName"])
            if volume is None:
                problems |= _GONE
                continue
            problems |= np.where(self._reachable(volume, rows), 0, _NODE)
        chosen: list[tuple[Object, list[Object], Ints]] = []
        made: list[tuple[Object, Ints]] = []
        for claim in sorted(claims.delayed, key=persistent_volumes.wanted_size):
            need = np.ones(size, dtype=np.bool_)
            selected = annotations_of(claim).get(persistent_volumes.SELECTED_NODE)
            if selected is not None:
                elsewhere = np.arange(self.snapshot.size)[rows] != self.snapshot.rows.get(selected, -1)
                problems |= np.where(elsewhere, _BIND, 0)
            else:
                volumes, which = self._choose(claim, rows, size, chosen)
                chosen.append((claim, volumes, which))
                need = which < 0
            if need.any():
                wrong, room = self._make(claim, rows, need)
                problems |= wrong
                made.append((claim, np.where(need, room, -2)))
        return _Search(problems, chosen, made)

    def _reachable(self, volume: Object, rows: Rows) -> Bools:
        """Return from which rows a volume can be used."""
        terms = persistent_volumes.node_affinity(volume)
        if terms is None:
            return np.ones(len(self.snapshot.valid[rows]), dtype=np.bool_)
        reachable = np.zeros(len(self.snapshot.valid[rows]), dtype=np.bool_)
        for term in terms:
            reachable |= matching_term(self.snapshot, term._replace(names=()), rows)
        return reachable

    def _choose(
        self, claim: Object, rows: Rows, size: int, before: list[tuple[Object, list[Object], Ints]]
    ) -> tuple[list[Object], Ints]:
        """Choose for each row the smallest suitable volume that no other claim of the pod has."""
        which = np.full(size, -1, dtype=np.int64)
        volumes = [
            candidate
            for candidate in self.storage.volumes(persistent_volumes.class_of(claim))
            if persistent_volumes.suits(candidate, claim)
        ]
        meant = [candidate for candidate in volumes if persistent_volumes.is_for(candidate, claim)]
        volumes = meant or sorted(volumes, key=persistent_volumes.size_of)
        for number, volume in enumerate(volumes):
            free = self._reachable(volume, rows) & (which < 0)
            for _, others, taken in before:
                for other, other_volume in enumerate(others):
                    if other_volume["metadata"]["name"] == volume["metadata"]["name"]:
                        free &= taken != other
            which[free] = number
            if (which >= 0).all():
                break
        return volumes, which

    def _make(self, claim: Object, rows: Rows, need: Bools) -> tuple[Ints, Ints]:
        """Return what keeps a volume from being provisioned, and how much room there is (-1: not known)."""
        size = len(need)
        room = np.full(size, -1, dtype=np.int64)
        storage_class = self.storage.get(persistent_volumes.CLASSES, persistent_volumes.class_of(claim))
        if storage_class is None or not persistent_volumes.provisions(storage_class):
            return np.where(need, _BIND, 0), room
        allowed = persistent_volumes.topologies(storage_class)
        ok = np.ones(size, dtype=np.bool_)
        if allowed is not None:
            ok = np.zeros(size, dtype=np.bool_)
            for selector in allowed:
                ok |= self._matching(selector, rows)
        problems = np.where(need & ~ok, _BIND, 0)
        capacities = self.storage.capacities(claim, storage_class)
        if capacities is not None:
            enough = np.zeros(size, dtype=np.bool_)
            for capacity in capacities:
                topology = capacity.get("nodeTopology")
                if topology is None:
                    continue
                there = self._matching(selectors.from_object(topology), rows) & ~enough
                total = capacity.get("capacity")
                room[there] = 0 if total is None else quantity.integer(total)
                enough |= there
            problems = np.where(need & ok & ~enough, _SPACE, problems)
        return problems, room

    def _matching(self, selector: selectors.Selector, rows: Rows) -> Bools:
        matches = self.snapshot.valid[rows].copy()
        for requirement in selector.requirements:
            matches &= self.snapshot.label(requirement.key).matching(requirement, rows)
        return matches

    # -- score -------------------------------------------------------------------------------------------

    def score_key(self, pod: Pod) -> Hashable | None:
        return True if self._has_claims(pod) else None

    def score(self, pod: Pod, rows: Rows) -> Ints:
        """Score nodes by how fully the volumes would be used, along the configured shape."""
        search = self._search(pod, rows)
        size = len(search.problems)
        static = np.zeros(size, dtype=np.bool_)
        for _, _, which in search.chosen:
            static |= which >= 0
        wanted: dict[str, Ints] = {}
        there: dict[str, Ints] = {}
        for claim, volumes, which in search.chosen:
            sizes = np.array([*map(persistent_volumes.size_of, volumes), 0], dtype=np.int64)[which]
            _add(
                wanted,
                persistent_volumes.class_of(claim),
                np.where(which >= 0, persistent_volumes.wanted_size(claim), 0),
                size,
            )
            _add(there, persistent_volumes.class_of(claim), np.where(which >= 0, sizes, 0), size)
        for claim, room in search.made:
            known = (room >= 0) & ~static
            name = persistent_volumes.class_of(claim)
            _add(wanted, name, np.where(known, persistent_volumes.wanted_size(claim), 0), size)
            there[name] = np.where(known, room, there.get(name, np.zeros(size, dtype=np.int64)))
        total, classes = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        for name, amount in wanted.items():
            counted = (amount > 0) | (there[name] > 0)
            full = (there[name] == 0) | (amount > there[name])
            share = np.where(full, 100, amount * 100 // np.maximum(there[name], 1))
            total += np.where(counted, self._table[share], 0)
            classes += counted
        return np.floor(total / np.maximum(classes, 1) + 0.5).astype(np.int64)

    # -- what is to be done once a node is chosen --------------------------------------------------------

    def plan(self, pod: Pod, node: str) -> Plan:
        """Return what is to be done about a pod's claims on its node."""
        if not self._has_claims(pod):
            return Plan((), ())
        row = self.snapshot.rows[node]
        search = self._search(pod, slice(row, row + 1))
        bindings = tuple(
            (volumes[int(which[0])], claim) for claim, volumes, which in search.chosen if int(which[0]) >= 0
        )
        return Plan(bindings, tuple(claim for claim, room in search.made if int(room[0]) > -2))

    def reserve(self, pod: Pod) -> Rejection | None:
        if pod.shape.volumes is None:
            return None
        plan = self.plan(pod, pod.node)
        if plan.bindings or plan.provisions:
            self._reservations[pod.uid] = Reservation(self.listers, plan, pod.node)
        return None

    def unreserve(self, pod: Pod) -> None:
        reservation = self._reservations.pop(pod.uid, None)
        if reservation is not None:
            reservation.revert()

    def pre_bind(self, pod: Pod) -> Awaitable[None] | None:
        return self._bind(pod) if pod.uid in self._reservations else None

    async def _bind(self, pod: Pod) -> None:
        await self._binder.bind(self._reservations[pod.uid])
        # The server has newer objects now than those that were assumed.
        self._reservations.pop(pod.uid, None)

    # -- events ------------------------------------------------------------------------------------------

    def interests(self) -> Iterable[Interest]:
        return (
            Interest(STORAGE_CLASS, Action.ADD | Action.UPDATE, _after_class),
            Interest(CLAIM, Action.ADD | Action.UPDATE, lambda pod, old, new: uses(pod, new)),
            Interest(VOLUME, Action.ADD | Action.UPDATE),
            Interest(NODE, Action.ADD | Action.UPDATE_NODE_LABEL),
            Interest(CSI_NODE, Action.ADD | Action.UPDATE, lambda pod, old, new: old is None),
            Interest(CSI_DRIVER, Action.UPDATE, _after_driver),
            Interest(CSI_CAPACITY, Action.ADD | Action.UPDATE, _after_capacity),
        )


def _add(sums: dict[str, Ints], name: str, amounts: Ints, size: int) -> None:
    sums[name] = sums.get(name, np.zeros(size, dtype=np.int64)) + amounts


def _after_class(pod: Pod, old: Object | None, new: Object) -> bool:
    return old is None or old.get("allowedTopologies") != new.get("allowedTopologies")


def _after_driver(pod: Pod, old: Object, new: Object) -> bool:
    told, tells = ((driver.get("spec") or {}).get("storageCapacity") for driver in (old, new))
    return bool(told) and not tells


def _after_capacity(pod: Pod, old: Object | None, new: Object) -> bool:
    return old is None or persistent_volumes.largest_volume(new) > persistent_volumes.largest_volume(old)


PLUGIN = VolumeBinding
