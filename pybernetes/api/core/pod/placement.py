"""Whether a pod may be on a node: taints and tolerations, node selectors and node affinity."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from pybernetes.api.resource import Object
from pybernetes.api.selectors import Requirement

_OPERATORS = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!", "Gt": "gt", "Lt": "lt"}


def tolerates(toleration: Object, taint: Object) -> bool:
    """Return whether a toleration is for a taint."""
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    match toleration.get("operator", "Equal"):
        case "Exists":
            return True
        case "Equal" | "":
            return toleration.get("value", "") == taint.get("value", "")
    return False


def untolerated(
    taints: Iterable[Object] | None, tolerations: Collection[Object] | None, effects: Collection[str]
) -> Object | None:
    """Return the first taint with one of the effects that no toleration is for."""
    for taint in taints or ():
        if taint.get("effect") in effects and not any(
            tolerates(toleration, taint) for toleration in tolerations or ()
        ):
            return taint
    return None


def required_affinity(pod_spec: Object) -> Callable[[Object], bool]:
    """Return a test of nodes: the node selector of a pod and the node affinity that it requires."""
    selector: dict[str, str] = pod_spec.get("nodeSelector") or {}
    affinity = ((pod_spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    terms = (
        None
        if affinity is None
        else [_term(selector_term) for selector_term in affinity.get("nodeSelectorTerms") or ()]
    )

    def test(node: Object) -> bool:
        labels = node["metadata"].get("labels") or {}
        if not labels.items() >= selector.items():
            return False
        return terms is None or any(term(node) for term in terms)

    return test


def _term(term: Object) -> Callable[[Object], bool]:
    labels = [_requirement(expression) for expression in term.get("matchExpressions") or ()]
    fields = [_requirement(expression) for expression in term.get("matchFields") or ()]
    if not labels and not fields:
        return lambda node: False  # a term that asks for nothing is met by nothing

    def test(node: Object) -> bool:
        meta = node["metadata"]
        own = meta.get("labels") or {}
        name = {"metadata.name": meta["name"]}
        return all(requirement.matches(own) for requirement in labels) and all(
            requirement.matches(name) for requirement in fields
        )

    return test


def _requirement(given: Object) -> Requirement:
    return Requirement(given["key"], _OPERATORS.get(given["operator"], ""), tuple(given.get("values") or ()))
