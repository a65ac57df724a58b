"""Writes nodes as YAML with their order and styles, for messages and for texts that hold YAML."""

from __future__ import annotations

import re

import yaml

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.yaml_nodes.node import MAPPING, SCALAR, SEQUENCE, STRING, Node, OddKey
from pybernetes.tools.kubectl.kustomize.yaml_nodes.resolving import resolve_tag
from pybernetes.tools.kubectl.output.yaml.library_writer import document

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _AtTheMargin(yaml.SafeDumper):
    """Closes a text in single quotes that ends with a line break at the margin, as the original does; the C library indents."""

    _indents: int | None = None  # how many lines of such a text are still to be indented

    def write_single_quoted(self, text: str, split: bool = True) -> None:
        if text.endswith("\n"):
            self._indents = len(re.findall("\n+", text)) - 1
        super().write_single_quoted(text, split)
        self._indents = None

    def write_indent(self) -> None:
        if self._indents == 0:
            return
        if self._indents is not None:
            self._indents -= 1
        super().write_indent()


def to_text(node: Node) -> str:
    """Return a node as a YAML document."""
    events = list(document(_events(node)))
    margin = any(
        type(event) is yaml.ScalarEvent and event.style == "'" and event.value.endswith("\n")
        for event in events
    )
    text: str = yaml.emit(
        events, Dumper=_AtTheMargin if margin else _Dumper, allow_unicode=True, width=1 << 30
    )
    return text.removesuffix("...\n")


def _events(node: Node) -> Iterator[Any]:
    if node.kind == MAPPING:
        yield yaml.MappingStartEvent(None, None, True, flow_style=not node.content or node.style == "{")
        for key, value in node.content.items():
            yield _scalar(Node(SCALAR, key, "" if type(key) is OddKey else STRING))
            yield from _events(value)
        yield yaml.MappingEndEvent()
    elif node.kind == SEQUENCE:
        yield yaml.SequenceStartEvent(None, None, True, flow_style=not node.content or node.style == "[")
        for item in node.content:
            yield from _events(item)
        yield yaml.SequenceEndEvent()
    else:
        yield _scalar(node)


def _scalar(node: Node) -> Any:
    tag, style = node.tag, node.style
    implied_tag = resolve_tag(node.value)
    forced = tag == STRING and implied_tag != STRING
    if tag and not node.explicit and (tag in (implied_tag, STRING)):
        tag = ""
    if not style:
        style = "|" if "\n" in node.value else '"' if forced else ""
    long_tag = f"tag:yaml.org,2002:{tag[2:]}" if tag.startswith("!!") else tag or None
    return yaml.ScalarEvent(None, long_tag, (not tag, not tag), node.value, style=style or None)
