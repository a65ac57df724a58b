"""/metrics/resources: what every pod of the cluster asks for, as the scheduler counts it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator

from pybernetes.lib.http.messages import Request, Response
from pybernetes.lib.metrics.exposition import Exposition, Labels, negotiated
from pybernetes.runtime.component_server import Handler
from pybernetes.runtime.informer import Informer
from pybernetes.scheduling.pods import Pod
from pybernetes.scheduling.resource_requests import Resources

_UNITS = {"cpu": "cores", "memory": "bytes", "storage": "bytes", "ephemeral-storage": "bytes"}
# Pods between which others get a turn.
_PODS_AT_ONCE = 200


def _unit(name: str) -> str:
    if name.startswith("hugepages-"):
        return "bytes"
    return "integer" if name.startswith("attachable-volumes-") else _UNITS.get(name, "")


def _labels(pod: Pod, name: str) -> Labels:
    return (
        ("namespace", pod.namespace), ("node", pod.node), ("pod", pod.name), ("priority", str(pod.priority)),
        ("resource", name), ("scheduler", pod.shape.scheduler), ("unit", _unit(name)),
    )  # fmt: skip


def requests(pod: Pod, resources: Resources) -> Iterator[tuple[Labels, float]]:
    """Return what a pod asks for."""
    for number, amount in pod.shape.requests.amounts:
        name = resources.names[number]
        yield _labels(pod, name), amount / 1000 if name == "cpu" else amount


def limits(pod: Pod) -> Iterator[tuple[Labels, float]]:
    """Return what a pod may use at most."""
    return ((_labels(pod, name), amount) for name, amount in pod.shape.limits if amount)


async def write(text: Exposition, pods: Iterable[Pod], resources: Resources) -> None:
    """Write the page; the event loop gets its turns meanwhile, since there may be many pods."""
    kept = list(pods)
    for kind, help_ in (
        ("request", "Resources requested by workloads on the cluster, broken down by pod."),
        ("limit", "Resources limit for workloads on the cluster, broken down by pod."),
    ):
        name = f"kube_pod_resource_{kind}"
        text.family(name, "gauge", help_)
        for number, pod in enumerate(kept, 1):
            for labels, value in requests(pod, resources) if kind == "request" else limits(pod):
                text.sample(name, labels, value)
            if not number % _PODS_AT_ONCE:
                await asyncio.sleep(0)


def known(pods: Informer) -> list[Pod]:
    """Return the pods that an informer has."""
    return [obj["pod"] for obj in pods]


def page(pods: Informer, resources: Resources) -> Handler:
    """Return the handler of the page."""

    async def show(request: Request) -> Response:
        out = negotiated(request.header(b"accept"))
        await write(out, known(pods), resources)
        return Response(out.render(), content_type=out.content_type)

    return show
