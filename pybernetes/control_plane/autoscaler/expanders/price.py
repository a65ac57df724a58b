"""price: the group whose nodes cost the least for what pods get of them, and suit a cluster of this size."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence

from pybernetes.api.resource import Object
from pybernetes.control_plane.autoscaler.provider import CloudError, NodeReference
from pybernetes.control_plane.autoscaler.scale_up.estimator import Option
from pybernetes.control_plane.autoscaler.scale_up.expander import Context
from pybernetes.scheduling.resource_requests import Requests

SUMMARY = "the group that costs the least, if the cloud knows prices"
log = logging.getLogger(__name__)
_HOUR = 3600.0
_STABILIZATION = (500, 500 << 20)  # cores in thousandths and bytes of the pod that keeps cheap options apart
# Cores of the node that suits a cluster with at most so many nodes.
_PREFERRED = ((2, 1), (6, 2), (20, 4), (60, 8), (200, 16))
_LARGEST = 32


def preferred_cores(nodes: int) -> int:
    """Return how many cores a node of a cluster of some size should have, in thousandths."""
    return 1000 * next((cores for most, cores in _PREFERRED if nodes <= most), _LARGEST)


def unfitness(preferred: int, cores: int) -> float:
    """Return how far a node is from the preferred one: 1 if it is just that."""
    return max(preferred / cores, cores / preferred) if cores else math.inf


def score(nodes: int, node_price: float, pods_price: float, stabilization: float, unfit: float) -> float:
    """Return how good an option is: less is better. The shape matters less the more nodes there are."""
    ratio = (node_price * nodes + stabilization) / (pods_price + stabilization)
    return ((unfit - 1.0) * (1.0 - math.tanh((nodes - 1) / 15.0)) + 1.0) * ratio


def pod_object(requests: Requests | None) -> Object:
    """Return a pod with the requests that a price depends on."""
    cores, memory = (requests.amount(0), requests.amount(1)) if requests is not None else _STABILIZATION
    resources = {"requests": {"cpu": f"{cores}m", "memory": str(memory)}}
    container = {"name": "c", "resources": resources}
    return {"metadata": {"name": "price", "namespace": "default"}, "spec": {"containers": [container]}}


async def best(options: Sequence[Option], context: Context) -> list[Option]:
    """Return the cheapest options; none if the cloud knows no prices."""
    scores: list[tuple[float, Option]] = []
    try:
        stabilization = await context.cloud.pod_price(pod_object(None), _HOUR)
    except CloudError as error:
        log.warning("failed to get price for stabilization pod: %s", error)
        stabilization = 0.0
    for option in options:
        node = option.template.node
        reference = NodeReference(node.name, "", node.labels)
        try:
            node_price = await context.cloud.node_price(reference, _HOUR)
            prices: dict[Requests, float] = {}
            for pod in option.pods:
                if pod.requests not in prices:
                    prices[pod.requests] = await context.cloud.pod_price(pod_object(pod.requests), _HOUR)
        except CloudError as error:
            log.warning("failed to calculate the price of %s: %s", option.group, error)
            continue
        pods_price = sum(prices[pod.requests] for pod in option.pods)
        if not pods_price + stabilization:
            continue
        unfit = unfitness(preferred_cores(context.nodes), option.template.cores)
        scores.append((score(option.nodes, node_price, pods_price, stabilization, unfit), option))
    least = min((points for points, _ in scores), default=0.0)
    return [option for points, option in scores if points == least]
