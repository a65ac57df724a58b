"""What a role or a binding must become so that it holds what a file says."""

from __future__ import annotations

from typing import NamedTuple

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.auth._rules import not_covered

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object

_PROTECTED = "rbac.authorization.kubernetes.io/autoupdate"


class Plan(NamedTuple):
    """An object as it shall be, and how it becomes so: create, recreate, update or nothing.

    ``missing`` and ``extra`` are the rules or the subjects that there are too few and too many of; an object that is
    ``protected`` wants to stay as it is.
    """

    object: Object
    operation: str
    missing: list[Object]
    extra: list[Object]
    protected: bool = False


def plan(live: Object | None, wanted: Object, remove: bool) -> Plan:
    """Return what has to be done; ``remove`` takes away what the file does not name."""
    binding = "Binding" in wanted["kind"]
    key = "subjects" if binding else "rules"
    if live is None:
        return Plan(wanted, "create", wanted.get(key) or [], [])
    protected = ((live.get("metadata") or {}).get("annotations") or {}).get(_PROTECTED) == "false"
    if binding and live.get("roleRef") != wanted.get("roleRef"):
        return Plan(wanted, "recreate", [], [], protected)
    value = _with_metadata(live, wanted)
    now, then = live.get(key) or [], wanted.get(key) or []
    if binding:
        missing, extra = _difference(then, now), _difference(now, then)
    else:
        missing = not_covered(now, then)
        aggregated = "aggregationRule" in live and "aggregationRule" in wanted
        extra = [] if aggregated else not_covered(then, now)
    if remove and (missing or extra):
        value = {**value, key: then}
    elif missing:
        value = {**value, key: [*now, *missing]}
    if not binding:
        value = _with_aggregation(value, live, wanted, remove)
    return Plan(value, "" if value == live else "update", missing, extra, protected)


def _with_metadata(live: Object, wanted: Object) -> Object:
    """Return the live object with the labels and annotations that it lacks; those that it has stay as they are."""
    metadata: dict[str, Any] = dict(live.get("metadata") or {})
    for key in ("annotations", "labels"):
        merged = {**((wanted.get("metadata") or {}).get(key) or {}), **(metadata.get(key) or {})}
        if merged:
            metadata[key] = merged
    return {**live, "metadata": metadata}


def _with_aggregation(value: Object, live: Object, wanted: Object, remove: bool) -> Object:
    now, then = live.get("aggregationRule"), wanted.get("aggregationRule")
    if then is None:
        return {name: field for name, field in value.items() if name != "aggregationRule"}
    present, expected = (now or {}).get("clusterRoleSelectors") or [], then.get("clusterRoleSelectors") or []
    missing, extra = _difference(expected, present), _difference(present, expected)
    if remove and (missing or extra):
        return {**value, "aggregationRule": then}
    if missing:
        return {**value, "aggregationRule": {"clusterRoleSelectors": [*present, *missing]}}
    return value


def _difference(values: list[Object], others: list[Object]) -> list[Object]:
    """Return the values that are not among the others, each once."""
    left: list[Object] = []
    for value in values:
        if value not in others and value not in left:
            left.append(value)
    return left
