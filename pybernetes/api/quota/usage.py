"""What a namespace uses of what a quota limits, counted from its objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pybernetes.api.quota.evaluator import Evaluator, scopes_of
from pybernetes.api.resource import Object
from pybernetes.api.resource_list import ResourceList, add_to, mask

# Returns the objects of a namespace that an evaluator measures.
Objects = Callable[[Evaluator], Iterable[Object]]


def calculate(
    quota: Object, hard: ResourceList, evaluators: Iterable[Evaluator], objects: Objects, now: float
) -> ResourceList:
    """Return the amounts in use of those resources in ``hard`` that the evaluators know, zeros included."""
    used: ResourceList = {}
    scopes = scopes_of(quota)
    for evaluator in evaluators:
        names = evaluator.matching(hard)
        if not names:
            continue
        add_to(used, {name: "0" for name in names})
        for obj in objects(evaluator):
            if all(evaluator.in_scope(scope, obj) for scope in scopes):
                add_to(used, mask(evaluator.usage(obj, now), names))
    return used
