"""explain in the form that it had before OpenAPI v3: ``-o plaintext-openapiv2``."""

from __future__ import annotations

import re

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pybernetes.api.resource import Object
    from pybernetes.tools.kubectl.resources.discovery import Resource

_WIDTH = 80
_BULLET = re.compile(r"(\d+\.?|-|\*)\s")


def explained(
    document: Object, schema: Object, resource: Resource, path: list[str], recursive: bool, depth: int
) -> str:
    """Return the text about the field at a path."""
    model = _Model((document.get("components") or {}).get("schemas") or {}, recursive, depth)
    lines = [f"KIND:     {resource.kind}", f"VERSION:  {resource.api_version}", ""]
    field = model.at(schema, path)
    described, inner = model.through(field)
    if path and (inner.get("properties") or model.type_name(inner)):
        word = "RESOURCE" if inner.get("properties") else "FIELD   "
        lines += [f"{word.strip() + ':':<9} {path[-1]} <{model.type_name(field)}>", ""]
    lines.append("DESCRIPTION:")
    for place, text in enumerate(described):
        if text:
            lines += [""] * bool(place) + _wrapped(text, 5)
    if not any(described):
        lines.append("     <empty>")
    if inner.get("properties"):
        lines += ["", "FIELDS:", *model.fields(inner, 3, 1, frozenset())]
    return "\n".join(lines) + "\n"


class _Model:
    """The schemas of a document."""

    def __init__(self, schemas: Object, recursive: bool, depth: int) -> None:
        self._schemas, self._recursive, self._depth = schemas, recursive, depth

    def _next(self, schema: Object) -> tuple[str, Object] | None:
        """Return what a schema leads to, and by which reference: its target, or its items."""
        parts: list[Object] = schema.get("allOf") or []
        reference = schema.get("$ref") or (parts[0].get("$ref") if len(parts) == 1 else "")
        if reference:
            return reference, self._schemas.get(reference.rpartition("/")[2]) or {}
        for key in ("items", "additionalProperties"):
            if isinstance(schema.get(key), dict):
                return "", schema[key]
        return None

    def through(self, schema: Object) -> tuple[list[str], Object]:
        """Return the descriptions on the way to the kind that a schema is of, and the kind."""
        texts = [schema.get("description") or ""]
        while (following := self._next(schema)) is not None:
            schema = following[1]
            texts.append(schema.get("description") or "")
        return texts, schema

    def at(self, schema: Object, path: list[str]) -> Object:
        """Return the schema of the field at a path."""
        for name in path:
            _, kind = self.through(schema)
            field = (kind.get("properties") or {}).get(name)
            if field is None:
                raise CommandError(f'field "{name}" does not exist')
            schema = field
        return schema

    def type_name(self, schema: Object) -> str:
        """Return the type of a field as it is shown."""
        if isinstance(schema.get("items"), dict):
            return f"[]{self.type_name(schema['items'])}"
        if isinstance(schema.get("additionalProperties"), dict):
            return f"map[string]{self.type_name(schema['additionalProperties'])}"
        following = self._next(schema)
        if following is not None:
            return self.type_name(following[1])
        if schema.get("type") == "object":
            return "Object" if "properties" in schema else "map[string]"
        return schema.get("type") or ("string" if schema.get("oneOf") else "")

    def fields(self, kind: Object, indent: int, level: int, seen: frozenset[str]) -> Iterator[str]:
        """Yield the lines about the fields of a kind."""
        required = kind.get("required") or ()
        for name, field in sorted((kind.get("properties") or {}).items()):
            mark = " -required-" if name in required and not self._recursive else ""
            yield f"{' ' * indent}{name}\t<{self.type_name(field)}>{mark}"
            if not self._recursive:
                yield from _wrapped(field.get("description") or "", indent + 2)
                yield ""
            elif not self._depth or level < self._depth:
                yield from self._inner(field, indent, level, seen)

    def _inner(self, schema: Object, indent: int, level: int, seen: frozenset[str]) -> Iterator[str]:
        while (following := self._next(schema)) is not None:
            reference, schema = following
            if reference and reference in seen:
                return
            seen = seen | {reference} if reference else seen
        yield from self.fields(schema, indent + 3, level + 1, seen)


def _wrapped(text: str, indent: int) -> list[str]:
    """Return a text in indented lines; lists, code and empty lines stay as they are."""
    lines: list[str] = []
    width, line, last = _WIDTH - indent, "", ""
    for source in text.split("\n"):
        empty = not source.strip()
        parts = empty and bool(lines)  # one after a text of one line is not shown
        code = source.startswith("    ")
        if line and (code or empty or last.endswith(":") or _BULLET.match(source.strip())):
            lines.append(line)
            line = last = ""
        if code or parts:
            lines.append(source if code else "")
            continue
        for word in source.split():
            last = word
            if line and len(line) + 1 + len(word) > width:
                lines.append(line)
                line = word
            else:
                line = f"{line} {word}" if line else word
    if line:
        lines.append(line)
    return [" " * indent + part if part else "" for part in lines]
