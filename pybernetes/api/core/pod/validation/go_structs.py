"""Parts of a PodSpec as Go holds and prints them: every field by its Go name and in order, absent ones null."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.api.text import go_format

_ZERO: dict[str, Any] = {"s": "", "i": 0, "b": False, "q": "0", "n": None}
_METADATA = ("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation",
             "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations",
             "ownerReferences", "finalizers", "managedFields")  # fmt: skip
_SELECTOR = ("matchLabels", "matchExpressions")
_REQUIREMENT = ("key", "operator", "values")


@lru_cache(maxsize=1)
def _table() -> dict[str, str]:
    text = files(__package__).joinpath("go_structs.txt").read_text()
    lines = (line.partition(" ") for line in text.splitlines() if line and line[0] != "#")
    return {name: fields for name, _, fields in lines}


@cache
def _fields(struct: str) -> tuple[tuple[str, str, str], ...]:
    """Return of each field the Go name, the name in the API, and what it holds."""
    rows = []
    for item in _table()[struct].split():
        names, _, form = item.partition(":")
        name, _, key = names.partition("=")
        rows.append((name, key or name[0].lower() + name[1:], form))
    return tuple(rows)


def _in_order(value: Object, keys: tuple[str, ...]) -> go_format.Struct:
    return go_format.Struct({key: value[key] for key in keys if key in value})


def selector(value: Object | None) -> go_format.Struct | None:
    """Return a label selector with its fields in order."""
    if value is None:
        return None
    shown = _in_order(value, _SELECTOR)
    if "matchExpressions" in shown:
        shown["matchExpressions"] = [_in_order(item, _REQUIREMENT) for item in shown["matchExpressions"]]
    return shown


def show(struct: str, value: Object) -> go_format.Struct:
    """Return a value as the struct of that name."""
    shown = go_format.Struct()
    for name, key, form in _fields(struct):
        held = value.get(key)
        if form in _ZERO:
            empty = _ZERO[form] if held is None else held
            shown[name] = dict(sorted(held.items())) if type(held) is dict else empty
        elif form == "selector":
            shown[name] = selector(held)
        elif form == "+":
            shown.update(_in_order(held or {}, _METADATA))
        elif form[0] == "*":
            shown[name] = None if held is None else show(form[1:], held)
        elif form[0] == "[":
            shown[name] = [show(form[2:], item) for item in held] if held else None
        else:
            shown[name] = show(form, held or {})
    return shown


def difference(struct: str, old: Object, new: Object) -> str:
    """Return the lines in which two values differ, as a unified diff."""
    return go_format.difference(show(struct, old), show(struct, new))
