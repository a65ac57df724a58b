"""Whether the quotas of a namespace have room for a write, and what is used after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pybernetes.api import quantity, resource_list
from pybernetes.api.quota.evaluator import Evaluator, scopes_of
from pybernetes.api.resource import Object
from pybernetes.api.resource_list import ResourceList

# An entry of limitedResources in the configuration: to be used, it must be covered by a quota.
Limited = Mapping[str, Any]


class QuotaError(Exception):
    """The write does not fit; ``forbidden`` is False for what is an error of the server upstream."""

    def __init__(self, message: str, *, forbidden: bool = True) -> None:
        super().__init__(message)
        self.message, self.forbidden = message, forbidden


@dataclass(frozen=True, slots=True)
class Write:
    """A write to be judged."""

    operation: str
    subresource: str
    new: Object
    old: Object | None = None


def charge(
    quotas: Sequence[Object],
    used: Sequence[ResourceList],
    evaluator: Evaluator,
    write: Write,
    now: float,
    limited: Sequence[Limited] = (),
) -> list[ResourceList]:
    """Return what each quota has in use after the write; raise QuotaError if there is no room.

    ``used`` stands beside ``quotas`` and may be ahead of their statuses. A list that the write does not
    change is the same object in the result.
    """
    new, result = write.new, list(used)
    restricted: set[str] = set()
    scopes: list[Object] = []
    interesting: list[int] = []
    for index, quota in enumerate(quotas):
        scopes += [scope for scope in scopes_of(quota) if evaluator.in_scope(scope, new)]
        if evaluator.matches(quota, new):
            restricted.update(_measured(quota, used[index], evaluator, new))
            interesting.append(index)
    if not interesting and not limited:
        return result
    usage = evaluator.usage(new, now)
    if below_zero := resource_list.negative(usage):
        raise QuotaError(f"quota usage is negative for resource(s): {','.join(below_zero)}")
    deltas = _deltas(quotas, interesting, evaluator, write, usage, now)
    if not any(deltas.values()):
        return result
    _check_limited(limited, evaluator, new, usage, restricted, scopes)
    for index in interesting:
        if deltas[index]:
            result[index] = _charged(quotas[index], used[index], deltas[index], write.subresource)
    return result


def _hard(quota: Object) -> ResourceList:
    return quota.get("status", {}).get("hard") or {}


def _measured(quota: Object, used: ResourceList, evaluator: Evaluator, new: Object) -> list[str]:
    """Return the resources of a quota that the write counts for, if they can be measured."""
    name = quota["metadata"]["name"]
    names = evaluator.matching(_hard(quota))
    missing = evaluator.constraint(names, new)
    if missing:
        raise QuotaError(f"failed quota: {name}: {missing}")
    if not all(resource in used for resource in names):
        raise QuotaError(f"status unknown for quota: {name}, resources: {','.join(names)}")
    return names


def _deltas(
    quotas: Sequence[Object],
    interesting: list[int],
    evaluator: Evaluator,
    write: Write,
    usage: ResourceList,
    now: float,
) -> dict[int, ResourceList]:
    """Return what the write adds, for each quota that holds for it, or under -1 if none does."""
    whole = resource_list.nonzero(usage)
    if write.operation != "UPDATE":
        return {index: whole for index in interesting} or {-1: whole}
    assert write.old is not None
    more = resource_list.nonzero(resource_list.grown(usage, evaluator.usage(write.old, now)))
    # A quota that did not hold for the object before has none of it in its figures yet.
    return {
        index: more if evaluator.matches(quotas[index], write.old) else whole for index in interesting
    } or {-1: more}


def _check_limited(
    limited: Sequence[Limited],
    evaluator: Evaluator,
    new: Object,
    usage: ResourceList,
    restricted: set[str],
    scopes: list[Object],
) -> None:
    """Refuse what may only be used under a quota, if there is none."""
    names: set[str] = set()
    uncovered: list[Object] = []
    covered = {scope.get("scopeName") for scope in scopes}
    for rule in limited:
        if (rule.get("apiGroup", ""), rule.get("resource")) == (evaluator.group, evaluator.plural):
            parts = rule.get("matchContains") or ()
            names.update(
                name
                for name, amount in usage.items()
                if quantity.parse(amount) > 0 and any(part in name for part in parts)
            )
        for scope in rule.get("matchScopes") or ():
            if evaluator.in_scope(scope, new) and scope.get("scopeName") not in covered:
                uncovered.append(scope)
    if names - restricted:
        raise QuotaError(f"insufficient quota to consume: {','.join(sorted(names - restricted))}")
    if uncovered:
        listed = " ".join(_shown(scope) for scope in uncovered)
        raise QuotaError(f"insufficient quota to match these scopes: [{listed}]", forbidden=False)


def _shown(scope: Object) -> str:
    """Return a scope as Go prints it."""
    return f"{{{scope.get('scopeName', '')} {scope.get('operator', '')} [{' '.join(scope.get('values') or ())}]}}"


def _charged(quota: Object, used: ResourceList, delta: ResourceList, subresource: str) -> ResourceList:
    hard = _hard(quota)
    requested = resource_list.mask(delta, hard)
    after = resource_list.add(used, requested)
    # What a status reports has happened already.
    if subresource != "status":
        exceeded = resource_list.exceeding(resource_list.mask(after, requested), hard)
        if exceeded:
            parts = (
                f"{word}: {resource_list.text(resource_list.mask(amounts, exceeded))}"
                for word, amounts in (("requested", requested), ("used", used), ("limited", hard))
            )
            raise QuotaError(f"exceeded quota: {quota['metadata']['name']}, {', '.join(parts)}")
    return after
