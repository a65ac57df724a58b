"""ResourceQuota: counts what every namespace with a quota uses, and counts again when something is given back.

What is taken is charged by the API server's admission as it is taken. Its charge comes before the object that it is for,
so a quota that was charged just now is counted a moment later.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from pybernetes.api import resource_list
from pybernetes.api.quota import usage
from pybernetes.api.quota.evaluator import Evaluator
from pybernetes.api.quota.evaluators import Evaluators
from pybernetes.api.resource import Object
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import (
    DEVICE_CLASSES,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    RESOURCE_CLAIMS,
    RESOURCE_QUOTAS,
    SERVICES,
    Ref,
)
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.control_plane.controllers._metadata.any_kind_controller import AnyKindController
from pybernetes.lib.flags import Flag, Seconds
from pybernetes.runtime.cache import by_namespace, key_of
from pybernetes.runtime.informer import Informer
from pybernetes.runtime.runtime import Runtime

log = logging.getLogger(__name__)
_COLLECT_SECONDS = 0.1
_SETTLE_SECONDS, _LONGEST_SECONDS = 0.5, 5.0
_MEASURED = (PODS, SERVICES, PERSISTENT_VOLUME_CLAIMS, RESOURCE_CLAIMS)


class ResourceQuotaController(AnyKindController):
    """Works on keys of quotas."""

    name = "resourcequota-controller"
    without = "what quotas count of the others stays as it is"
    kind = RESOURCE_QUOTAS

    def __init__(self, runtime: Runtime, workers: int = 5, period: float = 300.0) -> None:
        self._charged: dict[str, float] = {}  # when others last wrote a quota's status
        self._asked: dict[str, float] = {}  # when a count was asked for that has not been made
        self._written: dict[str, str] = {}  # quotas as this controller last wrote them
        super().__init__(runtime)
        self.workers, self._period = workers, period
        self._evaluators = Evaluators(self)
        self._measuring = {
            (evaluator.group, evaluator.plural): evaluator for evaluator in self._evaluators.measuring()
        }
        for kind in (*_MEASURED, DEVICE_CLASSES):  # whole objects, not only their metadata
            self.cache(kind)

    # -- what usage of claims depends on -----------------------------------------------------------------

    def device_classes(self) -> Iterable[Object]:
        """Return every device class."""
        return self.cache(DEVICE_CLASSES).values()

    def pod(self, namespace: str, name: str) -> Object | None:
        """Return a pod."""
        return self.cache(PODS).get(f"{namespace}/{name}")

    def claims(self, namespace: str) -> Iterable[Object]:
        """Return the claims of a namespace."""
        return self.cache(RESOURCE_CLAIMS).in_namespace(namespace)

    # -- changes become keys -----------------------------------------------------------------------------

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        if new is None:
            return True
        if old is None or old["spec"] != new["spec"]:
            return True
        own = self._written.get(key_of(new)) == new["metadata"]["resourceVersion"]
        if old.get("status") != new.get("status") and not own:
            self._charged[key_of(new)] = self.clock.monotonic()
        return not _is_whole(new)

    def changed(self, ref: Ref, old: Object | None, new: Object | None) -> None:
        """Enqueue the quotas that count an object of which something was given back."""
        if old is None or not ref.namespaced:
            return
        namespace = old["metadata"].get("namespace", "")
        if not self.objects.count(by_namespace, namespace):
            return
        evaluator = self._evaluators.get(ref.group, ref.plural)
        if evaluator is None:
            return
        if new is not None:
            measuring = (ref.group, ref.plural) in self._measuring and "spec" in new
            if not measuring or not evaluator.gives_back(new, old, self.clock.now()):
                return
        for quota in self.objects.find(by_namespace, namespace):
            if evaluator.matching(quota["spec"].get("hard") or ()):
                self._asked.setdefault(key_of(quota), self.clock.monotonic())
                self.enqueue(key_of(quota), _COLLECT_SECONDS)

    # -- one quota ---------------------------------------------------------------------------------------

    async def reconcile(self, key: str) -> float | None:
        """Count what a quota's namespace uses; return when to count again in any case."""
        quota = self.objects.get(key)
        if quota is None:
            self._charged.pop(key, None)
            self._asked.pop(key, None)
            self._written.pop(key, None)
            return None
        status = quota.get("status", {})
        hard = quota["spec"].get("hard") or {}
        fresh = _is_whole(quota)
        now = self.clock.monotonic()
        if fresh and now < self._charged.get(key, -1e9) + _SETTLE_SECONDS:
            if now < self._asked.setdefault(key, now) + _LONGEST_SECONDS:
                return _SETTLE_SECONDS
        self._asked.pop(key, None)
        used = {**(status.get("used") or {}), **self._count(quota, hard)}
        used = resource_list.mask(used, hard)
        if not fresh or not resource_list.equal(used, status.get("used") or {}):
            try:
                written = await self.client.update_status(
                    RESOURCE_QUOTAS, {**quota, "status": {"hard": hard, "used": used}}
                )
                self._written[key] = written["metadata"]["resourceVersion"]
            except NotFound:
                return None
        return self._period or None

    def _count(self, quota: Object, hard: dict[str, str]) -> dict[str, str]:
        namespace = quota["metadata"]["namespace"]

        def objects(evaluator: Evaluator) -> Iterable[Object]:
            informer = self._informer(evaluator)
            return informer.in_namespace(namespace) if informer is not None else ()

        counting = [evaluator for evaluator in self._used_by(hard) if self._informer(evaluator) is not None]
        return usage.calculate(quota, hard, counting, objects, self.clock.now())

    def _used_by(self, hard: Iterable[str]) -> list[Evaluator]:
        """Return the evaluators that a quota needs."""
        evaluators = dict(self._measuring)
        for name in hard:
            if name.startswith("count/"):
                plural, _, group = name.removeprefix("count/").partition(".")
                evaluator = self._evaluators.get(group, plural)
                if evaluator is not None:
                    evaluators[group, plural] = evaluator
        return list(evaluators.values())

    def _informer(self, evaluator: Evaluator) -> Informer | None:
        served = self.monitors.discovered.preferred.get((evaluator.group, evaluator.plural))
        informer = self.monitors.get(served.ref) if served is not None else None
        return informer if informer is not None and informer.synced else None


def _is_whole(quota: Object) -> bool:
    """Return whether the status has all limits of the spec and nothing else."""
    hard, status = quota["spec"].get("hard") or {}, quota.get("status", {})
    return resource_list.equal(hard, status.get("hard") or {}) and "used" in status


CONTROLLER = Descriptor(
    name=ResourceQuotaController.name,
    aliases=("resourcequota",),
    identity="resourcequota-controller",
    flags=(
        Flag("concurrent-resource-quota-syncs", 5, "how many quotas are worked on at a time"),
        Flag(
            "resource-quota-sync-period", Seconds(300), "after how long a quota is counted again in any case"
        ),
    ),
    build=lambda runtime, options: ResourceQuotaController(
        runtime, options.concurrent_resource_quota_syncs, options.resource_quota_sync_period
    ),
)
