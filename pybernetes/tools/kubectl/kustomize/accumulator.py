"""What a kustomization and those below it have come to: objects, configuration of transformers, variables."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.configuration import Configuration
from pybernetes.tools.kubectl.kustomize.errors import BuildError
from pybernetes.tools.kubectl.kustomize.resid import Gvk, ResId
from pybernetes.tools.kubectl.kustomize.resource_list import ResourceList
from pybernetes.tools.kubectl.kustomize.yaml_nodes.node import SCALAR, Node
from pybernetes.tools.kubectl.kustomize.yaml_nodes.paths import lookup, split_smartly, with_indices
from pybernetes.tools.kubectl.kustomize.yaml_nodes.values import to_value

if TYPE_CHECKING:
    from typing import Any


class Variable:
    """A variable: its name, the object that it is from and the field in it."""

    def __init__(self, value: dict[str, Any]) -> None:
        target = value.get("objref") or {}
        self.name: str = value.get("name", "")
        self.api_version: str = target.get("apiVersion", "")
        versions = self.api_version.split("/") if self.api_version else []
        group = versions[0] if len(versions) == 2 else target.get("group", "")
        version = versions[-1] if len(versions) in (1, 2) else target.get("version", "")
        gvk = Gvk(group, version, target.get("kind", ""))
        self.id = ResId(gvk, target.get("name", ""), target.get("namespace", ""), scope_known=False)
        self.written_path: str = (value.get("fieldref") or {}).get("fieldPath", "")
        self.path = self.written_path or "metadata.name"
        self.written = f"{{{self.name} {Gvk.from_value(target)} {{{self.written_path}}}}}"

    def __str__(self) -> str:
        return f"{{{self.name} {self.id.gvk} {{{self.path}}}}}"


class Accumulator:
    """Objects, configuration and variables."""

    def __init__(self) -> None:
        self.resources = ResourceList()
        self.configuration = Configuration()
        self.variables: dict[str, Variable] = {}

    def merge_variables(self, variables: list[Variable]) -> None:
        """Add variables; the objects that they are from are found while they have their names."""
        for variable in variables:
            wanted = variable.id
            matches = self.resources.matching(
                wanted.same
                if wanted.namespace
                else lambda other, wanted=wanted: wanted.name == other.name and wanted.gvk == other.gvk  # type: ignore[misc]
            )
            if len(matches) > 1:
                raise BuildError(
                    f"found {len(matches)} resId matches for var {variable} (unable to disambiguate)"
                )
            if matches:
                matches[0].variables.append(variable.name)
        self._add_variables(variables)

    def _add_variables(self, variables: list[Variable]) -> None:
        for variable in variables:
            if variable.name in self.variables:
                raise BuildError(f"var '{variable.name}' already encountered")
            self.variables[variable.name] = variable

    def merge(self, other: Accumulator) -> None:
        """Add what another kustomization has come to."""
        self.resources.append_all(other.resources.items)
        self.configuration = self.configuration.merge(other.configuration)
        self._add_variables(list(other.variables.values()))

    def fix_references(self) -> None:
        """Rewrite references to objects whose names changed."""
        from pybernetes.tools.kubectl.kustomize.transformers.name_reference import Transformer

        Transformer(self.configuration.references).transform(self.resources)

    def resolve_variables(self) -> list[str]:
        """Put the values of variables where they are used; return those that are used nowhere."""
        if not self.variables:
            return []
        from pybernetes.tools.kubectl.kustomize.transformers.variables import Transformer

        values = {name: self._value(self.variables[name]) for name in sorted(self.variables)}
        transformer = Transformer(values, self.configuration.specs["varReference"])
        transformer.transform(self.resources)
        return [name for name in values if name not in transformer.used]

    def _value(self, variable: Variable) -> Any:
        for resource in self.resources.items:
            if variable.name in resource.variables:
                try:
                    field = lookup(resource.node, with_indices(split_smartly(variable.path)))
                except BuildError:
                    field = None
                if field is None:
                    raise BuildError(
                        f"field specified in var '{variable}' not found in corresponding resource"
                    )
                return _plain(field)
        raise BuildError(f"var '{variable}' cannot be mapped to a field in the set of known resources")


def _plain(node: Node) -> Any:
    if node.kind != SCALAR:
        return to_value(node)
    if node.tag in ("!!int", "!!float", "!!bool"):
        return to_value(Node(SCALAR, node.value, node.tag))
    return node.value
