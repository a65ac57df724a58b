"""What is found: a sentence, what it follows from, and the objects that it is about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pybernetes.api.resource import Object
from pybernetes.client.refs import Ref

# Whatever objects say is cut: one of them must not fill a screen.
_LONGEST = 600
_MOST = 40


class Link(NamedTuple):
    """An object to look at."""

    kind: str
    name: str
    namespace: str = ""
    group: str = ""

    def __str__(self) -> str:
        word = f"{self.kind.lower()}/{self.name}"
        return f"{word} in {self.namespace}" if self.namespace else word


class NodeGroup(NamedTuple):
    """Nodes that a filter of the scheduler turns down for one reason."""

    plugin: str
    reason: str
    nodes: tuple[str, ...]


@dataclass(slots=True)
class Finding:
    """Something that was found out: a cause, or else (``cause`` is false) something worth knowing."""

    title: str
    details: list[str] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    command: str = ""  # what shows more of it, or helps
    cause: bool = True
    nodes: list[NodeGroup] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        return {
            "title": shortened(self.title),
            "cause": self.cause,
            "details": [shortened(text) for text in self.details[:_MOST]],
            "links": [link._asdict() for link in self.links[:_MOST]],
            "command": self.command,
            "nodes": [
                {"plugin": group.plugin, "reason": shortened(group.reason), "nodes": list(group.nodes)}
                for group in self.nodes
            ],
        }


@dataclass(slots=True)
class Answer:
    """The answer to a question: what is asked, in a word how it stands, and what was found."""

    about: Link
    state: str
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what could not be looked at

    def as_json(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        return {
            "about": self.about._asdict(),
            "state": shortened(self.state),
            "findings": [finding.as_json() for finding in self.findings],
            "notes": [shortened(note) for note in self.notes],
        }


def link(ref: Ref, name: str, namespace: str = "") -> Link:
    """Return the link to an object of a kind."""
    return Link(ref.kind, name, namespace if ref.namespaced else "", ref.group)


def link_of(ref: Ref, obj: Object) -> Link:
    """Return the link to an object."""
    return link(ref, obj["metadata"]["name"], obj["metadata"].get("namespace", ""))


def shortened(text: str) -> str:
    """Return a text that is not too long."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def listed(names: Iterable[str], most: int = 5) -> str:
    """Return names as a sentence has them."""
    known: Sequence[str] = list(names)
    more = len(known) - most
    return ", ".join(known[:most]) + (f" and {more} more" if more > 0 else "")
