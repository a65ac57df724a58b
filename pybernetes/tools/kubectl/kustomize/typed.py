"""Reads configuration as Go's JSON reader would into its structs: names in any case, types checked, its complaints."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.errors import BuildError
from pybernetes.tools.kubectl.kustomize.types import STRUCTS

if TYPE_CHECKING:
    from typing import Any

_NAMES = {str: "string", bool: "bool", int: "number", float: "number", list: "array", dict: "object"}


def load(data: bytes) -> Any:
    """Return the value of a YAML text; keys that come twice are overlooked."""
    from pybernetes.api.text.yaml_reader import YamlError, loads

    try:
        return loads(data)[0]
    except YamlError as error:
        raise BuildError(str(error)) from None


def strict(value: Any, struct: str) -> dict[str, Any]:
    """Return a struct from a JSON value; refuse what has no field."""
    return _Reader(True, False).struct(value, struct)


def lenient(value: Any, struct: str) -> dict[str, Any]:
    """Return a struct from a YAML value: numbers become texts where texts are wanted, unknown fields do not count."""
    try:
        return _Reader(False, True).struct(value, struct)
    except BuildError as error:
        raise BuildError(f"error unmarshaling JSON: while decoding JSON: {error.message}") from None


def strict_yaml(value: Any, struct: str) -> dict[str, Any]:
    """Return a struct from a YAML value; refuse what has no field."""
    try:
        return _Reader(True, True).struct(value, struct)
    except BuildError as error:
        raise BuildError(f"error unmarshaling JSON: while decoding JSON: {error.message}") from None


class _Reader:
    def __init__(self, strict: bool, coerce: bool) -> None:
        self.strict, self.coerce = strict, coerce
        self.path: list[str] = []
        self.owner = ""

    def struct(self, value: Any, name: str) -> dict[str, Any]:
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self._wrong(value, f"types.{name}" if "." not in name else name)
        fields, before = STRUCTS[name], self.owner
        folded = {field.lower(): field for field in fields}
        result: dict[str, Any] = {}
        for key in value if self.coerce else sorted(value):
            field = key if key in fields else folded.get(key.lower())
            if field is None:
                if self.strict:
                    raise BuildError(f'json: unknown field "{key}"')
                continue
            self.owner = name.rpartition(".")[2]
            self.path.append(field)
            converted = self.value(value[key], fields[field])
            self.path.pop()
            if converted is not None:
                result[field] = converted
        self.owner = before
        return result

    def value(self, value: Any, kind: str) -> Any:
        if value is None:
            return None
        if kind == "string":
            if not isinstance(value, str):
                if self.coerce and isinstance(value, bool | int | float):
                    return _text(value)
                raise self._wrong(value, kind)
            return value
        if kind == "bool":
            if not isinstance(value, bool):
                raise self._wrong(value, kind)
            return value
        if kind in ("int", "int64"):
            if isinstance(value, bool) or not isinstance(value, int):
                raise self._wrong(value, kind)
            return value
        if kind == "any":
            return value
        if kind.startswith("[]"):
            if not isinstance(value, list):
                raise self._wrong(value, _go_type(kind))
            zero = "" if kind == "[]string" else {}
            return [zero if item is None else self.value(item, kind[2:]) for item in value]
        if kind == "map":
            if not isinstance(value, dict):
                raise self._wrong(value, "map[string]string")
            return {key: self.value(value[key], "string") or "" for key in sorted(value)}
        if kind == "object":
            if not isinstance(value, dict):
                raise self._wrong(value, "map[string]interface {}")
            return value
        return self.struct(value, kind)

    def _wrong(self, value: Any, kind: str) -> BuildError:
        name = _NAMES[type(value)]
        if isinstance(value, float) and kind.startswith("int"):
            name = f"number {_text(value)}"
        if not self.path:
            return BuildError(f"json: cannot unmarshal {name} into Go value of type {kind}")
        place = f"{self.owner}.{'.'.join(self.path)}"
        return BuildError(f"json: cannot unmarshal {name} into Go struct field {place} of type {kind}")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        from pybernetes.tools.kubectl.output.yaml.scalars import go_float

        return go_float(value)
    return str(value)


def _go_type(kind: str) -> str:
    inner = kind.removeprefix("[]")
    return kind if inner == "string" else f"[]types.{inner}"
