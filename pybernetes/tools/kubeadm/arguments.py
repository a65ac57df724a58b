"""Command lines of components: defaults with the user's own arguments over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Arguments = list[tuple[str, str]]


def given(listed: Iterable[Mapping[str, Any]] | None) -> Arguments:
    """Return the arguments of a configuration."""
    return [(argument["name"], argument.get("value", "")) for argument in listed or ()]


def value(listed: Iterable[Mapping[str, Any]] | None, name: str) -> str | None:
    """Return the last value that a configuration gives an argument; None if it gives none."""
    return next((text for key, text in reversed(given(listed)) if key == name), None)


def command(defaults: Mapping[str, str], over: Arguments) -> list[str]:
    """Return the command line: ours, sorted, then the user's as they were given, which replace ours of the same name."""
    names = {name for name, _ in over}
    ours = sorted((name, text) for name, text in defaults.items() if name not in names)
    return [f"--{name}={text}" for name, text in (*ours, *over)]
