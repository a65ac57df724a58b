"""Finds the object that a reference means."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.errors import BuildError
from pybernetes.tools.kubectl.kustomize.resid import NO_NAMESPACE, Gvk
from pybernetes.tools.kubectl.kustomize.yaml_nodes.node import Node, value_of

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.resource import Resource
    from pybernetes.tools.kubectl.kustomize.resource_list import ResourceList


class Referrals:
    """The objects that could be meant, by the names that they had."""

    def __init__(self, resources: ResourceList) -> None:
        self.resources = resources
        self.by_name: dict[str, list[Resource]] = {}
        for resource in resources.items:
            for name in {previous.name: None for previous in resource.previous_ids}:
                self.by_name.setdefault(name, []).append(resource)

    @property
    def any(self) -> bool:
        """Whether any object had another name."""
        return bool(self.by_name)

    def find(self, field: Any, name: str, namespace: str | None, by_namespace: bool) -> Resource | None:
        """Return the object that a name in a field means, None if it means none."""
        candidates = self.by_name.get(name)
        if not candidates:
            return None
        allowed = {id(item) for item in self.resources.referable_by(field.referrer)}
        candidates = [item for item in candidates if id(item) in allowed]
        if namespace is not None:
            candidates = self._in_namespace(candidates, namespace, allowed)
        candidates = [item for item in candidates if _had_kind(item, field.target)]
        role = _role(field)
        if role is not None:
            candidates = [item for item in candidates if _had_kind(item, role)]
        own = field.referrer.id
        if not own.cluster_scoped:
            candidates = [
                item
                for item in candidates
                if item.id.cluster_scoped
                or item.kind == "ServiceAccount"
                or item.id.effective_namespace == own.effective_namespace
            ]
        return _only(candidates, field, by_namespace)

    def _in_namespace(self, candidates: list[Resource], namespace: str, allowed: set[int]) -> list[Resource]:
        """Return the candidates that were in a namespace, or if nothing at all was there, those that are."""
        if namespace == NO_NAMESPACE:
            return []
        reachable = (item for item in self.resources.items if id(item) in allowed)
        if any(item.original_id.effective_namespace == namespace for item in reachable):
            return [item for item in candidates if item.original_id.effective_namespace == namespace]
        return [item for item in candidates if item.id.effective_namespace == namespace]


def _had_kind(resource: Resource, gvk: Gvk) -> bool:
    return any(previous.gvk.is_selected(gvk) for previous in resource.previous_ids)


def _role(field: Any) -> Gvk | None:
    """Return the kind that the reference of a role binding names."""
    if not field.spec.path.endswith("roleRef/name"):
        return None
    reference: Node | None = field.referrer.node.field("roleRef")
    group = reference.field("apiGroup") if reference is not None else None
    kind = reference.field("kind") if reference is not None else None
    if group is None or kind is None:
        return None
    return Gvk(value_of(group), "", value_of(kind))


def _only(candidates: list[Resource], field: Any, by_namespace: bool) -> Resource | None:
    if len(candidates) == 1:
        return candidates[0]
    candidates = [item for item in candidates if _same_affixes(item, field.referrer, True)]
    if len(candidates) > 1:
        candidates = [item for item in candidates if _same_affixes(item, field.referrer, False)]
    if len(candidates) <= 1:
        return candidates[0] if candidates else None
    names = {(item.name, item.namespace if by_namespace else "") for item in candidates}
    if len(names) == 1:
        return candidates[0]
    from pybernetes.tools.kubectl.kustomize.writer import as_yaml

    ids = ", ".join(str(item.id) for item in candidates)
    details = f"\n**** Too many possible referral targets to referrer:\n{as_yaml(field.referrer.value())}\n"
    for number, item in enumerate(candidates):
        details += f"--- possible referral {number}:\n{as_yaml(item.value())}\n"
    raise BuildError(f"found multiple possible referrals: {ids}\n{details}")


def _same_affixes(one: Resource, other: Resource, allow_empty: bool) -> bool:
    pairs = ((one.prefixes, other.prefixes), (one.suffixes, other.suffixes))
    return all((allow_empty and not (mine and theirs)) or _same_end(mine, theirs) for mine, theirs in pairs)


def _same_end(one: list[str], other: list[str]) -> bool:
    short, long = sorted((one, other), key=len)
    if not short:
        return not long
    return long[-len(short) :] == short
