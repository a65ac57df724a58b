"""NamespaceTransformer: puts objects into a namespace."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.errors import BuildError, WrongKind, wrapped
from pybernetes.tools.kubectl.kustomize.field_specs import FieldSpec, apply
from pybernetes.tools.kubectl.kustomize.resource import HELM, Resource
from pybernetes.tools.kubectl.kustomize.transformers._entries import as_specs
from pybernetes.tools.kubectl.kustomize.yaml_nodes.node import (
    MAPPING,
    SCALAR,
    SEQUENCE,
    STRING,
    Node,
    is_null,
    scalar,
    value_of,
)
from pybernetes.tools.kubectl.kustomize.yaml_nodes.paths import get, lookup, require, set_scalar

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.plugins import Plugin
    from pybernetes.tools.kubectl.kustomize.resource_list import ResourceList

_METADATA = FieldSpec("metadata/namespace", create=True)
_BINDINGS = ("RoleBinding", "ClusterRoleBinding")
_MODES = ("defaultOnly", "none", "allServiceAccounts")


class Transformer:
    """Puts objects into a namespace."""

    def __init__(self, config: dict[str, Any], plugin: Plugin) -> None:
        self.namespace: str = (config.get("metadata") or {}).get("namespace", "")
        self.unset_only: bool = config.get("unsetOnly", False)
        self.mode: str = config.get("setRoleBindingSubjects") or "defaultOnly"
        self.specs = [
            spec for spec in as_specs(config.get("fieldSpecs") or []) if spec.path != "metadata/namespace"
        ]
        if self.mode not in _MODES:
            raise BuildError(
                f'invalid value "{self.mode}" for setRoleBindingSubjects: '
                'must be one of "defaultOnly", "none" or "allServiceAccounts"'
            )

    def transform(self, resources: ResourceList) -> None:
        """Transform the resources; refuse two objects that become one."""
        if not self.namespace:
            return
        counts = resources.counts()
        for resource in resources.items:
            if resource.is_gone or resource.annotation(HELM) == "true":
                continue
            resource.remember()
            counts[resource.id.identity()] -= 1
            self._change(resource)
            identity = resource.id.identity()
            counts[identity] += 1
            if counts[identity] != 1:
                alike = [item for item in resources.items if item.id.identity() == identity]
                raise BuildError(
                    f"namespace transformation produces ID conflict: [{' '.join(map(_text, alike))}]"
                )

    def _change(self, resource: Resource) -> None:
        if not resource.id.cluster_scoped:
            apply(resource, _METADATA, self._set, SCALAR)
        specs = self.specs
        if resource.gvk.api_version != "v1":
            specs = [spec for spec in specs if spec.path != "metadata/name"]
        if resource.kind in _BINDINGS:
            specs = [
                spec
                for spec in specs
                if not (spec.gvk.kind in _BINDINGS and spec.path == "subjects/namespace")
            ]
            self._subjects(resource)
        try:
            for spec in specs:
                apply(resource, spec, self._set, SCALAR, STRING)
        except WrongKind as error:
            prefix = "namespace transformation failed"
            if error.actual != SCALAR:
                prefix = "namespace field specs must target scalar nodes"
            raise BuildError(f"{prefix}: {error.message}") from None
        except BuildError as error:
            raise BuildError(f"namespace transformation failed: {error.message}") from None

    def _set(self, node: Node) -> None:
        if self.unset_only and not is_null(node) and node.kind == SCALAR and node.value:
            return
        set_scalar(node, scalar(self.namespace, STRING))

    def _subjects(self, resource: Resource) -> None:
        if self.mode == "none":
            return
        subjects = get(resource.node, "subjects")
        if is_null(subjects):
            return
        assert subjects is not None
        with wrapped("setting namespace on (cluster)role binding subjects"):
            require(subjects, SEQUENCE)
            for subject in subjects.content:
                field, wanted = ("name", "default")
                if self.mode == "allServiceAccounts":
                    field, wanted = ("kind", "ServiceAccount")
                if value_of(get(subject, field)) != wanted:
                    continue
                namespace = lookup(subject, ["namespace"], create=SCALAR)
                assert namespace is not None and subject.kind == MAPPING
                self._set(namespace)


def _text(resource: Resource) -> str:
    import orjson

    return orjson.dumps(resource.value(), option=orjson.OPT_SORT_KEYS).decode()
