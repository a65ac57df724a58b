"""DefaultEvictor: which pods may go at all."""

from __future__ import annotations

import numpy as np

from pybernetes.api import selectors
from pybernetes.api.resource import Object
from pybernetes.api.selectors import Selector
from pybernetes.control_plane.descheduler.argument_types import (
    BOOL,
    DURATION,
    INT32,
    SELECTOR,
    STRING,
    UINT,
    Many,
    Struct,
    Value,
    arguments,
    selector_problem,
)
from pybernetes.control_plane.descheduler.plugin import EvictorPlugin
from pybernetes.control_plane.descheduler.pod_records import (
    HAS_CLAIM,
    HAS_FAILED,
    HAS_LOCAL_STORAGE,
    HAS_PRIORITY,
    HAS_RESOURCE_CLAIM,
    IS_CRITICAL,
    IS_DELETING,
    IS_MIRROR,
    IS_OWNED,
    IS_STATIC,
    MUST_GO,
    OF_DAEMON_SET,
    SYSTEM_CRITICAL,
    WOULD_RATHER_STAY,
    PodRecord,
)
from pybernetes.control_plane.descheduler.view import View
from pybernetes.scheduling.columns import Bools, Ints
from pybernetes.scheduling.pods import Labels

LOCAL_STORAGE, CRITICAL, BARE, DAEMON_SET = DEFAULT_PROTECTIONS = (
    "PodsWithLocalStorage", "SystemCriticalPods", "FailedBarePods", "DaemonSetPods",
)  # fmt: skip
CLAIMS, WITHOUT_BUDGET, RESOURCE_CLAIMS = EXTRA_PROTECTIONS = (
    "PodsWithPVC", "PodsWithoutPDB", "PodsWithResourceClaims",
)  # fmt: skip
# Before there were podProtections: what each argument of old turns off, or on.
_EVICT = {
    "evictLocalStoragePods": LOCAL_STORAGE,
    "evictDaemonSetPods": DAEMON_SET,
    "evictSystemCriticalPods": CRITICAL,
    "evictFailedBarePods": BARE,
}
_IGNORE = {"ignorePvcPods": CLAIMS, "ignorePodsWithoutPDB": WITHOUT_BUDGET}
_PROTECTIONS = Many(Value("defaultevictor.PodProtection", (str,)))
_CLASSES = Many(Struct("defaultevictor.ProtectedStorageClass", {"name": STRING}))
_CONFIG = Struct(
    "defaultevictor.PodProtectionsConfig",
    {"PodsWithPVC": Struct("defaultevictor.PodsWithPVCConfig", {"protectedStorageClasses": _CLASSES})},
)


def protections(arguments: Object) -> frozenset[str]:
    """Return what protects pods."""
    given = arguments.get("podProtections") or {}
    disabled, extra = given.get("defaultDisabled") or (), given.get("extraEnabled") or ()
    if disabled or extra:
        return frozenset(DEFAULT_PROTECTIONS).difference(disabled).union(extra)
    kept = frozenset(name for flag, name in _EVICT.items() if not arguments.get(flag))
    return kept.union(name for flag, name in _IGNORE.items() if arguments.get(flag))


class DefaultEvictor(EvictorPlugin):
    """A pod that is annotated to be evicted may always go; nothing protects it."""

    name = "DefaultEvictor"
    arguments_type = arguments(
        "DefaultEvictor", nodeSelector=STRING, labelSelector=SELECTOR, namespaceLabelSelector=SELECTOR,
        priorityThreshold=Struct("api.PriorityThreshold", {"value": INT32, "name": STRING}), nodeFit=BOOL,
        minReplicas=UINT, minPodAge=DURATION, noEvictionPolicy=STRING,
        podProtections=Struct("defaultevictor.PodProtections",
                              {"extraEnabled": _PROTECTIONS, "defaultDisabled": _PROTECTIONS, "config": _CONFIG}),
        **dict.fromkeys((*_EVICT, *_IGNORE), BOOL),
    )  # fmt: skip

    @classmethod
    def check(cls, arguments: Object) -> list[str]:
        problems = []
        threshold = arguments.get("priorityThreshold") or {}
        if threshold.get("value") is not None and threshold.get("name"):
            problems.append(
                "priority threshold misconfigured, only one of priorityThreshold fields can be set"
            )
        if arguments.get("noEvictionPolicy", "") not in ("", "Preferred", "Mandatory"):
            problems.append('noEvictionPolicy accepts only ["Preferred" "Mandatory"] values')
        for name in ("labelSelector", "namespaceLabelSelector"):
            problem = selector_problem(arguments.get(name))
            if problem:
                problems.append(f"could not get selector from {name}: {problem}")
        try:
            selectors.parse_labels(arguments.get("nodeSelector", ""))
        except selectors.SelectorError as error:
            problems.append(f"could not parse nodeSelector: {error}")
        given = arguments.get("podProtections") or {}
        extra, disabled = given.get("extraEnabled") or [], given.get("defaultDisabled") or []
        if (extra or disabled) and any(arguments.get(flag) for flag in (*_EVICT, *_IGNORE)):
            problems.append(
                "cannot use Deprecated fields alongside PodProtections.ExtraEnabled or PodProtections.DefaultDisabled"
            )
        for names, known, where in (
            (extra, EXTRA_PROTECTIONS, "ExtraEnabled"),
            (disabled, DEFAULT_PROTECTIONS, "DefaultDisabled"),
        ):
            problems += [
                f'invalid pod protection policy in {where}: "{name}". Valid options are: [{" ".join(known)}]'
                for name in names
                if name not in known
            ]
        for names, where in ((disabled, "DefaultDisabled"), (extra, "ExtraEnabled")):
            if len(set(names)) != len(names):
                problems.append(f"PodProtections.{where} contains duplicate entries")
        if CLAIMS in extra:
            problems += [
                f"PodProtections.Config.PodsWithPVC.ProtectedStorageClasses[{index}] name cannot be empty"
                for index, storage_class in enumerate(_storage_classes(arguments))
                if not storage_class.get("name")
            ]
        return problems

    def __init__(self, arguments: Object) -> None:
        super().__init__(arguments)
        self.protections = protections(arguments)
        threshold = (arguments.get("priorityThreshold") or {}).get("value")
        self.threshold: int = SYSTEM_CRITICAL if threshold is None else threshold
        self.classes = frozenset(storage_class["name"] for storage_class in _storage_classes(arguments))
        wanted = arguments.get("namespaceLabelSelector") or {}
        selects = wanted.get("matchLabels") or wanted.get("matchExpressions")
        self._namespaces = selectors.from_object(wanted) if selects else None

    def evictable(self, view: View) -> Bools:
        given, table, kept = self.arguments, view.table, self.protections
        flags = table.flags
        guarded = IS_MIRROR | IS_STATIC | IS_DELETING
        for name, flag in (
            (CRITICAL, IS_CRITICAL),
            (LOCAL_STORAGE, HAS_LOCAL_STORAGE),
            (DAEMON_SET, OF_DAEMON_SET),
            (RESOURCE_CLAIMS, HAS_RESOURCE_CLAIM),
        ):
            guarded |= flag if name in kept else 0
        if CLAIMS in kept and not self.classes:
            guarded |= HAS_CLAIM
        result: Bools = flags & guarded == 0
        result &= flags & (IS_OWNED if BARE in kept else IS_OWNED | HAS_FAILED) != 0
        if CRITICAL in kept:
            result &= (table.priority < self.threshold) | (flags & HAS_PRIORITY == 0)
        if given.get("labelSelector"):
            selector = selectors.from_object(given["labelSelector"])
            result &= table.by_labels(lambda labels: selector.matches(labels.labels))
        if given.get("minPodAge") is not None:
            result &= view.now - table.started >= given["minPodAge"]
        if given.get("minReplicas", 0) > 1:
            result &= table.owners.with_replicas(given["minReplicas"], table.alive)
        if WITHOUT_BUDGET in kept:
            result &= _with_budget(view)
        if CLAIMS in kept and self.classes:
            for row in np.flatnonzero(result & (flags & HAS_CLAIM != 0)).tolist():
                result[row] = not self._has_protected_class(view, table.records[row])
        if given.get("noEvictionPolicy") == "Mandatory":
            result &= flags & WOULD_RATHER_STAY == 0
        result |= flags & MUST_GO != 0
        return result

    def may_leave(self, view: View, row: int) -> bool:
        pod = view.record(row).pod
        if self.arguments.get("nodeFit"):
            nodes = view.ready_nodes(self.arguments.get("nodeSelector", ""))
            if not view.fit.elsewhere(pod, nodes):
                return False
        if self._namespaces is None:
            return True
        known = pod.namespace in view.cluster.objects.get("namespaces", {})
        return known and self._namespaces.matches(view.cluster.namespace_labels(pod.namespace))

    def all_may_leave(self, view: View, rows: Ints) -> Bools:
        if not self.arguments.get("nodeFit") or self._namespaces is not None:
            return super().all_may_leave(view, rows)
        return view.fit.all_elsewhere(rows, view.ready_nodes(self.arguments.get("nodeSelector", "")))

    def _has_protected_class(self, view: View, record: PodRecord) -> bool:
        """Return whether a pod has a claim of a protected storage class, or one of which that cannot be told."""
        claims = view.cluster.objects.get("persistentvolumeclaims", {})
        for name in record.claims:
            claim = claims.get(f"{record.pod.namespace}/{name}") or {}
            storage_class = (claim.get("spec") or {}).get("storageClassName")
            if not storage_class or storage_class in self.classes:
                return True
        return False


def _storage_classes(arguments: Object) -> list[Object]:
    config = (arguments.get("podProtections") or {}).get("config") or {}
    return (config.get("PodsWithPVC") or {}).get("protectedStorageClasses") or []


def _with_budget(view: View) -> Bools:
    """Return the pods that some disruption budget is about."""
    table = view.table
    covered = np.zeros(len(table.labels) + 1, dtype=np.bool_)
    for budget in view.cluster.objects.get("poddisruptionbudgets", {}).values():
        namespace = budget["metadata"]["namespace"]
        selector = selectors.from_object((budget.get("spec") or {}).get("selector"))

        def is_covered(labels: Labels, namespace: str = namespace, selector: Selector = selector) -> bool:
            return labels.namespace == namespace and selector.matches(labels.labels)

        covered[table.labels_like(selector, is_covered)] = True
    return covered[table.label]


PLUGIN = DefaultEvictor
