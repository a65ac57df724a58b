"""HorizontalPodAutoscaler: sets the replicas of its target to what its metrics ask for, once per sync period."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from pybernetes.api import feature_gates, quantity, selectors
from pybernetes.api.errors import StatusError
from pybernetes.api.resource import Object
from pybernetes.client.errors import Conflict
from pybernetes.client.refs import HORIZONTAL_POD_AUTOSCALERS, PODS
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.control_plane.controllers.horizontalpodautoscaler import metric_sources
from pybernetes.control_plane.controllers.horizontalpodautoscaler.metric_sources import Failed, Target
from pybernetes.control_plane.controllers.horizontalpodautoscaler.metrics_client import (
    UNMAPPED,
    MetricsClient,
)
from pybernetes.control_plane.controllers.horizontalpodautoscaler.normalization import History, normalize
from pybernetes.control_plane.controllers.horizontalpodautoscaler.own_metrics import OwnMetrics
from pybernetes.control_plane.controllers.horizontalpodautoscaler.replica_calculator import Tolerances
from pybernetes.control_plane.controllers.horizontalpodautoscaler.scaling_status import (
    ABLE,
    ACTIVE,
    LIMITED,
    TO_ZERO,
    ScalingStatus,
)
from pybernetes.lib import rfc3339
from pybernetes.lib.flags import Flag, Seconds
from pybernetes.runtime.cache import by_labels, split_key
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.runtime import Runtime

log = logging.getLogger(__name__)
SCALE_TO_ZERO = "HPAScaleToZero"
_TRIES = 5


@dataclass(frozen=True)
class Settings:
    """The flags of the controller."""

    sync_period: float = 15.0
    downscale_stabilization: float = 300.0
    tolerance: float = 0.1
    cpu_initialization: float = 300.0
    initial_readiness: float = 30.0
    scale_to_zero: bool = False


class NotScaled(Exception):
    """Nothing is done this time; the text says why, and ``metrics`` are those that could be had."""

    def __init__(self, text: str, metrics: list[Object] | None = None) -> None:
        super().__init__(text)
        self.metrics = metrics or []


def spec_key(hpa: Object | None) -> object:
    """Return what of an autoscaler matters here; its status is our own."""
    return hpa["spec"] if hpa is not None else None


class HorizontalPodAutoscalerController(Controller):
    """Works on keys of autoscalers. ``History`` is remembered while this process leads, as upstream does."""

    name = "horizontal-pod-autoscaler-controller"
    kind = HORIZONTAL_POD_AUTOSCALERS
    indexes = {PODS: (by_labels,)}

    def __init__(self, runtime: Runtime, settings: Settings | None = None, workers: int = 5) -> None:
        super().__init__(runtime)
        self.workers = workers
        self._settings = settings or Settings()
        self._metrics = MetricsClient(self.client)
        self._recorder = runtime.recorder("horizontal-pod-autoscaler")
        self._histories: dict[str, History] = {}
        self._selectors: dict[str, selectors.Selector] = {}
        self.counts = OwnMetrics()
        runtime.metrics.more.append(self.counts.write)
        self.cache(PODS)

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        """Ignore what we write ourselves."""
        return old is None or new is None or spec_key(old) != spec_key(new)

    async def reconcile(self, key: str) -> float | None:
        """Look at the metrics of an autoscaler, and come back after the sync period."""
        hpa = self.objects.get(key)
        if hpa is None:
            for known in (self._histories, self._selectors, self.counts.desired):
                known.pop(key, None)
            return None
        began = self.clock.monotonic()
        self.counts.desired.setdefault(key, hpa.get("status", {}).get("desiredReplicas", 0))
        action, error = "none", "none"
        try:
            action, error = await self._scale(key, hpa)
        except NotScaled as failure:
            error = "internal"
            log.info("autoscaler %s: %s", key, failure)
        finally:
            self.counts.reconciled(action, error, self.clock.monotonic() - began)
        return self._settings.sync_period

    # -- one look ----------------------------------------------------------------------------------------

    async def _scale(self, key: str, hpa: Object) -> tuple[str, str]:
        """Set the replicas of the target; return what was done and what failed. NotScaled if nothing could be decided."""
        spec, settings = hpa["spec"], self._settings
        status = ScalingStatus(hpa, rfc3339.seconds(self.clock.now()))
        path, scale = await self._target(hpa, status)
        current = scale.get("spec", {}).get("replicas", 0)
        least, most = spec.get("minReplicas", 1), spec["maxReplicas"]
        history = self._histories.setdefault(key, History())
        history.begin(current, self.clock.now())
        was_zero = settings.scale_to_zero and status.is_true(TO_ZERO)
        from_outside = any(
            metric.get("type") in ("Object", "External") for metric in spec.get("metrics") or ()
        )
        metrics: list[Object] = []
        reason, desired, error = "", 0, "none"
        if current == 0 and not (was_zero and (least != 0 or from_outside)):
            text = "scaling is disabled since the replica count of the target is zero"
            status.set(ACTIVE, "False", "ScalingDisabled", text)
            if not settings.scale_to_zero:
                status.remove(TO_ZERO)
        elif current > most:
            desired, reason = most, "Current number of replicas above Spec.MaxReplicas"
        elif 0 < current < least:
            desired, reason = least, "Current number of replicas below Spec.MinReplicas"
        else:
            try:
                proposed, name, metrics = await self._by_metrics(key, hpa, scale, status)
            except NotScaled as failure:
                self._recorder.warning(hpa, "FailedComputeMetricsReplicas", str(failure))
                await self._write(hpa, status.made(current, None, failure.metrics))
                raise
            desired = max(0, proposed)
            if {"type": ""} in metrics:
                error = "internal"  # of one of them; the others decide
            if desired > current:
                reason = f"{name} above target"
            elif desired < current:
                reason = "All metrics below target"
            desired = self._normalized(history, hpa, current, desired, status)
            if current == 0 and least and desired < least:
                desired, reason = least, reason or "Current number of replicas below Spec.MinReplicas"
        if desired == current:
            self.counts.desired[key] = current
            await self._write(hpa, status.made(current, current, metrics))
            return "none", error
        await self._rescale(hpa, status, path, scale, current, desired, reason, metrics)
        history.scaled(spec.get("behavior"), current, desired, self.clock.now())
        if settings.scale_to_zero:
            to_zero = desired == 0 and least == 0 and from_outside
            said = "scaled" if to_zero else "did not scale"
            status.set(TO_ZERO, str(to_zero), "ScaledToZero" if to_zero else "NotScaledToZero",
                       f"the HPA controller {said} the workload to zero")  # fmt: skip
        else:
            status.remove(TO_ZERO)
        self.counts.desired[key] = desired
        await self._write(hpa, status.made(current, desired, metrics, scaled=True))
        return "scale_up" if desired > current else "scale_down", error

    async def _target(self, hpa: Object, status: ScalingStatus) -> tuple[str, Object]:
        """Return where the scale of the target is, and what it says."""
        ref, namespace = hpa["spec"]["scaleTargetRef"], hpa["metadata"]["namespace"]
        try:
            path, scale = await self._metrics.scale(
                ref.get("apiVersion", ""), ref["kind"], namespace, ref["name"]
            )
        except UNMAPPED as error:
            self._recorder.warning(hpa, "FailedGetScale", str(error))
            text = f"the HPA controller was unable to get the target's current scale: {error}"
            status.set(ABLE, "False", "FailedGetScale", text)
            await self._write(hpa, status.made())
            where = f"{ref['kind']}/{namespace}/{ref['name']}"
            raise NotScaled(f"failed to query scale subresource for {where}: {error}") from None
        status.set(
            ABLE, "True", "SucceededGetScale", "the HPA controller was able to get the target's current scale"
        )
        return path, scale

    def _selector(
        self, key: str, hpa: Object, scale: Object, status: ScalingStatus
    ) -> tuple[str, list[Object]]:
        """Return the selector of the target's pods, and the pods; NotScaled if others scale them too."""
        text = scale.get("status", {}).get("selector") or ""
        problem = ("SelectorRequired", "selector is required", "the HPA target's scale is missing a selector")
        try:
            selector = selectors.parse_labels(text)
        except selectors.SelectorError as error:
            why = f"couldn't convert selector into a corresponding internal selector object: {error}"
            text, problem = "", ("InvalidSelector", why, why)
        if not text:
            self._recorder.warning(hpa, problem[0], problem[1])
            status.set(ACTIVE, "False", "InvalidSelector", problem[2])
            raise NotScaled(problem[1])
        self._selectors[key] = selector
        namespace = hpa["metadata"]["namespace"]
        pods = self.cache(PODS).select(selector, namespace)
        others = [
            other
            for other, known in self._selectors.items()
            if split_key(other)[0] == namespace
            and any(known.matches(pod["metadata"].get("labels")) for pod in pods)
        ]
        if len(others) > 1:
            why = f"pods by selector {text} are controlled by more than one HPA (e.g. [{' '.join(sorted(others)[:2])}])"
            self._recorder.warning(hpa, "AmbiguousSelector", why)
            status.set(ACTIVE, "False", "AmbiguousSelector", why)
            raise NotScaled(why)
        return text, pods

    async def _by_metrics(
        self, key: str, hpa: Object, scale: Object, status: ScalingStatus
    ) -> tuple[int, str, list[Object]]:
        """Return the most replicas that a metric asks for, its name, and the status of all metrics."""
        text, pods = self._selector(key, hpa, scale, status)
        settings, current = self._settings, scale.get("spec", {}).get("replicas", 0)
        target = Target(
            hpa["metadata"]["namespace"], text, pods, current, scale.get("status", {}).get("replicas", 0),
            tolerances(hpa, settings.tolerance), self.clock.now(), settings.cpu_initialization,
            settings.initial_readiness,
        )  # fmt: skip
        specs = hpa["spec"].get("metrics") or []
        replicas, name, statuses, failures = 0, "", [], []
        for spec in specs:
            began, action, error = self.clock.monotonic(), "none", "none"
            try:
                result = await metric_sources.compute(self._metrics, target, spec)
            except Failed as failure:
                self._recorder.warning(hpa, failure.reason, failure.cause)
                failures.append(failure.with_traceback(None))  # which would be in a ring with this list
                statuses.append({"type": ""})
                error = "spec" if failure.reason == "InvalidMetricSourceType" else "internal"
            else:
                statuses.append(result.status)
                if replicas == 0 or result.replicas > replicas:
                    replicas, name = result.replicas, result.name
                before = hpa.get("status", {}).get("currentReplicas", 0)
                if result.replicas != before:
                    action = "scale_up" if result.replicas > before else "scale_down"
            self.counts.computed(action, error, spec.get("type", ""), self.clock.monotonic() - began)
        # With a metric that is not known nothing is taken away: it may be the one that needs the pods.
        if failures and (len(failures) == len(specs) or replicas < current):
            first = failures[0]
            status.set(
                ACTIVE,
                "False",
                first.reason,
                f"the HPA was unable to compute the replica count: {first.cause}",
            )
            raise NotScaled(
                f"invalid metrics ({len(failures)} invalid out of {len(specs)}), first error is: {first}",
                statuses,
            )
        text = f"the HPA was able to successfully calculate a replica count from {name}"
        status.set(ACTIVE, "True", "ValidMetricFound", text)
        return replicas, name, statuses

    def _normalized(
        self, history: History, hpa: Object, current: int, desired: int, status: ScalingStatus
    ) -> int:
        spec = hpa["spec"]
        normalized = normalize(
            history, current, desired, spec.get("minReplicas", 1), spec["maxReplicas"], spec.get("behavior"),
            self._settings.downscale_stabilization, self.clock.now(),
        )  # fmt: skip
        status.set(ABLE, "True", *normalized.able)
        status.set(LIMITED, str(normalized.limited), *normalized.limit)
        return normalized.replicas

    async def _rescale(
        self, hpa: Object, status: ScalingStatus, path: str, scale: Object, current: int, desired: int, reason: str,
        metrics: list[Object],
    ) -> None:  # fmt: skip
        try:
            for attempt in range(_TRIES):
                try:
                    await self.client.call(
                        "PUT", path, "", {**scale, "spec": {**scale["spec"], "replicas": desired}}
                    )
                    break
                except Conflict:
                    if attempt == _TRIES - 1:
                        raise
                    scale = await self.client.call("GET", path)
        except (StatusError, OSError) as error:
            text = f"New size: {desired}; reason: {reason}; error: {error}"
            self._recorder.warning(hpa, "FailedRescale", text)
            text = f"the HPA controller was unable to update the target scale: {error}"
            status.set(ABLE, "False", "FailedUpdateScale", text)
            await self._write(hpa, status.made(current, None, metrics))
            raise NotScaled(f"failed to rescale {path}: {error}") from None
        text = f"the HPA controller was able to update the target scale to {desired}"
        status.set(ABLE, "True", "SucceededRescale", text)
        self._recorder.normal(hpa, "SuccessfulRescale", f"New size: {desired}; reason: {reason}")

    async def _write(self, hpa: Object, status: Object) -> None:
        if status == (hpa.get("status") or {}):
            return
        try:
            await self.client.update_status(HORIZONTAL_POD_AUTOSCALERS, {**hpa, "status": status})
        except StatusError as error:
            self._recorder.warning(hpa, "FailedUpdateStatus", str(error))
            raise NotScaled(f"failed to update status for {hpa['metadata']['name']}: {error}") from None


def tolerances(hpa: Object, default: float) -> Tolerances:
    """Return the tolerances of an autoscaler: its own, or those of the flag."""
    behavior = hpa["spec"].get("behavior") or {}

    def of(direction: str) -> float:
        own = (behavior.get(direction) or {}).get("tolerance")
        return default if own is None else float(quantity.parse(own))

    return Tolerances(of("scaleUp"), of("scaleDown"))


CONTROLLER = Descriptor(
    name=HorizontalPodAutoscalerController.name,
    aliases=("horizontalpodautoscaling",),
    identity="horizontal-pod-autoscaler",
    flags=(
        Flag("concurrent-horizontal-pod-autoscaler-syncs", 5, "how many autoscalers are worked on at a time"),
        Flag("horizontal-pod-autoscaler-sync-period", Seconds(15), "how often metrics are looked at"),
        Flag("horizontal-pod-autoscaler-downscale-stabilization", Seconds(300), "how far back the most replicas count"),
        Flag("horizontal-pod-autoscaler-tolerance", 0.1, "how far usage may be from its target"),
        Flag("horizontal-pod-autoscaler-cpu-initialization-period", Seconds(300),
             "how long after its start a pod's CPU is looked at with doubt"),
        Flag("horizontal-pod-autoscaler-initial-readiness-delay", Seconds(30),
             "how long after its start a pod that was never ready counts as starting"),
    ),
    build=lambda runtime, options: HorizontalPodAutoscalerController(
        runtime,
        Settings(
            float(options.horizontal_pod_autoscaler_sync_period),
            float(options.horizontal_pod_autoscaler_downscale_stabilization),
            options.horizontal_pod_autoscaler_tolerance,
            float(options.horizontal_pod_autoscaler_cpu_initialization_period),
            float(options.horizontal_pod_autoscaler_initial_readiness_delay),
            feature_gates.from_flag(getattr(options, "feature_gates", ()), (SCALE_TO_ZERO,))[SCALE_TO_ZERO],
        ),
        options.concurrent_horizontal_pod_autoscaler_syncs,
    ),
)  # fmt: skip
