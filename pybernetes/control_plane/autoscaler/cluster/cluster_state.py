"""What became of earlier wishes: which nodes came up, which did not, which groups failed. Decides, and does nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from pybernetes.control_plane.autoscaler.backoff import Backoffs
from pybernetes.control_plane.autoscaler.cluster.cluster import ClusterNode
from pybernetes.control_plane.autoscaler.cluster.groups import GroupState
from pybernetes.control_plane.autoscaler.provider import OUT_OF_RESOURCES, Instance

TIMEOUT = "timeout"


class Request(NamedTuple):
    """A group that was given more nodes."""

    began: float
    due: float
    increase: int


@dataclass
class Readiness:
    """How many nodes are how."""

    registered: int = 0
    ready: int = 0
    unready: int = 0
    not_started: int = 0
    deleting: int = 0
    unregistered: int = 0
    long_unregistered: int = 0


class TimedOut(NamedTuple):
    """Nodes that did not come; ``missing`` of the wish have no machine and are to be taken back."""

    group: str
    seconds: float
    increase: int
    missing: int


class Failed(NamedTuple):
    """Machines that the cloud could not make."""

    group: str
    instances: list[Instance]
    code: str
    messages: list[str]


class Shortfall(NamedTuple):
    """A group whose cloud has had fewer machines than it says for too long."""

    group: str
    delta: int


@dataclass
class Deviations:
    """What has to be done about groups."""

    timed_out: list[TimedOut] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)
    never_registered: dict[str, list[Instance]] = field(default_factory=dict)
    shortfalls: list[Shortfall] = field(default_factory=list)


class Health(NamedTuple):
    """When a cluster or a group is in a bad shape."""

    ok_unready: int = 3
    unready_percentage: float = 45.0

    def bad(self, unready: int, all_nodes: int) -> bool:
        """Return whether too many nodes are not ready."""
        return unready > self.ok_unready and unready > self.unready_percentage / 100 * all_nodes


class ClusterState:
    """Kept from pass to pass."""

    def __init__(self, backoffs: Backoffs, health: Health, startup_seconds: float = 900.0) -> None:
        self.backoffs, self.health, self._startup = backoffs, health, startup_seconds
        self.requests: dict[str, Request] = {}
        self.readiness: dict[str, Readiness] = {}
        self.total = Readiness()
        self._unregistered: dict[str, float] = {}  # machines without a node, and since when
        self._short: dict[str, tuple[int, float]] = {}  # groups with too few machines, and since when
        self._reported: set[str] = set()  # machines whose errors were told already

    def update(
        self, groups: Mapping[str, GroupState], nodes: Mapping[str, ClusterNode], now: float
    ) -> Deviations:
        """Compare what the cloud says with the nodes that there are; return what has to be done."""
        deviations = Deviations()
        sound = {name: state for name, state in groups.items() if not state.error}
        self.backoffs.forget_others(set(groups))
        for name in self.requests.keys() - groups.keys():
            del self.requests[name]
        self._note_unregistered(sound.values(), nodes, now)
        if len(sound) == len(groups):  # otherwise nobody knows which are gone
            self._reported &= {instance.id for state in sound.values() for instance in state.instances}
        for name, state in sound.items():
            self.readiness[name] = self._count(state, nodes, now)
            self._check_errors(state, deviations, now)
            self._check_request(state, deviations, now)
            self._check_size(state, deviations, now)
            late = [
                instance
                for instance in state.instances
                if now - self._unregistered.get(instance.id, now) > state.options.provision_seconds
            ]
            if late:
                deviations.never_registered[name] = late
        self.readiness = {name: counts for name, counts in self.readiness.items() if name in groups}
        self.total = self._sum(nodes, now)
        return deviations

    def _note_unregistered(
        self, groups: Iterable[GroupState], nodes: Mapping[str, ClusterNode], now: float
    ) -> None:
        registered = {node.provider_id for node in nodes.values()}
        registered |= set(nodes)
        self._unregistered = {
            instance.id: self._unregistered.get(instance.id, now)
            for state in groups
            for instance in state.instances
            if instance.id not in registered
        }

    def _kind(self, node: ClusterNode, now: float) -> str:
        if node.deleting:
            return "deleting"
        if node.ready:
            return "ready"
        return "not_started" if node.created + self._startup > now else "unready"

    def _count(self, state: GroupState, nodes: Mapping[str, ClusterNode], now: float) -> Readiness:
        counts: dict[str, int] = defaultdict(int)
        for name in state.nodes:
            counts[self._kind(nodes[name], now)] += 1
        waits = [
            now - self._unregistered[instance.id]
            for instance in state.instances
            if instance.id in self._unregistered
        ]
        late = sum(1 for seconds in waits if seconds > state.options.provision_seconds)
        return Readiness(
            len(state.nodes), counts["ready"], counts["unready"], counts["not_started"], counts["deleting"],
            len(waits) - late, late,
        )  # fmt: skip

    def _sum(self, nodes: Mapping[str, ClusterNode], now: float) -> Readiness:
        total = Readiness(registered=len(nodes))
        for node in nodes.values():
            kind = self._kind(node, now)
            setattr(total, kind, getattr(total, kind) + 1)
        total.unregistered = sum(counts.unregistered for counts in self.readiness.values())
        total.long_unregistered = sum(counts.long_unregistered for counts in self.readiness.values())
        return total

    # -- wishes ------------------------------------------------------------------------------------------

    def request(self, state: GroupState, increase: int, now: float) -> None:
        """Note that a group was given more nodes."""
        before = self.requests.get(state.id)
        more = before.increase if before is not None else 0
        self.requests[state.id] = Request(now, now + state.options.provision_seconds, more + increase)

    def upcoming(self, state: GroupState) -> int:
        """Return how many nodes of a group are on their way."""
        counts = self.readiness.get(state.id, Readiness())
        return max(0, state.target - counts.ready - counts.unready - counts.long_unregistered)

    def _check_request(self, state: GroupState, deviations: Deviations, now: float) -> None:
        request = self.requests.get(state.id)
        if request is None:
            return
        counts = self.readiness[state.id]
        if state.target <= counts.ready + counts.unready:  # machines that never became nodes are no success
            del self.requests[state.id]
            self.backoffs.succeed(state.id)
        elif request.due <= now:
            del self.requests[state.id]
            seconds = now - request.began
            message = f"Scale-up timed out for node group {state.id} after {seconds:g}s"
            self.backoffs.fail(state.id, TIMEOUT, message, now)
            # Machines that exist are not taken back like this: they may yet come, or are deleted by their names.
            missing = max(0, min(request.increase, state.target - len(state.instances)))
            deviations.timed_out.append(TimedOut(state.id, seconds, request.increase, missing))

    def _check_errors(self, state: GroupState, deviations: Deviations, now: float) -> None:
        by_code: dict[str, list[Instance]] = defaultdict(list)
        for instance in state.instances:
            if instance.error_code and instance.id not in self._reported:
                kind = "OutOfResource" if instance.error_class == OUT_OF_RESOURCES else "Other"
                by_code[f"{kind}.{instance.error_code}"].append(instance)
        for code, instances in by_code.items():
            self._reported.update(instance.id for instance in instances)
            messages = sorted({instance.error_message for instance in instances})
            self.backoffs.fail(state.id, code, ", ".join(messages)[:1024], now)
            deviations.failed.append(Failed(state.id, instances, code, messages))
            request = self.requests.get(state.id)
            if request is not None and request.increase <= len(instances):
                del self.requests[state.id]
            elif request is not None:
                self.requests[state.id] = request._replace(increase=request.increase - len(instances))

    def _check_size(self, state: GroupState, deviations: Deviations, now: float) -> None:
        delta = len(state.instances) - state.target
        before = self._short.pop(state.id, None)
        if delta >= 0:
            return
        since = before[1] if before is not None and before[0] == delta else now
        if now - since > state.options.provision_seconds:
            deviations.shortfalls.append(Shortfall(state.id, delta))
        else:
            self._short[state.id] = (delta, since)

    # -- health ------------------------------------------------------------------------------------------

    def is_healthy(self) -> bool:
        """Return whether enough nodes are ready for decisions to make sense."""
        return not self.health.bad(self.total.unready + self.total.long_unregistered, self.total.registered)

    def group_is_healthy(self, state: GroupState) -> bool:
        """Return whether a group may be given more nodes."""
        counts = self.readiness.get(state.id)
        if state.error or counts is None:
            return False
        return not self.health.bad(counts.unready + counts.long_unregistered, state.target)

    def next_deadline(self, groups: Mapping[str, GroupState], now: float) -> float:
        """Return when something that is waited for is late; infinity if nothing is."""
        times = [request.due for request in self.requests.values()]
        for state in groups.values():
            times += [
                self._unregistered[instance.id] + state.options.provision_seconds
                for instance in state.instances
                if instance.id in self._unregistered
            ]
            if state.id in self._short:
                times.append(self._short[state.id][1] + state.options.provision_seconds)
        return min(times, default=float("inf"))
