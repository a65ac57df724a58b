"""A node of a YAML document: a scalar with its tag and style, a mapping or a sequence."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.yaml_nodes.resolving import resolve_tag

if TYPE_CHECKING:
    from typing import Any

NONE, SEQUENCE, MAPPING, SCALAR = 0, 2, 4, 8
KINDS = {SEQUENCE: "SequenceNode", MAPPING: "MappingNode", SCALAR: "ScalarNode", NONE: ""}
STRING, NULL, INTEGER, BOOLEAN = "!!str", "!!null", "!!int", "!!bool"


class OddKey(str):
    """A key that is written without quotes and is no text then, such as a number."""

    __slots__ = ()


class Node:
    """A value; ``content`` is a dict or a list, ``style`` the mark that a text begins with, nothing for a plain one."""

    __slots__ = ("kind", "value", "tag", "style", "explicit", "content")

    def __init__(
        self,
        kind: int,
        value: str = "",
        tag: str = "",
        style: str = "",
        content: Any = None,
        explicit: bool = False,
    ) -> None:
        self.kind, self.value, self.tag, self.style, self.explicit = kind, value, tag, style, explicit
        self.content = content

    def assign(self, other: Node) -> None:
        """Become another node, for all that hold this one."""
        self.kind, self.value, self.tag, self.style = other.kind, other.value, other.tag, other.style
        self.explicit, self.content = other.explicit, other.content

    def copy(self) -> Node:
        """Return a copy that shares nothing."""
        content = self.content
        if self.kind == MAPPING:
            content = {key: value.copy() for key, value in content.items()}
        elif self.kind == SEQUENCE:
            content = [item.copy() for item in content]
        return Node(self.kind, self.value, self.tag, self.style, content, self.explicit)

    @property
    def size(self) -> int:
        """How many entries it has."""
        return len(self.content) if self.content else 0

    def field(self, name: str) -> Node | None:
        """Return the value of a key of a mapping."""
        return self.content.get(name) if self.kind == MAPPING else None


def scalar(value: str, tag: str = "", style: str = "") -> Node:
    """Return a new scalar."""
    return Node(SCALAR, value, tag, style)


def text(value: str) -> Node:
    """Return a new scalar that is a text."""
    return Node(SCALAR, value, STRING, "|" if "\n" in value else "")


def mapping() -> Node:
    """Return a new mapping."""
    return Node(MAPPING, content={})


def new(kind: int) -> Node:
    """Return a new node of a kind."""
    return Node(kind, content={} if kind == MAPPING else [] if kind == SEQUENCE else None)


def is_null(node: Node | None) -> bool:
    """Return whether there is no node or one that says null."""
    return node is None or node.tag == NULL


def is_empty(node: Node | None) -> bool:
    """Return whether a node says nothing."""
    return node is None or node.tag == NULL or (node.kind in (MAPPING, SEQUENCE) and not node.content)


def is_text(node: Node) -> bool:
    """Return whether a node is a scalar that counts as a text."""
    return node.kind == SCALAR and node.tag in (STRING, "")


def value_of(node: Node | None) -> str:
    """Return the text of a scalar, nothing for null."""
    return "" if node is None or node.tag == NULL else node.value


def key(name: str, style: str = "") -> str:
    """Return a key for a mapping; one without quotes that would not be a text is odd."""
    return name if style or resolve_tag(name) == STRING else OddKey(name)
