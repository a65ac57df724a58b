"""What the descheduler keeps of a pod, besides what the scheduler's rules need."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any, NamedTuple

from pybernetes.api.core.pod.qos_class import pod_qos_class
from pybernetes.api.resource import Object
from pybernetes.lib import rfc3339
from pybernetes.scheduling.pods import Pod, PodReader
from pybernetes.scheduling.resource_requests import Resources

EVICT = "descheduler.alpha.kubernetes.io/evict"
PREFER_NO_EVICTION = "descheduler.alpha.kubernetes.io/prefer-no-eviction"
REQUEST_EVICT_ONLY = "descheduler.alpha.kubernetes.io/request-evict-only"
IN_PROGRESS = "descheduler.alpha.kubernetes.io/eviction-in-progress"
MIRROR = "kubernetes.io/config.mirror"
SOURCE = "kubernetes.io/config.source"
SYSTEM_CRITICAL = 2_000_000_000

# Facts about a pod, one bit each: what protects it, or does not, is a question of a few of them.
IS_MIRROR, IS_STATIC, IS_DELETING, IS_CRITICAL, IS_OWNED, HAS_FAILED, HAS_LOCAL_STORAGE, OF_DAEMON_SET = (
    1 << bit for bit in range(8)
)
HAS_CLAIM, HAS_RESOURCE_CLAIM, MUST_GO, WOULD_RATHER_STAY, HAS_ENDED, HAS_PRIORITY, IS_READY, IS_PENDING = (
    1 << bit for bit in range(8, 16)
)
REQUESTS_EVICTION, EVICTION_IN_PROGRESS = (1 << bit for bit in range(16, 18))
_QOS = {"BestEffort": 0, "Burstable": 1, "Guaranteed": 2}


class Owner(NamedTuple):
    """A reference to an owner."""

    kind: str
    name: str
    uid: str


class Containers(NamedTuple):
    """The states of a pod's containers of one sort."""

    waiting: tuple[str, ...]  # reasons
    terminated: tuple[str, ...]  # reasons
    exit_codes: tuple[int, ...]
    restarts: int


class Condition(NamedTuple):
    """A condition of a pod."""

    type: str
    status: str
    reason: str
    since: float  # NaN if it does not say


NO_CONTAINERS = Containers((), (), (), 0)
NEVER = float("nan")


def reasons_of(sorts: Iterable[Containers]) -> set[str]:
    """Return why containers wait or have ended."""
    return {reason for sort in sorts for reason in (*sort.waiting, *sort.terminated)}


def has_exited_with(codes: Container[int], sorts: Iterable[Containers]) -> bool:
    """Return whether some container has ended with one of some exit codes."""
    return any(code in codes for sort in sorts for code in sort.exit_codes)


class PodRecord:
    """A pod with what decides whether it may go."""

    __slots__ = ("claims", "conditions", "containers", "created", "ephemeral", "flags", "images", "init", "owners",
                 "phase", "pod", "qos", "reason", "requested", "started")  # fmt: skip

    def __init__(self, pod: Pod) -> None:
        self.pod = pod
        self.flags = 0
        self.created = self.started = NEVER
        self.phase = self.reason = ""
        self.owners: tuple[Owner, ...] = ()
        self.images: tuple[str, ...] = ()  # of its containers, sorted
        self.qos = 0
        self.containers = self.init = self.ephemeral = NO_CONTAINERS
        self.conditions: tuple[Condition, ...] = ()
        self.claims: tuple[str, ...] = ()  # names of its persistent volume claims
        self.requested: frozenset[str] = frozenset()  # resources that some container asks for

    def sorts(self, arguments: Object) -> list[Containers]:
        """Return the containers that a plugin looks at: init containers are among them if its arguments include them."""
        return [self.containers, self.init] if arguments.get("includingInitContainers") else [self.containers]

    def order(self) -> tuple[int, int, int, int]:
        """Return what pods are sorted by when the least important go first: priority, quality of service, wish."""
        return (
            self.flags & HAS_PRIORITY,
            self.pod.priority,
            self.qos,
            self.flags & WOULD_RATHER_STAY,
        )


class RecordReader:
    """Makes records of API objects, sharing what many pods have in common."""

    def __init__(self, resources: Resources, conditions: bool = False) -> None:
        self._pods = PodReader(resources)
        self._conditions = (
            conditions  # whether anybody asks for them: they are what differs most between pods
        )
        self._values: dict[Any, Any] = {}

    def read(self, obj: Object) -> PodRecord:
        """Read a pod from its API object."""
        meta, spec, status = obj["metadata"], obj["spec"], obj.get("status") or {}
        record = PodRecord(self._pods.read(obj))
        share = self._shared
        record.created = _moment(meta.get("creationTimestamp"))
        record.started = _moment(status.get("startTime"))
        record.phase, record.reason = status.get("phase", ""), status.get("reason", "")
        record.owners = share(
            tuple(
                Owner(owner.get("kind", ""), owner.get("name", ""), owner.get("uid", ""))
                for owner in meta.get("ownerReferences") or ()
            )
        )
        containers = spec.get("containers") or ()
        record.images = share(tuple(sorted(container.get("image", "") for container in containers)))
        record.requested = share(
            frozenset(
                name
                for container in (*containers, *(spec.get("initContainers") or ()))
                for name in (container.get("resources") or {}).get("requests") or ()
            )
        )
        record.qos = _QOS.get(pod_qos_class(obj), 0)
        record.containers = share(_containers(status.get("containerStatuses")))
        record.init = share(_containers(status.get("initContainerStatuses")))
        record.ephemeral = share(_containers(status.get("ephemeralContainerStatuses")))
        if self._conditions:
            record.conditions = tuple(
                Condition(
                    share(condition.get("type", "")),
                    share(condition.get("status", "")),
                    share(condition.get("reason", "")),
                    _moment(condition.get("lastTransitionTime")),
                )
                for condition in status.get("conditions") or ()
            )
        volumes = spec.get("volumes") or ()
        record.claims = share(
            tuple(
                volume["persistentVolumeClaim"].get("claimName", "")
                for volume in volumes
                if volume.get("persistentVolumeClaim") is not None
            )
        )
        record.flags = _flags(meta, spec, status, record)
        return record

    def _shared(self, value: Any) -> Any:
        if len(self._values) > 10_000:
            self._values.clear()
        return self._values.setdefault(value, value)


def _flags(meta: Object, spec: Object, status: Object, record: PodRecord) -> int:
    annotations = meta.get("annotations") or {}
    priority = spec.get("priority")
    ready = any(
        condition.get("type") == "Ready" and condition.get("status") == "True"
        for condition in status.get("conditions") or ()
    )
    local = any(
        volume.get("hostPath") is not None or volume.get("emptyDir") is not None
        for volume in spec.get("volumes") or ()
    )
    facts = (
        (MIRROR in annotations, IS_MIRROR),
        (annotations.get(SOURCE, "api") != "api", IS_STATIC),
        ("deletionTimestamp" in meta, IS_DELETING),
        (priority is not None and priority >= SYSTEM_CRITICAL, IS_CRITICAL),
        (bool(record.owners), IS_OWNED),
        (record.phase == "Failed", HAS_FAILED),
        (local, HAS_LOCAL_STORAGE),
        (any(owner.kind == "DaemonSet" for owner in record.owners), OF_DAEMON_SET),
        (bool(record.claims), HAS_CLAIM),
        (bool(spec.get("resourceClaims")), HAS_RESOURCE_CLAIM),
        (EVICT in annotations, MUST_GO),
        (PREFER_NO_EVICTION in annotations, WOULD_RATHER_STAY),
        (record.phase in ("Succeeded", "Failed"), HAS_ENDED),
        (priority is not None, HAS_PRIORITY),
        (ready, IS_READY),
        (record.phase == "Pending", IS_PENDING),
        (REQUEST_EVICT_ONLY in annotations, REQUESTS_EVICTION),
        (IN_PROGRESS in annotations, EVICTION_IN_PROGRESS),
    )
    return sum(bit for holds, bit in facts if holds)


def _containers(statuses: Any) -> Containers:
    if not statuses:
        return NO_CONTAINERS
    waiting, terminated, codes, restarts = [], [], [], 0
    for status in statuses:
        state = status.get("state") or {}
        if "waiting" in state:
            waiting.append((state["waiting"] or {}).get("reason", ""))
        if "terminated" in state:
            terminated.append((state["terminated"] or {}).get("reason", ""))
            codes.append((state["terminated"] or {}).get("exitCode", 0))
        restarts += status.get("restartCount", 0)
    return Containers(tuple(waiting), tuple(terminated), tuple(codes), restarts)


def _moment(text: str | None) -> float:
    return rfc3339.parse(text) if text else NEVER
