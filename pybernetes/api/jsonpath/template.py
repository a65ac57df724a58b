"""A JSONPath template that can be run on values."""

from __future__ import annotations

import re
from typing import Any

from pybernetes.api.jsonpath.comparison import JsonPathError
from pybernetes.api.jsonpath.nodes import MOST_VALUES, Loops
from pybernetes.api.jsonpath.parser import parse

_RELAXED = re.compile(r"^\{\.?([^{}]+)\}$|^\.?([^{}]+)$")


class JsonPath:
    """A template: text with {actions}, ``range`` and ``end`` among them; JsonPathError if it is none."""

    def __init__(self, text: str, allow_missing: bool = True, once: bool = False) -> None:
        self._actions = parse(text, allow_missing, once)

    def results(self, value: Any) -> list[list[Any]]:
        """Return what each action selects from a value; JsonPathError where the template does not fit it."""
        return _Run(self).results(0, value)


class _Run:
    """One run of a template: where its last range ended, and how much it may still do."""

    def __init__(self, template: JsonPath) -> None:
        self._actions = template._actions
        self._loops = Loops()
        self._end = -1
        self._left = MOST_VALUES

    def results(self, place: int, value: Any) -> list[list[Any]]:
        """Return what the actions from a place on select, until the ``end`` of the range that they are in.

        A range without an end goes on to the last action, and then those follow once more, for the value around it.
        """
        results: list[list[Any]] = []
        actions, loops = self._actions, self._loops
        while place < len(actions):
            self._left -= 1
            if self._left < 0:
                raise JsonPathError(f"more than {MOST_VALUES} values are selected")
            selected = actions[place].select([value], loops)
            if 0 < loops.ends <= loops.open:
                loops.ends -= 1
                self._end = place
                break
            if loops.begins:
                results += self._repeated(place, selected)
                place = max(place, self._end)
            else:
                results.append(selected)
            place += 1
        return results

    def _repeated(self, place: int, values: list[Any]) -> list[list[Any]]:
        results: list[list[Any]] = []
        loops = self._loops
        loops.begins -= 1
        loops.open += 1
        for value in values:
            results += self.results(place + 1, value)
        if not values:
            self.results(place + 1, None)  # to find the end
        loops.open -= 1
        return results


def relaxed(text: str) -> str:
    """Return a path, given with or without braces and leading dot, as ``{.path}``."""
    if not text:
        return text
    match = _RELAXED.match(text)
    if match is None:
        raise JsonPathError(
            "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'"
        )
    return "{." + (match[1] or match[2]) + "}"
