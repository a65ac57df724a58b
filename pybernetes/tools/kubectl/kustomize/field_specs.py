"""Field specifications: which fields of which kinds a transformer changes."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.errors import BuildError, WrongKind, wrapped
from pybernetes.tools.kubectl.kustomize.resid import Gvk
from pybernetes.tools.kubectl.kustomize.yaml_nodes.node import MAPPING, SCALAR, SEQUENCE, Node, is_null, new
from pybernetes.tools.kubectl.kustomize.yaml_nodes.paths import lookup, split_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.resource import Resource

__all__ = ["FieldSpec", "WrongKind", "apply", "merge_all", "merge_one"]


class FieldSpec:
    """A path in objects of a kind, and whether it is made where it is missing."""

    __slots__ = ("gvk", "path", "create", "parts")

    def __init__(self, path: str, gvk: Gvk | None = None, create: bool = False) -> None:
        self.path, self.create = path, create
        self.gvk = gvk or Gvk()
        self.parts = split_path(path, "/")

    @classmethod
    def from_value(cls, value: dict[str, Any]) -> FieldSpec:
        """Return the specification of a configuration."""
        return cls(value.get("path", ""), Gvk.from_value(value), value.get("create", False))

    def to_value(self) -> dict[str, Any]:
        """Return it as a configuration has it."""
        value: dict[str, Any] = {"path": self.path} if self.path else {}
        if self.create:
            value["create"] = True
        names = zip(("group", "version", "kind"), self.gvk.parts(), strict=True)
        return {**value, **{name: part for name, part in names if part}}


def merge_one(specs: list[FieldSpec], other: FieldSpec) -> list[FieldSpec]:
    """Return specifications with one more, unless one says the same."""
    for spec in specs:
        if spec.path == other.path and spec.gvk.is_selected(other.gvk):
            if spec.create != other.create:
                raise BuildError("conflicting fieldspecs")
            return specs
    return [*specs, other]


def merge_all(specs: list[FieldSpec], others: Iterable[FieldSpec]) -> list[FieldSpec]:
    """Return specifications with more of them."""
    by_path: dict[str, list[FieldSpec]] = {}
    for spec in specs:
        by_path.setdefault(spec.path, []).append(spec)
    merged = list(specs)
    for other in others:
        alike = by_path.setdefault(other.path, [])
        if len(more := merge_one(alike, other)) > len(alike):
            by_path[other.path] = more
            merged.append(other)
    return merged


def apply(
    resource: Resource,
    spec: FieldSpec,
    change: Callable[[Node], None],
    make: int = 0,
    tag: str = "",
    gvk: Gvk | None = None,
) -> None:
    """Change the fields of an object that a specification names; ``make`` is the kind of those that are made."""
    node = resource.node
    if node is None or not resource.gvk.is_selected(gvk or spec.gvk):
        return
    try:
        _Walk(spec, change, make, tag).go(node, spec.parts)
    except BuildError as error:
        error.message = f"considering field '{spec.path}' of object {resource.id}: {error.message}"
        raise


class _Walk:
    def __init__(self, spec: FieldSpec, change: Callable[[Node], None], make: int, tag: str) -> None:
        self.create, self.change, self.make, self.tag = spec.create, change, make, tag

    def go(self, node: Node, parts: list[str]) -> None:
        if not parts:
            self.change(node)
        elif is_null(node):
            return
        elif node.kind == SEQUENCE:
            with wrapped(f"visit traversal on path: [{' '.join(parts)}]"):
                for item in node.content:
                    self.go(item, parts)
        elif node.kind == MAPPING:
            self._field(node, parts)
        else:
            raise BuildError("expected sequence or mapping node")

    def _field(self, node: Node, parts: list[str]) -> None:
        name = parts[0].removesuffix("[]")
        is_sequence = name != parts[0]
        if not name:
            raise BuildError("cannot set or create an empty field name")
        kind, tag, create = 0, "", 0
        if not self.create or not self.make or is_sequence:
            kind = SEQUENCE if is_sequence else 0
        elif len(parts) == 1:
            kind = create = self.make
            tag = self.tag
        else:
            kind = create = MAPPING
            tag = "!!map"
        field = node.content.get(name) if name[0] not in "[-*+0123456789" else None
        if field is None:
            if not create and (name[0] not in "[-*+0123456789" or name == "-"):
                return
            with wrapped(f"fieldName: {name}"):
                field = lookup(node, [name], create=create)
            if field is None:
                return
        if field.tag == "!!null" and kind:
            made = new(kind)
            made.tag, made.style, made.value = tag, field.style, field.value if kind == SCALAR else ""
            field.assign(made)
        self.go(field, parts[1:])
