"""JSON patches on objects."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize import typed
from pybernetes.tools.kubectl.kustomize.errors import BuildError
from pybernetes.tools.kubectl.kustomize.resource import DOMAIN, Resource
from pybernetes.tools.kubectl.kustomize.yaml_nodes.values import from_value

if TYPE_CHECKING:
    from typing import Any


def decode(text: str) -> list[Any]:
    """Return the operations of a patch in JSON or YAML."""
    if not text:
        raise BuildError("empty json patch operations")
    if text[0] == "[":
        from pybernetes.api.text.json_reader import JsonError, loads

        try:
            value = loads(text.encode())
        except JsonError as error:
            raise BuildError(error.plain) from None
    else:
        value = typed.load(text.encode())
    if value is None:
        return []
    if not isinstance(value, list):
        raise _wrong(value, "jsonpatch.Patch")
    for operation in value:
        if not isinstance(operation, dict):
            raise _wrong(operation, "jsonpatch.Operation")
    return value


def _wrong(value: Any, kind: str) -> BuildError:
    names = {str: "string", bool: "bool", int: "number", float: "number", dict: "object", list: "array"}
    return BuildError(f"json: cannot unmarshal {names[type(value)]} into Go value of type {kind}")


def apply_patch(resource: Resource, operations: list[Any]) -> None:
    """Apply operations to an object; what the build remembers of it stays."""
    from pybernetes.api.patch.json_patch import DoesNotApply, run

    remembered = {name: value for name, value in resource.annotations.items() if name.startswith(DOMAIN)}
    try:
        changed = run(resource.value(), operations)
    except DoesNotApply as error:
        raise BuildError(str(error)) from None
    if not isinstance(changed, dict):
        raise _wrong(changed, "map[string]interface {}")
    resource.node = from_value(changed)
    resource.set_map("annotations", {**resource.annotations, **remembered})
