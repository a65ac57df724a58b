"""The elements of a path: ``f:name`` a field, ``k:{…}`` an item of a list by its keys, ``v:…`` by its value."""

from __future__ import annotations

from typing import Any

import orjson

from pybernetes.api.schema import Type
from pybernetes.api.text import go_format
from pybernetes.lib.memory.bounded_cache import bounded_cache

_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_TABLE = str.maketrans(_ESCAPED)
# Keys of list items that have a default beyond the empty value which every required key has.
_KEY_DEFAULTS = {("ContainerPort", "protocol"): "TCP", ("ServicePort", "protocol"): "TCP"}
_ZERO = {"string": "", "integer": 0, "number": 0, "boolean": False}


class ElementError(ValueError):
    """An item of a list has no name in a field set."""


def of_item(item: Any, type_: Type) -> str:
    """Return the element that names an item of a list whose items have an identity."""
    keys_of_type = type_.keys
    if not keys_of_type:
        return "v:" + encode(_set_member(item))
    if len(keys_of_type) == 1 and type(item) is dict:
        value = item.get(keys_of_type[0])
        if type(value) is str:
            return _by_one_key(keys_of_type[0], value)
    keys = {}
    if type(item) is not dict:
        what = "a null element" if item is None else "non-map elements"
        raise ElementError(f"associative list with keys may not have {what}")
    for name in sorted(type_.keys) if len(type_.keys) > 1 else type_.keys:
        value = item.get(name)
        if value is None:
            value = key_default(type_, name)
            if value is None:
                continue
        keys[name] = value
    if not keys:
        listed = " ".join(go_format.quote(name) for name in type_.keys)
        raise ElementError(
            f"associative list with keys has an element that omits all key fields [{listed}] "
            "(and doesn't have default values for any key fields)"
        )
    return "k:" + encode(keys)


@bounded_cache()
def _by_one_key(name: str, value: str) -> str:
    return "k:" + encode({name: value})


def key_default(type_: Type, name: str) -> Any:
    """Return the value that a key of a list's items has when it is left out, or None."""
    item = type_.item
    assert item is not None
    default = _KEY_DEFAULTS.get((item.name, name))
    if default is None and name in item.fields:
        field = item.fields[name]
        default = field.default
        if default is None and item.name and name in item.required:
            return _ZERO.get(field.kind)
    return default


def _set_member(item: Any) -> Any:
    if type(item) is dict:
        raise ElementError("associative list without keys has an element that's a map type")
    if type(item) is list:
        raise ElementError("not supported: associative list with lists as elements")
    if item is None:
        raise ElementError("associative list without keys has an element that's an explicit null")
    return item


def encode(value: Any) -> str:
    """Return JSON as Go writes it: no spaces, and the characters that mean something in HTML escaped."""
    if type(value) is float and value.is_integer():
        value = int(value)
    return escaped(orjson.dumps(value).decode())


def escaped(text: str) -> str:
    """Return JSON text with the characters escaped that mean something in HTML."""
    if "<" in text or ">" in text or "&" in text or not text.isascii():
        return text.translate(_TABLE)
    return text


def parse(element: str) -> str | None:
    """Return an element in clean form, None if its kind is unknown; raise ValueError if it is malformed."""
    kind, content = element[:2], element[2:]
    if kind == "f:":
        return element
    if kind in ("k:", "v:"):
        value = orjson.loads(content)
        if kind == "v:":
            return kind + encode(value)
        if type(value) is not dict:
            raise ValueError(f"expect an object in {element}")
        return kind + encode(dict(sorted(value.items())))
    if kind == "i:":
        return f"i:{int(content)}"
    if len(kind) < 2 or kind[1] != ":":
        raise ValueError(f"missing colon: {element}")
    return None


def order(element: str) -> tuple[Any, ...]:
    """Return a sort key, flat because a list can have many items: ``.``, fields by name, items by their keys, then values."""
    kind = element[:2]
    if kind == "k:":
        keys = orjson.loads(element[2:])
        return 2, *(part for name, value in keys.items() for part in (name, *_rank(value)))
    if kind == "v:":
        return 3, *_rank(orjson.loads(element[2:]))
    if kind == "i:":
        return 4, int(element[2:])
    return (1, element) if kind == "f:" else (0, element)


def _rank(value: Any) -> tuple[int, Any]:
    if type(value) is bool:
        return 2, value
    if type(value) in (int, float):
        return 0, value
    return (1, value) if type(value) is str else (3, str(value))


def text(path: tuple[str, ...]) -> str:
    """Return a path as messages show it: ``.spec.containers[name="a"].image``."""
    parts = []
    for element in path:
        kind, content = element[:2], element[2:]
        if kind == "k:":
            keys = orjson.loads(content)
            parts.append("[" + ",".join(f"{name}={_shown(value)}" for name, value in keys.items()) + "]")
        elif kind == "v:":
            parts.append(f"[={_shown(orjson.loads(content))}]")
        else:
            parts.append("." + content if kind == "f:" else f"[{content}]")
    return "".join(parts)


def _shown(value: Any) -> str:
    if type(value) is bool:
        return "true" if value else "false"
    if value is None:
        return "null"
    return go_format.quote(value) if type(value) is str else str(value)
