"""Resources of a pod as a whole: which can be given so, and how the sum over its containers completes them."""

from __future__ import annotations

from fractions import Fraction

from pybernetes.api import quantity
from pybernetes.lib import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeVar

    from pybernetes.api.resource import Object

    Amount = TypeVar("Amount", str, Fraction)

POD_LEVEL = ("cpu", "memory")
_ZERO = Fraction(0)


def is_restartable(container: Object) -> bool:
    """Return whether an init container is a sidecar: it stays while the others run."""
    return container.get("restartPolicy") == "Always"


def supported_at_pod_level(name: str) -> bool:
    """Return whether a resource can be given for the pod as a whole."""
    return name in POD_LEVEL or name.startswith("hugepages-")


def pod_level_set(spec: Object) -> bool:
    """Return whether the pod as a whole asks for anything that can be given so."""
    resources = spec.get("resources", {})
    return any(
        supported_at_pod_level(name) for key in ("requests", "limits") for name in resources.get(key, ())
    )


def _list(container: Object, key: str) -> dict[str, Fraction]:
    amounts = container.get("resources", {}).get(key)
    return {name: quantity.parse(text) for name, text in amounts.items()} if amounts else {}


def _add(total: dict[str, Fraction], more: Mapping[str, Fraction]) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, _ZERO) + amount


def _max(total: dict[str, Fraction], more: Mapping[str, Fraction]) -> None:
    for name, amount in more.items():
        if name not in total or amount > total[name]:
            total[name] = amount


def add_up(
    spec: Object,
    read: Callable[[Object], Mapping[str, Amount]],
    add_to: Callable[[dict[str, Amount], Mapping[str, Amount]], None],
    raise_to: Callable[[dict[str, Amount], Mapping[str, Amount]], None],
) -> dict[str, Amount]:
    """Return the sum over the containers, or what the largest init container needs beside the sidecars before it."""
    total: dict[str, Amount] = {}
    for container in spec.get("containers", ()):
        add_to(total, read(container))
    sidecars: dict[str, Amount] = {}
    peak: dict[str, Amount] = {}
    for container in spec.get("initContainers", ()):
        amounts = read(container)
        if is_restartable(container):
            add_to(total, amounts)
            add_to(sidecars, amounts)
            raise_to(peak, sidecars)
        else:
            needed = dict(amounts)
            add_to(needed, sidecars)
            raise_to(peak, needed)
    raise_to(total, peak)
    return total


def aggregate(spec: Object, key: str) -> dict[str, Fraction]:
    """Return the sum of the containers' ``requests`` or ``limits`` as numbers."""
    return add_up(spec, lambda container: _list(container, key), _add, _max)


def _first_text(spec: Object, key: str, name: str) -> str:
    for kind in ("containers", "initContainers"):
        for container in spec.get(kind, ()):
            text = container.get("resources", {}).get(key, {}).get(name)
            if text:
                return text
    return "0"


def as_text(spec: Object, key: str, name: str, amount: Fraction) -> str:
    """Return a sum over the containers in the format that the first of them uses."""
    return quantity.format_like(amount, _first_text(spec, key, name))


def default_pod_level(spec: Object) -> None:
    """Complete the requests and limits of the pod as a whole from those of its containers."""
    resources = spec.get("resources")
    if not resources or not (resources.get("requests") or resources.get("limits")):
        return
    requests, limits = resources.get("requests", {}), resources.get("limits", {})
    all_limits, all_requests = aggregate(spec, "limits"), aggregate(spec, "requests")
    for name, amount in all_limits.items():
        if name.startswith("hugepages-") and name not in requests and name not in limits:
            limits[name] = as_text(spec, "limits", name, amount)
    for name, amount in all_requests.items():
        if name in POD_LEVEL and name not in requests:
            requests[name] = as_text(spec, "requests", name, amount)
    for name, given in limits.items():
        if supported_at_pod_level(name):
            requests.setdefault(name, given)
    containers = [
        *spec.get("containers", ()),
        *spec.get("initContainers", ()),
        *spec.get("ephemeralContainers", ()),
    ]
    for name, given in requests.items():
        if name in limits or not supported_at_pod_level(name) or name not in all_limits:
            continue
        if all(name in container.get("resources", {}).get("limits", ()) for container in containers):
            more = quantity.parse(given) > all_limits[name]
            limits[name] = given if more else as_text(spec, "limits", name, all_limits[name])
    if requests:
        resources["requests"] = requests
    if limits:
        resources["limits"] = limits
