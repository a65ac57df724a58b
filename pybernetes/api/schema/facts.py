"""What the JSON schemas do not say about a field: its protobuf number, whether its zero value counts, its values."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple


class Fact(NamedTuple):
    """One field of a message. ``inline`` names the message whose fields stand in its place in JSON."""

    name: str
    number: int
    pointer: bool = False  # zero is different from absent
    always: bool = False  # written even when empty
    inline: str = ""
    wrapped: bool = False  # a list that is a message of its own


@lru_cache(maxsize=1)
def _table() -> dict[str, str]:
    """Return the line of each message, by its definition's name."""
    lines_by_name: dict[str, str] = {}
    package = ""
    for line in files(__package__).joinpath("fields.txt").read_text().splitlines():
        if line.startswith("["):
            package, _, other = line[1:-1].partition("=")
            if other:
                start = f"{other}."
                lines_by_name |= {
                    f"{package}.{name[len(start) :]}": fields
                    for name, fields in lines_by_name.items()
                    if name.startswith(start)
                }
        elif line and line[0] != "#":
            name, _, fields = line.partition(" ")
            lines_by_name[f"{package}.{name}"] = fields
    return lines_by_name


@cache
def message(name: str) -> tuple[Fact, ...]:
    """Return the fields of a message as they are numbered; empty if nothing is known of it."""
    facts = []
    number = 0
    package = name.rpartition(".")[0]
    for item in _table().get(name, "").split():
        field, _, given = item.partition("=")
        number = int(given) if given else number + 1
        if field[0] == "+":
            inline = field[1:] if "." in field else f"{package}.{field[1:]}"
            facts.append(Fact("", number, inline=inline))
        else:
            plain = field.rstrip("*!@")
            marks = field[len(plain) :]
            facts.append(Fact(plain, number, "*" in marks, "!" in marks, wrapped="@" in marks))
    return tuple(facts)


@cache
def always(name: str) -> frozenset[str]:
    """Return the fields of a message that Go writes even when they are empty."""
    return _gathered(name, always, lambda fact: fact.always)


@cache
def droppable(name: str) -> frozenset[str]:
    """Return the fields of a message that Go leaves out when they are zero."""
    return _gathered(name, droppable, lambda fact: not (fact.pointer or fact.always))


def _gathered(
    name: str, gather: Callable[[str], frozenset[str]], wanted: Callable[[Fact], bool]
) -> frozenset[str]:
    """Return the wanted fields of a message, with those that ``gather`` finds in messages that are inlined."""
    fields: set[str] = set()
    for fact in message(name):
        if fact.inline:
            fields |= gather(fact.inline)
        elif wanted(fact):
            fields.add(fact.name)
    return frozenset(fields)


@lru_cache(maxsize=1)
def enums() -> dict[str, dict[str, list[str]]]:
    """Return the values that fields can have, by definition and field; ``[]`` and ``{}`` stand for what is inside."""
    enums_by_definition: dict[str, dict[str, list[str]]] = {}
    for line in files(__package__).joinpath("enums.txt").read_text().splitlines():
        if line[0] == "#":
            continue
        places, _, values = line.partition(": ")
        for place in places.split():
            name, _, field = place.rpartition(".")
            full = name if name.startswith("io.") else f"io.k8s.api.{name}"
            enums_by_definition.setdefault(full, {})[field] = sorted(
                value.strip() for value in values.split(",")
            )
    return enums_by_definition
