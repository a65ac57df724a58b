"""Rewrites references: what names an object by a name that it had names it by the one that it has."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.errors import BuildError, wrapped
from pybernetes.tools.kubectl.kustomize.field_specs import FieldSpec, apply
from pybernetes.tools.kubectl.kustomize.resid import Gvk
from pybernetes.tools.kubectl.kustomize.transformers._referral import Referrals
from pybernetes.tools.kubectl.kustomize.yaml_nodes.node import (
    MAPPING,
    SCALAR,
    SEQUENCE,
    Node,
    is_null,
    scalar,
)
from pybernetes.tools.kubectl.kustomize.yaml_nodes.paths import set_field, set_scalar

if TYPE_CHECKING:
    from pybernetes.tools.kubectl.kustomize.configuration import References
    from pybernetes.tools.kubectl.kustomize.resource import Resource
    from pybernetes.tools.kubectl.kustomize.resource_list import ResourceList


class Transformer:
    """Rewrites references."""

    def __init__(self, references: list[References]) -> None:
        self.by_kind: dict[str, list[tuple[FieldSpec, Gvk]]] = {}
        for target in references:
            for spec in target.specs:
                self.by_kind.setdefault(spec.gvk.kind, []).append((spec, target.gvk))

    def transform(self, resources: ResourceList) -> None:
        """Transform the resources."""
        referrals = Referrals(resources)
        if not referrals.any:
            return
        for resource in list(resources.items):
            first = resource.original_id.gvk
            for spec, target in (*self.by_kind.get(first.kind, ()), *self.by_kind.get("", ())):
                if first.is_selected(spec.gvk):
                    _Field(resource, spec, target, referrals).update()


class _Field:
    """One field of an object that holds names of objects of a kind."""

    def __init__(self, referrer: Resource, spec: FieldSpec, target: Gvk, referrals: Referrals) -> None:
        self.referrer, self.spec, self.target, self.referrals = referrer, spec, target, referrals

    def update(self) -> None:
        place = f"updating name reference in '{self.spec.path}' field of '{self.referrer.id}'"
        with wrapped(place):
            apply(self.referrer, self.spec, self._set, gvk=self.referrer.gvk)

    def _set(self, node: Node) -> None:
        if is_null(node):
            return
        if node.kind == SEQUENCE:
            for item in node.content:
                if not is_null(item):
                    self._set_one(item)
        else:
            self._set_one(node)

    def _set_one(self, node: Node) -> None:
        if node.kind == SCALAR:
            self._set_name(node)
        elif node.kind == MAPPING:
            self._set_mapping(node)
        else:
            raise BuildError("a list of lists is expected to be either a string or a map of string")

    def _set_name(self, node: Node) -> None:
        referral = self.referrals.find(self, node.value, None, by_namespace=False)
        if referral is None:
            return
        referral.add_referrer(self.referrer.id)
        if referral.name != node.value:
            set_scalar(node, scalar(referral.name))

    def _set_mapping(self, node: Node) -> None:
        name = node.content.get("name")
        if name is None:
            raise BuildError("path config error; no 'name' field in node")
        namespace = node.content.get("namespace")
        referral = self.referrals.find(
            self, name.value, namespace.value if namespace else None, by_namespace=True
        )
        if referral is None:
            return
        referral.add_referrer(self.referrer.id)
        if referral.name == name.value and not referral.namespace:
            return
        set_field(node, "name", scalar(referral.name))
        if referral.namespace:
            set_field(node, "namespace", scalar(referral.namespace))
