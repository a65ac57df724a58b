"""The Pods that benchmarks work on, and the namespace that holds them."""

import json
import time
from typing import Any

from bench.harness.connection import ServerError, call, request_bytes
from bench.harness.kubeconfig import Target

NAMESPACE = "bench"
LABEL = "pybernetes.example/benchmark"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
NAMESPACE_PATH = f"/api/v1/namespaces/{NAMESPACE}"

PATIENCE = 2  # seconds in which a namespace controller, if there is one, begins its work
LIMIT_OF_REMOVAL = 60


def pod(name: str) -> dict[str, Any]:
    """Describe a small web server of the usual kind, which no scheduler will take."""
    container = {
        "name": "web",
        "image": "registry.example/shop/frontend:2.14.1",
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
    }
    labels = {"app": "shop-frontend"}
    # Given here so that servers with and without the admission plugins that add them store the same.
    tolerations = [
        {
            "key": f"node.kubernetes.io/{problem}",
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": 300,
        }
        for problem in ("not-ready", "unreachable")
    ]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels},
        "spec": {
            "schedulerName": "no-scheduler-takes-this",
            "serviceAccountName": "default",
            "automountServiceAccountToken": False,
            "tolerations": tolerations,
            "containers": [container],
        },
    }


def pod_name(group: str, number: int) -> str:
    """Name a Pod; all names of a group have one length, so that requests can be cut from one template."""
    return f"{group}-{number:06d}"


def create_requests(target: Target, group: str, count: int) -> list[bytes]:
    """Build the requests that create `count` Pods."""
    placeholder = pod_name(group, 0)
    body = json.dumps(pod(placeholder), separators=(",", ":")).encode()
    before, after = request_bytes(target, "POST", PODS, body).split(placeholder.encode())
    return [before + pod_name(group, number).encode() + after for number in range(count)]


def patch_requests(target: Target, group: str, pods: int, count: int, series: str) -> list[bytes]:
    """Build merge patches that change one label, going round the Pods of a group; no other series gives the same values."""
    requests = []
    for number in range(count):
        body = json.dumps(
            {"metadata": {"labels": {"round": f"{series}-{number}"}}}, separators=(",", ":")
        ).encode()
        path = f"{PODS}/{pod_name(group, number % pods)}"
        requests.append(request_bytes(target, "PATCH", path, body, "application/merge-patch+json"))
    return requests


def delete_requests(target: Target, group: str, count: int) -> list[bytes]:
    """Build the requests that delete the Pods of a group at once."""
    return [
        request_bytes(target, "DELETE", f"{PODS}/{pod_name(group, number)}?gracePeriodSeconds=0")
        for number in range(count)
    ]


def prepare_namespace(target: Target) -> None:
    """Make the namespace; one that an earlier benchmark left is emptied, one of somebody else is refused."""
    existing = call(target, "GET", NAMESPACE_PATH, accept=(404,))
    if existing.get("kind") == "Namespace":
        if LABEL not in existing["metadata"].get("labels", {}):
            raise ServerError(409, f"the namespace {NAMESPACE} exists and is not a benchmark's")
        remove_namespace(target)
    metadata = {"name": NAMESPACE, "labels": {LABEL: "true"}}
    call(
        target,
        "POST",
        "/api/v1/namespaces",
        {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata},
    )
    # Pods need this account; where no controller runs, nobody else makes it.
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
    call(target, "POST", f"{NAMESPACE_PATH}/serviceaccounts", account, accept=(409,))


def remove_namespace(target: Target) -> None:
    """Delete all Pods, then the namespace, and wait until it is gone."""
    for _ in range(20):
        call(target, "DELETE", f"{PODS}?gracePeriodSeconds=0", accept=(404, 504))
        left = call(target, "GET", f"{PODS}?limit=1", accept=(404,))
        if not left.get("items"):
            break
    call(target, "DELETE", NAMESPACE_PATH, accept=(404, 409))
    begin = time.monotonic()
    while time.monotonic() < begin + LIMIT_OF_REMOVAL:
        namespace = call(target, "GET", NAMESPACE_PATH, accept=(404,))
        if namespace.get("kind") != "Namespace":
            return
        nobody_works_on_it = not namespace.get("status", {}).get("conditions")
        if nobody_works_on_it and time.monotonic() > begin + PATIENCE:
            # Without a namespace controller it would stay Terminating for ever.
            namespace["spec"]["finalizers"] = []
            call(target, "DELETE", f"{NAMESPACE_PATH}/serviceaccounts", accept=(404,))
            call(target, "PUT", f"{NAMESPACE_PATH}/finalize", namespace, accept=(409,))
        time.sleep(0.1)
    raise ServerError(409, f"the namespace {NAMESPACE} does not go away")
