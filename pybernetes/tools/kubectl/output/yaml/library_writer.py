"""Writes any value as YAML with the YAML library, in the style of the one that the original uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import yaml

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.output.yaml.scalars import is_ambiguous, json_number, ordered

if TYPE_CHECKING:
    from typing import Any


_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def dumps(value: Any) -> str:
    """Return a value as YAML."""
    text: str = yaml.emit(document(_node(value)), Dumper=_Dumper, allow_unicode=True)
    # A text that ends with empty lines would leave the document open; the original does not mind.
    return text.removesuffix("...\n") if isinstance(value, dict | list) else text


def document(events: Iterable[Any]) -> Iterator[Any]:
    """Return the events of a value as those of a stream with one document."""
    yield yaml.StreamStartEvent()
    yield yaml.DocumentStartEvent(explicit=False)
    yield from events
    yield yaml.DocumentEndEvent(explicit=False)
    yield yaml.StreamEndEvent()


def _node(value: Any) -> Iterator[Any]:
    if isinstance(value, str):
        yield _text(value)
    elif isinstance(value, dict):
        yield yaml.MappingStartEvent(None, None, True, flow_style=not value)
        for key in ordered(value):
            yield _text(str(key))
            yield from _node(value[key])
        yield yaml.MappingEndEvent()
    elif isinstance(value, list | tuple):
        yield yaml.SequenceStartEvent(None, None, True, flow_style=not value)
        for item in value:
            yield from _node(item)
        yield yaml.SequenceEndEvent()
    else:
        yield yaml.ScalarEvent(None, None, (True, True), _plain(value))


def _plain(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return json_number(value) if isinstance(value, float) else str(value)


def _text(value: str) -> Any:
    style = None
    if "\n" in value:
        style = "|"
    elif is_ambiguous(value):
        style = '"'
    return yaml.ScalarEvent(None, None, (style is None, True), value, style=style)
