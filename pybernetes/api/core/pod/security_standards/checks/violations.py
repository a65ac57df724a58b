"""Violations, and what the checks that find them share: the walk over containers and the wording."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from pybernetes.api.resource import Object


class Violation(NamedTuple):
    """Why a pod is not let in, in short and in detail."""

    reason: str
    detail: str


def containers(spec: Object) -> Iterator[Object]:
    """Return every container, in the order in which messages name them."""
    for key in ("initContainers", "containers", "ephemeralContainers"):
        yield from spec.get(key) or ()


def context(holder: Object) -> Object:
    """Return the security context of a pod's specification or of a container."""
    return holder.get("securityContext") or {}


def quoted(items: Iterable[str]) -> str:
    """Return the names in quotes, separated by commas."""
    return ", ".join(f'"{item}"' for item in items)


def plural(word: str, items: Sequence[Any] | set[Any]) -> str:
    """Return the word for one thing or for several."""
    return word if len(items) == 1 else word + "s"


def named(names: Sequence[str], word: str = "container") -> str:
    """Return ``container "a"`` or ``containers "a", "b"``."""
    return f"{plural(word, names)} {quoted(names)}"


def setters(pod: bool, names: Sequence[str]) -> str:
    """Return who set something wrong: the pod, containers, or both."""
    return " and ".join([*(["pod"] if pod else []), *([named(names)] if names else [])])


def in_user_namespace(spec: Object) -> bool:
    """Return whether root in the pod is nobody on the host."""
    return spec.get("hostUsers") is False


def is_windows(spec: Object) -> bool:
    """Return whether the pod says that it is for Windows."""
    return (spec.get("os") or {}).get("name") == "windows"
