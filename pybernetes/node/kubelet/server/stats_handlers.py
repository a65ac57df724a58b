"""The pages with figures: /stats/summary and /metrics with what is below it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson

from pybernetes.api import feature_gates
from pybernetes.lib.http.messages import Response
from pybernetes.lib.metrics.exposition import Exposition, Labels, negotiated
from pybernetes.lib.metrics.health_slis import HealthSlis
from pybernetes.node.kubelet.cri.pod_runtime import ContainerState
from pybernetes.node.kubelet.kubelet import Kubelet
from pybernetes.node.kubelet.pod.pod_worker import PodWorker, WorkerPhase
from pybernetes.node.kubelet.pod_kinds import is_mirror, is_static
from pybernetes.node.kubelet.server.request import Request, page_not_found
from pybernetes.node.kubelet.stats import cadvisor_metrics, cgroup_stats, kubelet_metrics, resource_metrics

Fields = dict[str, Any]
_PROBE = ("probe_type", "container", "pod_uid", "pod", "namespace", "result")


_WORKING = (
    "Number of pods the kubelet is actually running, broken down by lifecycle phase, whether the pod is desired, orphaned, or"
    " runtime only (also orphaned), and whether the pod is static. An orphaned pod has been removed from local configuration or"
    " force deleted in the API and consumes resources that are not otherwise visible."
)
_LIFECYCLES = {
    WorkerPhase.SYNCING: "sync", WorkerPhase.TERMINATING: "terminating", WorkerPhase.TERMINATED: "terminated",
}  # fmt: skip


def working_pods(workers: Iterable[PodWorker]) -> dict[Labels, float]:
    """Return how many pods have a worker, by whether they are still wanted, how far they are, and whether they are static."""
    counts: dict[Labels, float] = {
        (("config", config), ("lifecycle", lifecycle), ("static", static)): 0
        for config in ("desired", "orphan") for lifecycle in _LIFECYCLES.values() for static in ("", "true")
    }  # fmt: skip
    for worker in workers:
        if worker.phase in _LIFECYCLES:
            config, static = (
                "orphan" if worker.removed else "desired",
                "true" if is_static(worker.pod) else "",
            )
            counts[("config", config), ("lifecycle", _LIFECYCLES[worker.phase]), ("static", static)] += 1
    return counts


class StatsHandlers:
    """Answers with figures, which are read when somebody asks."""

    def __init__(self, kubelet: Kubelet, slis: HealthSlis) -> None:
        self._kubelet, self._slis = kubelet, slis
        self._gates = feature_gates.decide(kubelet.options.configuration.get("featureGates") or {})

    async def stats(self, request: Request) -> Response:
        """Answer with the summary."""
        if request.path.rstrip("/") != "/stats/summary":
            raise page_not_found()
        brief = request.parameter("only_cpu_and_memory") == "true"
        summary = await self._kubelet.stats.summary(brief=brief)
        return Response(orjson.dumps(summary))

    async def metrics(self, request: Request) -> Response:
        """Answer with metrics, of which there are five pages."""
        pages = {
            "metrics": self._own, "metrics/resource": self._resource, "metrics/cadvisor": self._cadvisor,
            "metrics/probes": self._probes, "metrics/slis": self._checks,
        }  # fmt: skip
        page = pages.get(request.path.strip("/"))
        if page is None:
            raise page_not_found()
        text = negotiated(request.header(b"accept"), self._gates[feature_gates.NATIVE_HISTOGRAMS])
        await page(text)
        return Response(text.render(), content_type=text.content_type)

    async def _checks(self, text: Exposition) -> None:
        self._slis.write(text)

    async def _own(self, text: Exposition) -> None:
        kubelet = self._kubelet
        summary = await kubelet.stats.summary()
        name, metrics = kubelet.options.node_name, kubelet.context.metrics
        kubelet_metrics.write(text, name, self._gauges(), metrics, summary, self._gates)

    async def _resource(self, text: Exposition) -> None:
        now = self._kubelet.clock.now()
        try:
            summary: Fields | None = await self._kubelet.stats.summary(brief=True)
        except OSError:
            summary = None
        resource_metrics.write(text, summary, now)

    async def _cadvisor(self, text: Exposition) -> None:
        kubelet = self._kubelet
        cgroups = await cgroup_stats.groups(kubelet.stats)
        cadvisor_metrics.write(text, cgroups, cgroup_stats.this_machine(), kubelet.clock.now())

    async def _probes(self, text: Exposition) -> None:
        name = "prober_probe_total"
        text.family(name, "counter", "[BETA] Cumulative number of a liveness, readiness or startup probe for a"
                    " container by result.")  # fmt: skip
        for key, count in sorted(self._kubelet.context.probes.counts.items()):
            text.sample(name, sorted(zip(_PROBE, key, strict=True)), count)
        name = "prober_probe_duration_seconds"
        text.family(name, "histogram", "[ALPHA] Duration in seconds for a probe response.")
        for key, histogram in sorted(self._kubelet.context.probes.seconds.items()):
            labels = [pair for pair in sorted(zip(_PROBE[:-1], key, strict=True)) if pair[0] != "pod_uid"]
            text.histogram(name, labels, histogram)
        text.process()

    def _gauges(self) -> Iterable[tuple[str, str, list[tuple[Labels, float]]]]:
        kubelet = self._kubelet
        workers = list(kubelet.workers.values())
        states = {"created": 0, "exited": 0, "running": 0, "unknown": 0}
        ephemeral = 0
        for worker in workers:
            for run in worker.runtime.runs:
                states[ContainerState(run.state).value] += 1
            ephemeral += len(worker.pod["spec"].get("ephemeralContainers", ()))
        running = [([("container_state", name)], count) for name, count in states.items() if count]
        yield (
            "kubelet_running_pods",
            "Number of pods that have a running pod sandbox",
            [([], sum(worker.runtime.sandbox is not None for worker in workers))],
        )
        yield "kubelet_running_containers", "Number of containers currently running", running  # type: ignore[misc]
        static = [worker for worker in workers if is_static(worker.pod)]
        for name, help_, chosen in (
            ("desired", "The number of pods the kubelet is being instructed to run.", workers),
            ("active", "The number of pods the kubelet considers active and which are being considered when admitting"
             " new pods.", [worker for worker in workers if worker.phase in (WorkerPhase.SYNCING, WorkerPhase.TERMINATING)]),
        ):  # fmt: skip
            count = sum(worker in static for worker in chosen)
            yield f"kubelet_{name}_pods", f"{help_} static is true if the pod is not from the apiserver.", [
                ([("static", "")], len(chosen) - count), ([("static", "true")], count),
            ]  # fmt: skip
        mirrors = sum(is_mirror(pod) for pod in kubelet.pods.values()) if kubelet.pods is not None else 0
        yield (
            "kubelet_mirror_pods",
            ("The number of mirror pods the kubelet will try to create (one per admitted static pod)"),
            [([], mirrors)],
        )
        yield (
            "kubelet_managed_ephemeral_containers",
            ("Current number of ephemeral containers in pods managed by this kubelet."),
            [([], ephemeral)],
        )
        if kubelet.runtime.relisted_at:
            moment: list[tuple[Labels, float]] = [((), kubelet.runtime.relisted_at)]
            yield (
                "kubelet_pleg_last_seen_seconds",
                "Timestamp in seconds when PLEG was last seen active.",
                moment,
            )
        yield "kubelet_working_pods", _WORKING, list(working_pods(workers).items())
        version = 2 if kubelet.stats.groups.unified else 1
        yield "kubelet_cgroup_version", "cgroup version on the hosts.", [([], version)]
