"""What the control plane tells of itself in its pods and its metrics: components, members of etcd, indicators. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.tools.slo.indicators import indicators, parse

# As kubeadm labels what it runs; `store` is what a local cluster has instead of etcd.
COMPONENTS = "component in (etcd,kube-apiserver,kube-controller-manager,kube-scheduler,store)"
_STORES = ("etcd", "store")
_MEMBERS = "--etcd-servers="
_ADDRESS = "kubeadm.kubernetes.io/etcd.advertise-client-urls"
_REQUESTS = "apiserver_request_sli_duration_seconds_bucket"
_SIZE = "apiserver_storage_size_bytes"
_CHECKS = "kubernetes_healthchecks_total"


def component_of(pod: Object) -> dict[str, Any] | None:
    """Return what a page shows of a component's pod; None if it is not like one."""
    try:
        meta, status = pod["metadata"], pod.get("status") or {}
        statuses = status.get("containerStatuses") or ()
        return {
            "component": meta["labels"]["component"],
            "name": meta["name"],
            "namespace": meta["namespace"],
            "node": (pod.get("spec") or {}).get("nodeName", ""),
            "address": (meta.get("annotations") or {}).get(_ADDRESS, ""),
            "ready": bool(statuses) and all(container["ready"] for container in statuses),
            "restarts": sum(container["restartCount"] for container in statuses),
        }
    except (KeyError, TypeError, AttributeError):
        return None  # objects come from others


def components(pods: Iterable[Object]) -> list[dict[str, Any]]:
    """Return the components, each kind together."""
    rows = filter(None, map(component_of, pods))
    return sorted(rows, key=lambda one: (str(one["component"]), str(one["name"])))


def has_store(rows: Iterable[dict[str, Any]]) -> bool:
    """Return whether components have what keeps the objects among them."""
    return any(component["component"] in _STORES for component in rows)


def members_elsewhere(pods: Iterable[Object], statuses: Iterable[Object]) -> list[dict[str, Any]]:
    """Return the members of an etcd that has no pods here, as API servers are told them, or else as one speaks of them.

    An API server tells of the health of all of them together, in its componentstatuses; ``ready`` is None if it does not.
    """
    health = dict(filter(None, map(_health_of, statuses)))
    ready = all(health.values()) if health else None
    told = dict.fromkeys(address for pod in pods for address in _told(pod))
    return [
        {"component": "etcd", "name": name, "namespace": "", "node": "", "address": address, "ready": ready, "restarts": 0}
        for name, address in ([(address.rpartition("/")[2], address) for address in told] or [(name, "") for name in sorted(health)])
    ]  # fmt: skip


def _told(pod: Object) -> list[str]:
    """Return the addresses of etcd that an API server's pod is started with."""
    try:
        words = [
            word
            for container in pod["spec"]["containers"]
            for part in ("command", "args")
            for word in container.get(part) or ()
        ]
        given = [word.removeprefix(_MEMBERS) for word in words if word.startswith(_MEMBERS)]
    except (KeyError, TypeError, AttributeError):
        return []  # objects come from others
    return [address for addresses in given for address in addresses.split(",") if address]


def _health_of(status: Object) -> tuple[str, bool] | None:
    try:
        name = str(status["metadata"]["name"])
        healthy = any(
            condition["type"] == "Healthy" and condition["status"] == "True"
            for condition in status["conditions"]
        )
    except (KeyError, TypeError):
        return None
    return (name, healthy) if name.startswith("etcd-") else None


def service_levels(metrics: str) -> dict[str, Any]:
    """Return the indicators of an API server's page of metrics, with their objectives, and the size of its storage in bytes."""
    kept = "\n".join(line for line in metrics.splitlines() if line.startswith((_REQUESTS, _SIZE)))
    samples = parse(kept)
    sizes = [sample.value for sample in samples if sample.name == _SIZE and math.isfinite(sample.value)]
    return {
        "indicators": [
            {
                "name": indicator.name,
                "seconds": indicator.seconds,
                "objective": indicator.objective,
                "count": indicator.requests,
                "met": indicator.met,
            }
            for indicator in indicators(samples)
            if indicator.requests and math.isfinite(indicator.seconds)
        ],
        "storage": max(sizes, default=None),
    }


def availability(metrics: str) -> float | None:
    """Return which part of the checks of its health an API server has passed since it began; None if it does not tell."""
    passed, all_ = 0.0, 0.0
    for sample in parse(metrics):
        if sample.name == _CHECKS and math.isfinite(sample.value):
            all_ += sample.value
            passed += sample.value if sample.labels.get("status") == "success" else 0.0
    return passed / all_ if all_ else None
