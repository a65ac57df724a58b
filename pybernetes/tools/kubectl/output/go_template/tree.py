"""The parts of a template, and the error that reading and running one raise."""

from __future__ import annotations

from typing import Any, NamedTuple


class TemplateError(ValueError):
    """The template cannot be read or run; the text begins with the place."""


class Place(NamedTuple):
    """Where something stands, and how it is written."""

    line: int
    column: int
    source: str


class Node(NamedTuple):
    """A part: its kind, its value and its place.

    text (str) · action, if, range, with (see parser) · template (name, pipe) · break · continue
    pipe (variables, assigns, commands) · command (operands)
    dot · nil · literal (value) · name (function) · variable (name, fields) · field (names) · chain (node, names)
    """

    kind: str
    value: Any
    place: Place


class Block(NamedTuple):
    """A condition or a loop: its pipe, what to do, and what to do otherwise."""

    pipe: Node
    body: list[Node]
    otherwise: list[Node]
