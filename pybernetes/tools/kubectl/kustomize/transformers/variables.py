"""Puts the values of variables (``vars``) where fields have $(NAME)."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.errors import BuildError
from pybernetes.tools.kubectl.kustomize.field_specs import apply
from pybernetes.tools.kubectl.kustomize.yaml_nodes.node import (
    MAPPING,
    SCALAR,
    STRING,
    Node,
    OddKey,
    is_null,
    is_text,
)
from pybernetes.tools.kubectl.output.yaml.scalars import go_float

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.field_specs import FieldSpec
    from pybernetes.tools.kubectl.kustomize.resource_list import ResourceList

MAX_TEXT = 4 << 20  # characters that a field may become


class Transformer:
    """Expands variables; ``used`` has those that were found."""

    def __init__(self, values: dict[str, Any], specs: list[FieldSpec]) -> None:
        self.values, self.specs = values, specs
        self.used: set[str] = set()
        self.complaints: list[str] = []

    def transform(self, resources: ResourceList) -> None:
        """Transform the resources."""
        for resource in resources.items:
            for spec in self.specs:
                apply(resource, spec, self._set)

    def _set(self, node: Node) -> None:
        if is_null(node):
            return
        if node.kind == SCALAR:
            if is_text(node):
                self._expand(node)
        elif node.kind == MAPPING:
            for key, value in node.content.items():
                if type(key) is OddKey:
                    raise BuildError(f"invalid map key: value='{key}', tag='!!int'")
                if is_text(value):
                    self._expand(value)
        else:
            for item in node.content:
                if not is_text(item):
                    raise BuildError("invalid value type expect a string")
                self._expand(item)

    def _expand(self, node: Node) -> None:
        value = self._replaced(node.value)
        node.style, node.explicit = "", False
        if isinstance(value, bool):
            node.value, node.tag = ("true" if value else "false"), "!!bool"
        elif isinstance(value, int):
            node.value, node.tag = str(value), "!!int"
        elif isinstance(value, float):
            node.value, node.tag = format(value, "f").rstrip("0").rstrip("."), "!!float"
        else:
            node.value, node.tag = value, STRING

    def _replaced(self, text: str) -> Any:
        if "$" not in text:
            return text
        pieces: list[str] = []
        place = total = 0
        while (dollar := text.find("$", place)) >= 0 and dollar + 1 < len(text):
            pieces.append(text[place:dollar])
            following = text[dollar + 1]
            if following == "(" and (end := text.find(")", dollar)) > 0:
                name = text[dollar + 2 : end]
                value = self._value(name)
                if text == f"$({name})":
                    return value
                pieces.append(_shown(value))
                place = end + 1
            else:
                pieces.append("$" if following == "$" else f"${following}")
                place = dollar + 2
            total += len(pieces[-1])
            if total > MAX_TEXT:
                raise BuildError(f"variables make a value with more than {MAX_TEXT} characters")
        return "".join(pieces) + text[place:]

    def _value(self, name: str) -> Any:
        if name not in self.values:
            return f"$({name})"
        value = self.values[name]
        if isinstance(value, str | bool | int | float):
            self.used.add(name)
            return value
        kind = "[]interface {}" if isinstance(value, list) else "map[string]interface {}"
        self.complaints.append(f"MakePrimitiveReplacer: bad replacement type={kind}")
        return f"$({name})"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return go_float(value) if isinstance(value, float) else str(value)
