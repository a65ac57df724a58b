"""What an evaluator does, and the plain one, which counts objects."""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.api.resource import Object
from pybernetes.api.resource_list import ResourceList
from pybernetes.api.selectors import Requirement

# An entry of scopeSelector.matchExpressions.
_OPERATORS = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}


def count_name(group: str, plural: str) -> str:
    """Return the name under which a quota counts any object: ``count/deployments.apps``."""
    return f"count/{plural}.{group}" if group else f"count/{plural}"


def scopes_of(quota: Object) -> list[Object]:
    """Return all that an object must be for a quota to hold for it."""
    spec = quota.get("spec", {})
    plain = [{"scopeName": name, "operator": "Exists"} for name in spec.get("scopes") or ()]
    return plain + list((spec.get("scopeSelector") or {}).get("matchExpressions") or ())


def selects(scope: Object, values: Iterable[str]) -> bool:
    """Return whether one of the values, or the lack of any, is what a scope asks for."""
    requirement = Requirement("value", _OPERATORS[scope["operator"]], tuple(scope.get("values") or ()))
    given = list(values)
    if not given:
        return requirement.matches({})
    return any(requirement.matches({"value": value}) for value in given)


class Evaluator:
    """Counts the objects of one resource; others measure more of them."""

    def __init__(self, group: str, plural: str, alias: str = "") -> None:
        self.group, self.plural = group, plural
        self.count = count_name(group, plural)
        self.names = frozenset({self.count, alias} - {""})

    # The parts of an object whose writes can change what is used.
    subresources: tuple[str, ...] = ()

    def handles(self, operation: str, subresource: str, new: Object, old: Object | None) -> bool:
        """Return whether a write can change what is used."""
        return operation == "CREATE" and not subresource

    def matching(self, names: Iterable[str]) -> list[str]:
        """Return those of the names that this resource counts for."""
        return sorted(name for name in names if name in self.names)

    def constraint(self, required: Iterable[str], obj: Object) -> str:
        """Return what the object must say for these to be measured and does not, or nothing."""
        return ""

    def in_scope(self, scope: Object, obj: Object) -> bool:
        """Return whether an object is what a scope asks for."""
        return False

    def matches(self, quota: Object, obj: Object) -> bool:
        """Return whether a quota holds for an object."""
        hard = quota.get("status", {}).get("hard") or ()
        return bool(self.matching(hard)) and all(self.in_scope(scope, obj) for scope in scopes_of(quota))

    def usage(self, obj: Object, now: float) -> ResourceList:
        """Return what an object uses at a time (seconds since the epoch)."""
        return {name: "1" for name in self.names}

    def gives_back(self, new: Object, old: Object, now: float) -> bool:
        """Return whether an update may leave less in use, or use under other quotas, which must be recounted then."""
        return False
