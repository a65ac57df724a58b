"""The priority levels and flow schemas that every cluster starts with: upstream's, as data."""

from __future__ import annotations

from typing import Any

from pybernetes.api.flowcontrol.flowschema import MANDATORY
from pybernetes.api.flowcontrol.prioritylevelconfiguration import CATCH_ALL
from pybernetes.api.resource import Object

AUTO_UPDATE = "apf.kubernetes.io/autoupdate-spec"
_ALL: dict[str, Any] = {
    "verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "clusterScope": True, "namespaces": ["*"],
}  # fmt: skip
_ALL_URLS = {"verbs": ["*"], "nonResourceURLs": ["*"]}


def _limited(shares: int, lendable: int, queues: int, hand: int) -> dict[str, Any]:
    queuing = {"queues": queues, "handSize": hand, "queueLengthLimit": 50}
    response = {"type": "Queue", "queuing": queuing}
    limited = {"nominalConcurrencyShares": shares, "lendablePercent": lendable, "limitResponse": response}
    return {"type": "Limited", "limited": limited}


LEVELS: dict[str, dict[str, Any]] = {
    "exempt": {"type": "Exempt", "exempt": {"nominalConcurrencyShares": 0, "lendablePercent": 0}},
    "catch-all": CATCH_ALL,
    "system": _limited(30, 33, 64, 6),
    "node-high": _limited(40, 25, 64, 6),
    "leader-election": _limited(10, 0, 16, 4),
    "workload-high": _limited(40, 50, 128, 6),
    "workload-low": _limited(100, 90, 128, 6),
    "global-default": _limited(20, 50, 128, 6),
}


def _groups(*names: str) -> list[dict[str, Any]]:
    return [{"kind": "Group", "group": {"name": name}} for name in names]


def _users(*names: str) -> list[dict[str, Any]]:
    return [{"kind": "User", "user": {"name": name}} for name in names]


_SYSTEM_ACCOUNTS = [{"kind": "ServiceAccount", "serviceAccount": {"name": "*", "namespace": "kube-system"}}]
_EVERYBODY = _groups("system:unauthenticated", "system:authenticated")
_LEASES = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "namespaces": ["*"]}
_NODES = {
    "verbs": ["*"], "apiGroups": [""], "resources": ["nodes", "nodes/status"], "clusterScope": True,
    "namespaces": ["*"],
}  # fmt: skip
_MANAGER, _SCHEDULER = "system:kube-controller-manager", "system:kube-scheduler"


def _schema(
    level: str, precedence: int, method: str, subjects: list[Any], *resources: Any, urls: Any = None
) -> dict[str, Any]:
    rule: dict[str, Any] = {"subjects": subjects}
    if resources:
        rule["resourceRules"] = list(resources)
    if urls:
        rule["nonResourceRules"] = [urls]
    spec: dict[str, Any] = {
        "priorityLevelConfiguration": {"name": level}, "matchingPrecedence": precedence, "rules": [rule],
    }  # fmt: skip
    if method:
        spec["distinguisherMethod"] = {"type": method}
    return spec


SCHEMAS: dict[str, dict[str, Any]] = {
    **MANDATORY,
    "probes": _schema(
        "exempt", 2, "", _EVERYBODY, urls={"verbs": ["get"], "nonResourceURLs": ["/healthz", "/readyz", "/livez"]}
    ),
    "system-leader-election": _schema(
        "leader-election", 100, "ByUser", _users(_MANAGER, _SCHEDULER) + _SYSTEM_ACCOUNTS,
        {"verbs": ["get", "create", "update"], **_LEASES},
    ),
    "system-node-high": _schema(
        "node-high", 400, "ByUser", _groups("system:nodes"), _NODES, {"verbs": ["*"], **_LEASES}
    ),
    "system-nodes": _schema("system", 500, "ByUser", _groups("system:nodes"), _ALL, urls=_ALL_URLS),
    "kube-controller-manager": _schema(
        "workload-high", 800, "ByNamespace", _users(_MANAGER), _ALL, urls=_ALL_URLS
    ),
    "kube-scheduler": _schema("workload-high", 800, "ByNamespace", _users(_SCHEDULER), _ALL, urls=_ALL_URLS),
    "kube-system-service-accounts": _schema(
        "workload-high", 900, "ByNamespace", _SYSTEM_ACCOUNTS, _ALL, urls=_ALL_URLS
    ),
    "service-accounts": _schema(
        "workload-low", 9000, "ByUser", _groups("system:serviceaccounts"), _ALL, urls=_ALL_URLS
    ),
    "global-default": _schema("global-default", 9900, "ByUser", _EVERYBODY, _ALL, urls=_ALL_URLS),
}  # fmt: skip


def objects(specs: dict[str, dict[str, Any]]) -> list[Object]:
    """Return objects of these specs, which the server keeps up to date as long as the annotation says so."""
    return [
        {"metadata": {"name": name, "annotations": {AUTO_UPDATE: "true"}}, "spec": spec}
        for name, spec in specs.items()
    ]
