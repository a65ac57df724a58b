"""Objects that are nearly right: JSON values changed at one or a few places."""

from __future__ import annotations

from copy import deepcopy
from random import Random
from typing import Any

# What no field expects, or nearly what some expect.
_STRANGE: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**31, 2**63 - 1, -(2**63), 2**64 - 1, 1.5, 1e300, "", "a", "A", "-", ".", "..", "../x", "/", "é", "\u0000", "\ud7ff",
    "a" * 64, "a" * 254, "x" * 5000, "0", "-1", "1Gi", "1e999", "10%", "true", "null", "v1", "*", "10.0.0.1", "::1", "10.0.0.0/8", "2026-01-02T03:04:05Z",
    "0001-01-01T00:00:00Z", "99999-01-01T00:00:00Z", "{{}}", "$(A)", "Always", "Never", "TCP", "Exists", "kube-system", "default", "fuzz-0",
    "example.com/a", "self.x > 1", "a=b,c in (d)", "https://127.0.0.1:9/", [], {}, [[]], [{}], {"": ""}, [None], {"a": None}, [1, "a"], {"a": {"b": {}}},
)  # fmt: skip


def mutated(random: Random, value: Any, others: list[Any]) -> Any:
    """Return a copy with a few changes; parts may come from other objects."""
    value = deepcopy(value)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        places = _places(value)
        if not places:
            return random.choice(_STRANGE)
        parent, key = random.choice(places)
        _change(random, parent, key, others)
    return value


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return every place of a value, as the object or list that holds it and the key."""
    places: list[tuple[Any, Any]] = []
    rest = [value]
    while rest:
        parent = rest.pop()
        items = parent.items() if isinstance(parent, dict) else enumerate(parent)
        for key, item in items:
            places.append((parent, key))
            if isinstance(item, dict | list):
                rest.append(item)
    return places


def _change(random: Random, parent: Any, key: Any, others: list[Any]) -> None:
    choice = random.randrange(8)
    if choice == 0:
        del parent[key]
    elif choice <= 3:
        parent[key] = deepcopy(random.choice(_STRANGE))
    elif choice == 4:
        parent[key] = deepcopy(_part(random, random.choice(others)))
    elif choice == 5 and isinstance(parent, list):
        parent += [deepcopy(parent[key]) for _ in range(random.choice((1, 2, 30)))]
    elif choice == 6 and isinstance(parent[key], str):
        parent[key] = _text(random, parent[key])
    elif isinstance(parent, dict):
        name = random.choice((key, key.upper(), key + "s", "unknown", "", "metadata", "spec", "name"))
        parent[name] = deepcopy(random.choice((parent[key], random.choice(_STRANGE))))
    else:
        parent[key] = deepcopy(random.choice(_STRANGE))


def _part(random: Random, value: Any) -> Any:
    """Return a part of a value, at any depth."""
    places = _places(value) if isinstance(value, dict | list) else []
    if not places:
        return value
    parent, key = random.choice(places)
    return parent[key]


def _text(random: Random, text: str) -> str:
    at = random.randrange(len(text) + 1)
    return (
        text[:at]
        + random.choice(("-", ".", "/", "A", "é", " ", "\n", "0", "%", "x" * 300, ",", "="))
        + text[at:]
    )
