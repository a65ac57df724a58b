"""Prints objects as KYAML: YAML with braces, brackets and quoted texts, so that indentation means nothing."""

from __future__ import annotations

import re

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.output.json import dumps as json_dumps
from pybernetes.tools.kubectl.output.printers import Print, without_managed
from pybernetes.tools.kubectl.output.yaml.scalars import is_ambiguous

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object


_PLAIN_KEY = re.compile(r"[A-Za-z_][\w./-]*\Z")


def dumps(value: Any) -> str:
    """Return a value as a KYAML document."""
    if isinstance(value, dict) and list(value) == ["type", "object"]:  # a watch event: its type comes first
        return (
            f"---\n{{\n  type: {_node(value['type'], '  ')},\n  object: {_node(value['object'], '  ')},\n}}\n"
        )
    return "---\n" + _node(value, "") + "\n"


def _node(value: Any, indent: str) -> str:
    deeper = indent + "  "
    if isinstance(value, dict):
        if not value:
            return "{}"
        lines = [f"{deeper}{_key(key)}: {_node(value[key], deeper)},\n" for key in sorted(value)]
        return "{\n" + "".join(lines) + indent + "}"
    if isinstance(value, list):
        if not value:
            return "[]"
        if all(isinstance(item, dict | list) and item for item in value):
            return "[" + ", ".join(_node(item, indent) for item in value) + "]"
        return "[\n" + "".join(f"{deeper}{_node(item, deeper)},\n" for item in value) + indent + "]"
    if isinstance(value, str) and "\n" in value:
        lines = value.split("\n")
        inner = "\\n\\\n".join([*(_escape(line, deeper) for line in lines)])
        return '"\\\n' + inner + "\\\n" + deeper + '"'
    return json_dumps(value, indent=None) if isinstance(value, str) else _scalar(value)


def _escape(line: str, indent: str) -> str:
    body = line.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
    return f"{indent} {body}" if not body.startswith(" ") else f"{indent}\\{body}"


def _scalar(value: Any) -> str:
    return "null" if value is None else json_dumps(value, indent=None)


def _key(key: str) -> str:
    return key if _PLAIN_KEY.match(key) and not is_ambiguous(key) else json_dumps(key, indent=None)


def printer(context: Context, managed: bool) -> Print:
    """Return a printer of objects as KYAML documents."""

    def show(value: Object) -> None:
        context.stdout.write(dumps(value if managed else without_managed(value)))

    return show
