"""explain: documents the fields of a type, from the server's schema."""

from __future__ import annotations

import re

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, NoMatch, Verbatim
from pybernetes.tools.kubectl.resources.discovery import Resource

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Get documentation for a resource"
USAGE = "explain TYPE [--recursive=FALSE|TRUE] [--api-version=api-version-group] [-o|--output=plaintext|plaintext-openapiv2]"
FLAGS = ("""
- api-version string | version (group/version) to explain
- max-depth int 0 | with --recursive, so many levels; 0 is all
o output string plaintext | Format in which to render the schema. Valid values are: (plaintext, plaintext-openapiv2).
- recursive bool false | show the fields of fields
""",)  # fmt: skip


def run(context: Context) -> None:
    """Print the description of a field from the schema."""
    flags = context.flags
    if not context.args:
        raise CommandError(
            'You must specify the type of resource to explain. Use "kubectl api-resources" for a complete list of '
            "supported resources.\n"
        )
    if len(context.args) > 1:
        raise CommandError("We accept only this format: explain RESOURCE\n")
    if flags.max_depth and not flags.recursive:
        raise CommandError("--max-depth requires --recursive")
    if flags.max_depth < 0:
        raise CommandError("--max-depth must be non-negative")
    if flags.output not in ("plaintext", "plaintext-openapiv2"):
        raise CommandError(f"unrecognized format: {flags.output}")
    resource, path = _find(context)
    document = _document(context, resource)
    schema = _schema(document, resource)
    if flags.output == "plaintext-openapiv2":
        from pybernetes.tools.kubectl.commands._explain_v2 import explained

        context.stdout.write(explained(document, schema, resource, path, flags.recursive, flags.max_depth))
        return
    if resource.group:
        context.out(f"GROUP:      {resource.group}")
    context.out(f"KIND:       {resource.kind}")
    context.out(f"VERSION:    {resource.version}\n")
    text = _Explainer(document, flags.recursive, flags.max_depth).output(schema, path)
    if not text:
        raise CommandError(f'field "{path[-1]}" does not exist')
    context.stdout.write(text + "\n")


def _find(context: Context) -> tuple[Resource, list[str]]:
    """Return the resource and the path in it that the argument means: a resource may be followed by its whole group."""
    argument, version = context.args[0], context.flags.api_version
    words = [word for word in argument.split(".") if word]
    if not words:
        raise CommandError("a resource must be present, got: /, Resource=")
    if argument.startswith(".") or "[" in argument:
        raise CommandError("invalid jsonpath syntax, first node must be field node")
    try:
        resource = context.discovery.find(words[0], attempts=2)
    except NoMatch as error:
        raise Verbatim(error.message) from None
    known = context.discovery.resources()
    if not version:
        named = [
            other
            for other in known
            if other.plural == resource.plural and argument.startswith(other.full_name)
        ]
        for other in named:
            return other, [word for word in argument[len(other.full_name) :].split(".") if word]
        return resource, words[1:]
    group, _, name = version.rpartition("/")
    for other in known:
        if other.kind == resource.kind and (other.group, other.version) == (group, name):
            return other, words[1:]
    old = context.flags.output == "plaintext-openapiv2"
    wanted = f"Kind={resource.kind}" if old else f"Resource={resource.plural}"
    raise CommandError(f'couldn\'t find resource for "{group}/{name}, {wanted}"')


def _document(context: Context, resource: Resource) -> Object:
    index = context.client.json("GET", "/openapi/v3")
    key = f"apis/{resource.api_version}" if resource.group else f"api/{resource.version}"
    entry = (index.get("paths") or {}).get(key)
    if entry is None:
        raise CommandError(f"couldn't find the schema of {resource.api_version}")
    path, _, query = entry["serverRelativeURL"].partition("?")
    return context.client.json("GET", f"{path}?{query}" if query else path)


def _schema(document: Object, resource: Resource) -> Object:
    wanted = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    for schema in ((document.get("components") or {}).get("schemas") or {}).values():
        if wanted in (schema.get("x-kubernetes-group-version-kind") or ()):
            return schema
    raise CommandError(f"GVK {wanted} not found in OpenAPI schema")


class _Explainer:
    def __init__(self, document: Object, recursive: bool, depth: int) -> None:
        self._schemas = (document.get("components") or {}).get("schemas") or {}
        self._recursive, self._depth = recursive, depth

    def _resolved(self, schema: Object) -> Object:
        reference = schema.get("$ref")
        return self._schemas.get(reference.rpartition("/")[2]) or schema if reference else schema

    def output(self, schema: Object, path: list[str], history: frozenset[str] = frozenset()) -> str:
        """Return the text about the field at a path; an empty one if there is no such field."""
        resolved = self._resolved(schema)
        if not path:
            text = "DESCRIPTION:\n" + indent(wrap(self._description(schema) or "<empty>", 76), 4) + "\n"
            fields = self._fields(resolved, 1, frozenset())
            return text + (f"FIELDS:\n{fields}" if fields else "")
        reference = schema.get("$ref", "")
        if reference in history:
            return ""
        deeper = history | {reference} if reference else history
        inner = (resolved.get("properties") or {}).get(path[0])
        if inner is not None:
            text = ""
            if len(path) == 1:
                text = f"FIELD: {path[0]} <{self._type(inner)}>\n{_enum(inner, long=True)}\n\n"
            rest = self.output(inner, path[1:])
            return text + rest if rest else ""
        for key in ("items", "additionalProperties"):
            if isinstance(resolved.get(key), dict):
                return self.output(resolved[key], path, deeper)
        for part in resolved.get("allOf") or ():
            if described := self.output(part, path, deeper):
                return described
        return ""

    def _description(self, schema: Object) -> str:
        resolved = self._resolved(schema)
        text = f"{resolved['description']}\n" if resolved.get("description") else ""
        for part in resolved.get("allOf") or ():
            text += self._description(part)
        for key in ("items", "additionalProperties"):
            if isinstance(resolved.get(key), dict):
                text += self._description(resolved[key])
        return text

    def _fields(self, schema: Object, level: int, history: frozenset[str]) -> str:
        reference = schema.get("$ref", "")
        if reference in history:
            return ""
        deeper = history | {reference} if reference else history
        resolved = self._resolved(schema)
        text = ""
        for name, value in sorted((resolved.get("properties") or {}).items()):
            text += self._detail(resolved, name, value, level)
            if self._recursive and (not self._depth or level < self._depth):
                text += self._fields(value, level + 1, deeper)
        for part in resolved.get("allOf") or ():
            text += self._fields(part, level, deeper)
        for key in ("items", "additionalProperties"):
            if isinstance(resolved.get(key), dict):
                text += self._fields(resolved[key], level, deeper)
        return text

    def _detail(self, schema: Object, name: str, value: Object, level: int) -> str:
        space = level * 2
        required = " -required-" if name in (schema.get("required") or ()) else ""
        text = (
            f"{' ' * space}{name}\t<{self._type(value)}>{required}{_enum(value, long=False, space=space)}\n"
        )
        if self._recursive:
            return text
        words = value.get("description") or "<no description>"
        return text + indent(wrap(words, 78 - space), space + 2) + "\n\n"

    def _type(self, schema: Object) -> str:
        if schema.get("items"):
            return f"[]{self._type(schema['items'])}"
        if isinstance(schema.get("additionalProperties"), dict) and schema["additionalProperties"]:
            return f"map[string]{self._type(schema['additionalProperties'])}"
        parts = schema.get("allOf") or []
        if len(parts) == 1 and not schema.get("properties"):
            return self._type(parts[0])
        if schema.get("$ref"):
            kind = self._resolved(schema).get("type")
            return schema["$ref"].rpartition("/")[2].rpartition(".")[2] if kind in (None, "object") else kind
        kind = schema.get("type") or "Object"
        return "Object" if kind == "object" else kind


def _enum(schema: Object, *, long: bool, space: int = 0) -> str:
    values = ['""' if value == "" else str(value) for value in schema.get("enum") or ()]
    if not values:
        return ""
    if long:
        return "ENUM:" + "".join(f"\n    {value}" for value in values)
    return f"\n{' ' * space}enum: " + ", ".join(values[:4]) + (", ...." if len(values) > 4 else "")


def indent(text: str, count: int) -> str:
    """Return the text with this many spaces before each line."""
    return "\n".join(" " * count + line for line in text.split("\n"))


def wrap(text: str, width: int) -> str:
    """Return the text in lines of a width; lines that are there stay."""
    return "\n".join(_wrapped(line, width) for line in text.split("\n"))


def _wrapped(line: str, width: int) -> str:
    out, current, space = "", 0, ""
    for word in re.findall(r"\s+|\S+", line):
        if word.isspace():
            space = word
            continue
        if current + len(space) + min(len(word), width - 1) > width:
            out += f"\n{word}"
            current = len(word)
        else:
            out += space + word
            current += len(space) + len(word)
        space = ""
    return out
