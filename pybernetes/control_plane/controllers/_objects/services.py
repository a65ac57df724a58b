"""What the controllers for Endpoints and for EndpointSlices share: which pods a service has, and when they matter."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from pybernetes.api import selectors
from pybernetes.api.core.pod.pod_level_resources import is_restartable
from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._objects.conditions import condition_of
from pybernetes.control_plane.controllers._objects.deletion import is_being_deleted
from pybernetes.control_plane.controllers._objects.pods import is_ready, is_terminal
from pybernetes.lib.clock import Clock
from pybernetes.lib.memory.forgetting import forgotten
from pybernetes.runtime.cache import Cache, key_of

TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time"
HEADLESS = "service.kubernetes.io/headless"
_CHEAP_SECONDS, _LONGEST_SECONDS = 0.002, 1.0


def by_selector(service: Object) -> tuple[str, ...]:
    """Index services by namespace and one label of their selector; by nothing if they select nothing."""
    for name, value in (service["spec"].get("selector") or {}).items():
        return (f"{service['metadata']['namespace']}/{name}={value}",)
    return ()


def services_of(services: Cache, pod: Object) -> set[str]:
    """Return the keys of the services that select a pod, with the index ``by_selector``."""
    meta = pod["metadata"]
    labels = meta.get("labels") or {}
    keys = set()
    for name, value in labels.items():
        for service in services.find(by_selector, f"{meta['namespace']}/{name}={value}"):
            if service["spec"]["selector"].items() <= labels.items():
                keys.add(key_of(service))
    return keys


def has_endpoints(service: Object) -> bool:
    """Return whether a service has endpoints of pods: it has a selector and is not an ExternalName."""
    return bool(service["spec"].get("selector")) and service["spec"].get("type") != "ExternalName"


def pods_of(pods: Cache, service: Object) -> list[Object]:
    """Return the pods that a service selects, with the index ``by_labels``."""
    return pods.select(selectors.from_map(service["spec"]["selector"]), service["metadata"]["namespace"])


def affected(services: Cache, old: Object | None, new: Object | None) -> set[str]:
    """Return the services whose endpoints a change of a pod may change."""
    if old is None or new is None:
        return services_of(services, new or old)  # type: ignore[arg-type]
    changed = _endpoint_facts(old) != _endpoint_facts(new)
    if old["metadata"].get("labels") == new["metadata"].get("labels") and _name(old) == _name(new):
        return services_of(services, new) if changed else set()
    before, after = services_of(services, old), services_of(services, new)
    return before | after if changed or _name(old) != _name(new) else before ^ after


def _endpoint_facts(pod: Object) -> tuple[Any, ...]:
    status = pod.get("status", {})
    addresses = [pod_ip.get("ip") for pod_ip in status.get("podIPs") or ()]
    return is_being_deleted(pod), is_ready(pod), is_terminal(pod), addresses, pod["spec"].get("nodeName")


def _name(pod: Object) -> tuple[Any, Any]:
    return pod["spec"].get("hostname"), pod["spec"].get("subdomain")


def belongs(pod: Object, *, going: bool) -> bool:
    """Return whether a pod is an endpoint at all; ``going`` says whether one that is being deleted counts."""
    status = pod.get("status", {})
    if is_terminal(pod) or not (status.get("podIP") or status.get("podIPs")):
        return False
    return going or not is_being_deleted(pod)


def hostname(pod: Object, service: Object) -> str:
    """Return the hostname of a pod within a headless service, or an empty string."""
    spec = pod["spec"]
    return spec.get("hostname", "") if spec.get("subdomain") == service["metadata"]["name"] else ""


def is_headless(service: Object) -> bool:
    """Return whether a service has no address of its own."""
    return service["spec"].get("clusterIP") in (None, "", "None")


def find_port(pod: Object, port: Object) -> int | None:
    """Return the port of a pod that a service's port leads to; None if the pod has none of that name."""
    target = port.get("targetPort")
    if isinstance(target, int):
        return target
    protocol = port.get("protocol", "TCP")
    spec = pod["spec"]
    sidecars = [container for container in spec.get("initContainers") or () if is_restartable(container)]
    for container in [*spec["containers"], *sidecars]:
        for container_port in container.get("ports") or ():
            if container_port.get("name") == target and container_port.get("protocol", "TCP") == protocol:
                return container_port["containerPort"]
    return None


@forgotten
@lru_cache(maxsize=65536)
def family_of(address: str) -> str:
    """Return ``IPv4`` or ``IPv6``."""
    return "IPv6" if ":" in address else "IPv4"


@forgotten
@lru_cache(maxsize=65536)
def normal(address: str) -> str:
    """Return an address in its canonical form."""
    try:
        return str(ipaddress.ip_address(address))
    except ValueError:
        return address


def addresses(pod: Object, family: str) -> list[str]:
    """Return a pod's addresses of one family."""
    addresses = [pod_ip.get("ip", "") for pod_ip in pod.get("status", {}).get("podIPs") or ()]
    return [normal(address) for address in addresses if address and family_of(address) == family]


class TriggerTimes:
    """When the change happened that an update of endpoints is about, from which latency is measured."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, dict[str, str]]] = {}

    def compute(self, key: str, service: Object, pods: Iterable[Object]) -> str:
        """Return the time of the earliest change since the last call for this service, or an empty string."""
        times = {}
        for pod in pods:
            ready = condition_of(pod, "Ready")
            if ready is not None and ready.get("lastTransitionTime"):
                times[pod["metadata"]["name"]] = ready["lastTransitionTime"]
        created = service["metadata"]["creationTimestamp"]
        known = self._known.get(key)
        self._known[key] = (created, times)
        if known is None:
            return created
        changed = [time for name, time in times.items() if time > known[1].get(name, "")]
        if created > known[0]:
            changed.append(created)
        return min(changed, default="")

    def forget(self, key: str) -> None:
        """Forget a service that is gone."""
        self._known.pop(key, None)


class Pace:
    """Slows down the work on a service with thousands of pods while they come up.

    Working on it costs in proportion to its pods, so the changes of a moment are taken together: the more it costs, the
    longer the moment, up to a second.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._next: dict[str, float] = {}

    def delay(self, key: str) -> float:
        """Return how long a change has to wait."""
        return max(0.0, self._next.get(key, 0.0) - self._clock.monotonic())

    def worked(self, key: str, seconds: float) -> None:
        """Record how long the work for a service took."""
        if seconds > _CHEAP_SECONDS:
            self._next[key] = self._clock.monotonic() + min(_LONGEST_SECONDS, 9 * seconds)
        else:
            self._next.pop(key, None)

    def forget(self, key: str) -> None:
        """Forget a service that is gone."""
        self._next.pop(key, None)


def with_trigger_time(annotations: Object | None, time: str) -> Object:
    """Return annotations with the time of the last change, or without if there is none."""
    result = {name: value for name, value in (annotations or {}).items() if name != TRIGGER_TIME}
    if time:
        result[TRIGGER_TIME] = time
    return result
