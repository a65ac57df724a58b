"""Prints objects as KYAML: YAML with braces, brackets and quoted texts, so that indentation means nothing."""

from __future__ import annotations

import re

from pybernetes.api.text.go_format import quote
from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.output.json import dumps as json_dumps
from pybernetes.tools.kubectl.output.printers import Print, without_managed
from pybernetes.tools.kubectl.output.yaml.scalars import is_ambiguous

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object


_PLAIN_KEY = re.compile(r"\w[\w./-]*\Z")
# Words that some reader of YAML takes for something else than a text, in large or small letters.
_WORDS = frozenset({"null", "true", "false", "t", "f", "yes", "no", "y", "n", "on", "off", "inf", "nan"})


def dumps(value: Any, *, typed: bool = False) -> str:
    """Return a value as a KYAML document; the keys are sorted unless their order is that of a type."""
    kept = value if typed else _in_order(value)
    if isinstance(value, dict) and list(value) == ["type", "object"]:  # a watch event: its type comes first
        return (
            f"---\n{{\n  type: {_node(kept['type'], '  ')},\n  object: {_node(kept['object'], '  ')},\n}}\n"
        )
    return "---\n" + _node(kept, "") + "\n"


def _in_order(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _in_order(value[key]) for key in sorted(value)}
    return [_in_order(item) for item in value] if isinstance(value, list) else value


def _node(value: Any, indent: str) -> str:
    deeper = indent + "  "
    if isinstance(value, dict):
        if not value:
            return "{}"
        lines = [f"{deeper}{_key(key)}: {_node(value[key], deeper)},\n" for key in value]
        return "{\n" + "".join(lines) + indent + "}"
    if isinstance(value, list):
        if not value:
            return "[]"
        if all(isinstance(item, dict | list) for item in value):
            return "[" + ", ".join(_node(item, indent) for item in value) + "]"
        return "[\n" + "".join(f"{deeper}{_node(item, deeper)},\n" for item in value) + indent + "]"
    if isinstance(value, str) and "\n" in value:
        *lines, last = value.split("\n")
        parts = [_escape(line, deeper) + "\\n" for line in lines] + ([_escape(last, deeper)] if last else [])
        inner = "\\\n".join(parts)
        return '"\\\n' + inner + "\\\n" + deeper + '"'
    return _quoted(value) if isinstance(value, str) else _scalar(value)


def _escape(line: str, indent: str) -> str:
    body = _quoted(line)[1:-1]
    return f"{indent} {body}" if not body.startswith(" ") else f"{indent}\\{body}"


def _quoted(text: str) -> str:
    """Return a text in quotes, with Go's escapes for all but tabs."""
    return '"' + "\t".join(quote(part)[1:-1] for part in text.split("\t")) + '"'


def _scalar(value: Any) -> str:
    return "null" if value is None else json_dumps(value, indent=None)


def _key(key: str) -> str:
    plain = _PLAIN_KEY.match(key) and key.lower() not in _WORDS and not is_ambiguous(key)
    return key if plain else _quoted(key)


def printer(context: Context, managed: bool, typed: bool = False) -> Print:
    """Return a printer of objects as KYAML documents."""

    def show(value: Object) -> None:
        context.stdout.write(dumps(value if managed else without_managed(value), typed=typed))

    return show
