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
    """Return the command line: sorted, an argument of the user's instead of ours, as often as it was given."""
    names = {name for name, _ in over}
    merged = [(name, text) for name, text in defaults.items() if name not in names] + list(over)
    return [f"--{name}={text}" for name, text in sorted(merged, key=lambda argument: argument[0])]
