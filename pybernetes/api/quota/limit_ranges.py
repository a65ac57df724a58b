"""Limit ranges: the requests and limits that containers get by default, and what is too little or too much."""

from __future__ import annotations

from collections.abc import Iterator

from pybernetes.api import quantity
from pybernetes.api.core.pod import resource_totals
from pybernetes.api.resource import Object
from pybernetes.api.resource_list import Amounts

ANNOTATION = "kubernetes.io/limit-ranger"
# Whole units above this have no thousandths that could be compared.
_MOST_MILLI = (2**63 - 1) // 1000


def _items(limit_range: Object, type_: str) -> Iterator[Object]:
    return (item for item in limit_range.get("spec", {}).get("limits", ()) if item.get("type") == type_)


def default_pod(limit_range: Object, pod: Object) -> None:
    """Give the containers what they do not ask for themselves, and note it in an annotation."""
    defaults: dict[str, dict[str, str]] = {"limits": {}, "requests": {}}
    for item in _items(limit_range, "Container"):
        defaults["limits"].update(item.get("default", {}))
        defaults["requests"].update(item.get("defaultRequest", {}))
    if not any(defaults.values()):
        return
    notes: list[str] = []
    for key, words in (("containers", "container"), ("initContainers", "init container")):
        for container in pod["spec"].get(key, ()):
            notes += _default_container(container, defaults, words)
    if notes:
        annotations = pod["metadata"].setdefault("annotations", {})
        annotations[ANNOTATION] = "LimitRanger plugin set: " + "; ".join(notes)


def _default_container(container: Object, defaults: dict[str, dict[str, str]], words: str) -> Iterator[str]:
    resources = container.setdefault("resources", {})
    for key, word in (("requests", "request"), ("limits", "limit")):
        given = resources.get(key) or {}
        missing = {name: amount for name, amount in defaults[key].items() if name not in given}
        if missing:
            resources[key] = {**given, **missing}
            yield f"{', '.join(sorted(missing))} {word} for {words} {container.get('name', '')}"


def pod_problems(limit_range: Object, pod: Object) -> Iterator[str]:
    """Yield what a pod asks for too little or too much."""
    spec = pod["spec"]
    containers = [*spec.get("containers", ()), *spec.get("initContainers", ())]
    for item in _items(limit_range, "Container"):
        for container in containers:
            requests, limits = (resource_totals.spec_list(container, key) for key in ("requests", "limits"))
            yield from _checked(item, "Container", requests, limits)
    for item in _items(limit_range, "Pod"):
        requests, limits = (resource_totals.of_spec(spec, key) for key in ("requests", "limits"))
        yield from _checked(item, "Pod", requests, limits)


def claim_problems(limit_range: Object, claim: Object) -> Iterator[str]:
    """Yield what a claim asks for too little or too much."""
    type_ = "PersistentVolumeClaim"
    requests = (claim.get("spec", {}).get("resources") or {}).get("requests") or {}
    for item in _items(limit_range, type_):
        for name, least in item.get("min", {}).items():
            if problem := _too_little(type_, name, least, requests, {}):
                yield problem
        for name, most in item.get("max", {}).items():
            if problem := _asks_too_much(type_, name, most, requests):
                yield problem


def _checked(item: Object, type_: str, requests: Amounts, limits: Amounts) -> Iterator[str]:
    for key, check in (("min", _too_little), ("max", _too_much), ("maxLimitRequestRatio", _ratio)):
        for name, bound in (item.get(key) or {}).items():
            problem = check(type_, name, bound, requests, limits)
            if problem:
                yield problem


def _comparable(*amounts: str) -> list[int]:
    """Return whole numbers to compare: thousandths, unless one of them is too large for that."""
    whole = [quantity.integer(amount) for amount in amounts]
    return whole if max(whole) > _MOST_MILLI else [quantity.milli(amount) for amount in amounts]


def _too_little(type_: str, name: str, least: str, requests: Amounts, limits: Amounts) -> str | None:
    request, limit, bound = _comparable(requests.get(name, "0"), limits.get(name, "0"), least)
    text = f"minimum {name} usage per {type_} is {least}"
    if name not in requests:
        return f"{text}.  No request is specified"
    if request < bound:
        return f"{text}, but request is {requests[name]}"
    if name in limits and limit < bound:
        return f"{text}, but limit is {limits[name]}"
    return None


def _too_much(type_: str, name: str, most: str, requests: Amounts, limits: Amounts) -> str | None:
    request, limit, bound = _comparable(requests.get(name, "0"), limits.get(name, "0"), most)
    text = f"maximum {name} usage per {type_} is {most}"
    if name not in limits:
        return f"{text}.  No limit is specified"
    if limit > bound:
        return f"{text}, but limit is {limits[name]}"
    if name in requests and request > bound:
        return f"{text}, but request is {requests[name]}"
    return None


def _asks_too_much(type_: str, name: str, most: str, requests: Amounts) -> str | None:
    request, bound = _comparable(requests.get(name, "0"), most)
    text = f"maximum {name} usage per {type_} is {most}"
    if name not in requests:
        return f"{text}.  No request is specified"
    return f"{text}, but request is {requests[name]}" if request > bound else None


def _ratio(type_: str, name: str, most: str, requests: Amounts, limits: Amounts) -> str | None:
    request, limit, _ = _comparable(requests.get(name, "0"), limits.get(name, "0"), most)
    text = f"{name} max limit to request ratio per {type_} is {most}"
    if not request:
        return f"{text}, but no request is specified or request is 0"
    if not limit:
        return f"{text}, but no limit is specified or limit is 0"
    ratio = limit / request
    if quantity.integer(most) <= _MOST_MILLI:
        exceeded = ratio * 1000 > quantity.milli(most)
    else:
        exceeded = ratio > quantity.integer(most)
    return f"{text}, but provided ratio is {ratio:f}" if exceeded else None
