"""A namespace with everything in it, and what belongs to it outside of it: made, used and deleted again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from bench.harness.definitions import definition
from pybernetes.client import refs
from pybernetes.client.client import Client
from pybernetes.client.errors import NotFound, StatusError
from pybernetes.client.refs import Ref

Object = dict[str, Any]
_PATIENCE = 120.0
_LABELS = {"app": "web"}
_TEMPLATE = {
    "metadata": {"labels": _LABELS},
    "spec": {"containers": [{"name": "web", "image": "example/web:1"}]},
}
_ENDING = {
    "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox:1", "command": ["true"]}]}
}  # fmt: skip
_RULES = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}]


def inside() -> list[tuple[Ref, str, Object]]:
    """Return what is made in the namespace: kind, name, and everything but the metadata."""
    subject = {"kind": "ServiceAccount", "name": "default"}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"}
    workload = {"replicas": 2, "selector": {"matchLabels": _LABELS}, "template": _TEMPLATE}
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    return [
        (refs.CONFIG_MAPS, "settings", {"data": {f"key-{number}": "value" * 20 for number in range(20)}}),
        (refs.SECRETS, "password", {"stringData": {"password": "word" * 50}}),
        (refs.SERVICE_ACCOUNTS, "worker", {}),
        (refs.ROLES, "reader", {"rules": _RULES}),
        (refs.ROLE_BINDINGS, "reader", {"roleRef": role, "subjects": [subject]}),
        (refs.LIMIT_RANGES, "limits", {"spec": {"limits": [{"type": "Container", "default": {"cpu": "100m"}}]}}),
        (refs.RESOURCE_QUOTAS, "quota", {"spec": {"hard": {"pods": "50"}}}),
        (refs.SERVICES, "web", {"spec": {"selector": _LABELS, "ports": [{"port": 80}]}}),
        (refs.DEPLOYMENTS, "web", {"spec": workload}),
        (refs.STATEFUL_SETS, "store", {"spec": {**workload, "replicas": 1, "serviceName": "web"}}),
        (refs.DAEMON_SETS, "agent", {"spec": {"selector": {"matchLabels": _LABELS}, "template": _TEMPLATE}}),
        (refs.JOBS, "once", {"spec": {"template": _ENDING}}),
        (refs.CRON_JOBS, "often", {"spec": {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": {"template": _ENDING}}}}),
        (refs.POD_DISRUPTION_BUDGETS, "web", {"spec": {"minAvailable": 1, "selector": {"matchLabels": _LABELS}}}),
        (refs.HORIZONTAL_POD_AUTOSCALERS, "web", {"spec": {"scaleTargetRef": target, "maxReplicas": 2}}),
        (refs.PERSISTENT_VOLUME_CLAIMS, "data", {
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}}}),
        (refs.NETWORK_POLICIES, "closed", {"spec": {"podSelector": {}}}),
        (refs.INGRESSES, "web", {"spec": {"defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}}}),
        (refs.LEASES, "leader", {"spec": {"holderIdentity": "somebody", "leaseDurationSeconds": 15}}),
    ]  # fmt: skip


def outside(name: str) -> list[tuple[Ref, Object]]:
    """Return what is made for the namespace in the whole cluster."""
    hook = {
        "name": "check.example.com", "clientConfig": {"url": "https://127.0.0.1:9/"}, "sideEffects": "None",
        "admissionReviewVersions": ["v1"], "failurePolicy": "Ignore",
        "namespaceSelector": {"matchLabels": {"hooked": name}},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
    }  # fmt: skip
    policy = {
        "matchConstraints": {"resourceRules": hook["rules"], "namespaceSelector": hook["namespaceSelector"]},
        "validations": [{"expression": f"object.metadata.name != '{name}'"}],
    }
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
    return [
        (refs.CLUSTER_ROLES, {"rules": _RULES}),
        (refs.CLUSTER_ROLE_BINDINGS, {"roleRef": role, "subjects": [{"kind": "User", "name": name}]}),
        (refs.PRIORITY_CLASSES, {"value": 10}),
        (refs.VALIDATING_WEBHOOK_CONFIGURATIONS, {"webhooks": [hook]}),
        (refs.VALIDATING_ADMISSION_POLICIES, {"spec": policy}),
        (refs.VALIDATING_ADMISSION_POLICY_BINDINGS, {"spec": {"policyName": name, "validationActions": ["Deny"]}}),
    ]  # fmt: skip


async def once(client: Client, number: int) -> None:
    """Make a namespace and everything, use it until it runs, delete it, and wait until nothing of it is left."""
    name = f"round-{number}"
    await client.create(refs.NAMESPACES, {"metadata": {"name": name}})
    for kind, body in outside(name):
        await client.create(kind, {"metadata": {"name": name}, **body})
    crd = definition(number)
    await client.create(refs.CUSTOM_RESOURCE_DEFINITIONS, crd)
    await until(lambda: _account(client, name))
    for kind, own, body in inside():
        await client.create(kind, {"metadata": {"name": own, "namespace": name}, **body})
    await _use(client, name, crd)
    await until(lambda: _runs(client, name))
    await client.delete(refs.NAMESPACES, name)
    for kind, _ in outside(name):
        await client.delete(kind, name)
    await client.delete(refs.CUSTOM_RESOURCE_DEFINITIONS, crd["metadata"]["name"])
    await until(lambda: _gone(client, refs.NAMESPACES, name))
    await until(lambda: _gone(client, refs.CUSTOM_RESOURCE_DEFINITIONS, crd["metadata"]["name"]))


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Wait for something, and complain when it does not come."""
    deadline = time.monotonic() + _PATIENCE
    while not await condition():
        if time.monotonic() > deadline:
            raise TimeoutError("a round does not get ahead")
        await asyncio.sleep(0.02)


async def _account(client: Client, namespace: str) -> bool:
    return not await _gone(client, refs.SERVICE_ACCOUNTS, "default", namespace)


async def _gone(client: Client, kind: Ref, name: str, namespace: str = "") -> bool:
    try:
        await client.get(kind, name, namespace)
    except NotFound:
        return True
    return False


async def _runs(client: Client, namespace: str) -> bool:
    deployment = await client.get(refs.DEPLOYMENTS, "web", namespace)
    job = await client.get(refs.JOBS, "once", namespace)
    return (
        deployment.get("status", {}).get("readyReplicas") == 2 and job.get("status", {}).get("succeeded") == 1
    )


async def _use(client: Client, namespace: str, crd: Object) -> None:
    """Write custom resources, changes, events and applied objects, and read them in several ways."""
    spec = crd["spec"]
    custom = Ref(spec["group"], "v1", spec["names"]["plural"], spec["names"]["kind"])

    async def served() -> bool:
        try:
            await client.create(
                custom, {"metadata": {"name": "a", "namespace": namespace}, "spec": {"size": 3}}
            )
        except (NotFound, StatusError):
            return False
        return True

    await until(served)
    for number in range(10):
        await client.patch(refs.CONFIG_MAPS, "settings", {"data": {"number": str(number)}}, namespace)
        event = {
            "metadata": {"name": f"event-{number}", "namespace": namespace}, "reason": "Tried", "type": "Normal",
            "involvedObject": {"kind": "ConfigMap", "name": "settings", "namespace": namespace},
        }  # fmt: skip
        await client.create(refs.EVENTS, event)
    applied = {"metadata": {"name": "applied", "namespace": namespace}, "data": {"a": "b"}}
    await client.apply(refs.CONFIG_MAPS, applied, manager=f"manager-of-{namespace}")
    for kind in (refs.PODS, refs.CONFIG_MAPS, refs.SECRETS, refs.EVENTS, custom):
        await client.list(kind, namespace)
        await client.list(kind)
