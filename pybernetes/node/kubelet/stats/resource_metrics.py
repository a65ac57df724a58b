"""/metrics/resource: CPU and memory of the node, its pods and containers, which autoscalers and `top` read."""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.api.resource import Object
from pybernetes.lib import rfc3339
from pybernetes.lib.metrics.exposition import Exposition, Labels

Sample = tuple[Labels, float, int | None]


def write(text: Exposition, summary: Object | None, measured: float) -> None:
    """Write the metrics of a summary; None stands for a summary that failed.

    Whoever makes rates of them needs the moment more exactly than the summary tells it: each pod's own, where it is known.
    """
    if summary is not None:
        moments = summary.get("moments") or {}

        def at(uid: str) -> int:
            return int(moments.get(uid, measured) * 1000)

        node, pods = summary["node"], summary["pods"]
        containers = [(pod, container) for pod in pods for container in pod["containers"]]
        _family(text, "container_cpu_usage_seconds_total", "counter",
                "[STABLE] Cumulative cpu time consumed by the container in core-seconds",
                (_cpu(_names(pod, container), container, at(pod["podRef"]["uid"])) for pod, container in containers))  # fmt: skip
        _family(text, "container_memory_working_set_bytes", "gauge",
                "[STABLE] Current working set of the container in bytes",
                (_memory(_names(pod, container), container, at(pod["podRef"]["uid"])) for pod, container in containers))  # fmt: skip
        _family(text, "container_start_time_seconds", "gauge",
                "[STABLE] Start time of the container since unix epoch in seconds",
                ((_names(pod, container), rfc3339.parse(container["startTime"]), None) for pod, container in containers))  # fmt: skip
        _family(text, "container_swap_limit_bytes", "gauge",
                "[ALPHA] Current amount of the container swap limit in bytes. Reported only on non-windows systems",
                (_swap_limit(_names(pod, container), container) for pod, container in containers
                 if "swapAvailableBytes" in container["swap"]))  # fmt: skip
        _family(text, "container_swap_usage_bytes", "gauge",
                "[ALPHA] Current amount of the container swap usage in bytes. Reported only on non-windows systems",
                (_swap(_names(pod, container), container, at(pod["podRef"]["uid"])) for pod, container in containers))  # fmt: skip
        _family(text, "node_cpu_usage_seconds_total", "counter",
                "[STABLE] Cumulative cpu time consumed by the node in core-seconds", [_cpu((), node, at(""))])  # fmt: skip
        _family(text, "node_memory_working_set_bytes", "gauge",
                "[STABLE] Current working set of the node in bytes", [_memory((), node, at(""))])  # fmt: skip
        _family(text, "node_swap_usage_bytes", "gauge",
                "[ALPHA] Current swap usage of the node in bytes. Reported only on non-windows systems",
                [_swap((), node, at(""))])  # fmt: skip
        _family(text, "pod_cpu_usage_seconds_total", "counter",
                "[STABLE] Cumulative cpu time consumed by the pod in core-seconds",
                (_cpu(_names(pod), pod, at(pod["podRef"]["uid"])) for pod in pods))  # fmt: skip
        _family(text, "pod_memory_working_set_bytes", "gauge",
                "[STABLE] Current working set of the pod in bytes",
                (_memory(_names(pod), pod, at(pod["podRef"]["uid"])) for pod in pods))  # fmt: skip
        _family(text, "pod_swap_usage_bytes", "gauge",
                "[ALPHA] Current amount of the pod swap usage in bytes. Reported only on non-windows systems",
                (_swap(_names(pod), pod, at(pod["podRef"]["uid"])) for pod in pods))  # fmt: skip
    failed = int(summary is None)
    for name, level in (("resource_scrape_error", "STABLE"), ("scrape_error", "ALPHA")):
        _family(text, name, "gauge", f"[{level}] 1 if there was an error while getting container metrics, 0 otherwise",
                [((), failed, None)])  # fmt: skip


def _family(text: Exposition, name: str, kind: str, help_: str, samples: Iterable[Sample]) -> None:
    listed = list(samples)
    if listed:
        text.family(name, kind, help_)
        for labels, value, moment in listed:
            text.sample(name, labels, value, moment)


def _names(pod: Object, container: Object | None = None) -> Labels:
    names = [("namespace", pod["podRef"]["namespace"]), ("pod", pod["podRef"]["name"])]
    return [("container", container["name"]), *names] if container is not None else names


def _cpu(labels: Labels, of: Object, moment: int) -> Sample:
    return labels, of["cpu"]["usageCoreNanoSeconds"] / 1e9, moment


def _memory(labels: Labels, of: Object, moment: int) -> Sample:
    return labels, of["memory"]["workingSetBytes"], moment


def _swap(labels: Labels, of: Object, moment: int) -> Sample:
    return labels, of["swap"]["swapUsageBytes"], moment


def _swap_limit(labels: Labels, of: Object) -> Sample:
    return labels, of["swap"]["swapAvailableBytes"] + of["swap"]["swapUsageBytes"], None
