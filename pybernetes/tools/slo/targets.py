"""Where the components of a cluster show their metrics: a pure function of what the API server lists."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple
from urllib.parse import urlsplit

_PAGES = ("/metrics", "/metrics/slis")
# Of the components whose pods have these labels (component=…): port and pages. They answer those whom the API server knows,
# and a pod's proxy has no credentials to show, so they are asked directly.
_DIRECT = {
    "kube-controller-manager": (10257, _PAGES),
    "kube-scheduler": (10259, (*_PAGES, "/metrics/resources")),
}
_KUBELET = ("", "/cadvisor", "/probes", "/resource", "/slis")


class Target(NamedTuple):
    """A page of metrics. Without a server it is at the API server, else at this URL."""

    name: str
    path: str
    server: str = ""


def through_the_apiserver(nodes: Iterable[str], services: Iterable[dict[str, Any]]) -> list[Target]:
    """Return the pages of the API server, of kubelets, and of services with a port for metrics."""
    targets = [Target("kube-apiserver", page) for page in _PAGES]
    targets += [
        Target(f"kubelet/{node}", f"/api/v1/nodes/{node}/proxy/metrics{page}")
        for node in nodes
        for page in _KUBELET
    ]
    for service in services:
        namespace, name = service["metadata"]["namespace"], service["metadata"]["name"]
        if any(port.get("name") == "metrics" for port in service["spec"].get("ports", ())):
            path = f"/api/v1/namespaces/{namespace}/services/{name}:metrics/proxy/metrics"
            targets.append(Target(name, path))
    return targets


def of_pods(pods: Iterable[dict[str, Any]]) -> list[Target]:
    """Return the pages of the components that pods show."""
    targets = []
    for pod in pods:
        component = (pod["metadata"].get("labels") or {}).get("component", "")
        address = pod.get("status", {}).get("podIP")
        if component in _DIRECT and address:
            port, pages = _DIRECT[component]
            host = f"[{address}]" if ":" in address else address
            targets += [Target(component, page, f"https://{host}:{port}") for page in pages]
    return targets


def given(texts: Iterable[str]) -> list[Target]:
    """Return the pages that ``NAME=URL`` texts name; ValueError for what is none. Without a path it is /metrics."""
    targets = []
    for text in texts:
        name, _, url = text.partition("=")
        parts = urlsplit(url)
        if not name or parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"--target {text}: NAME=URL is expected")
        targets.append(Target(name, parts.path.rstrip("/") or "/metrics", f"{parts.scheme}://{parts.netloc}"))
    return targets
