"""Checks that the writes of a kind have to pass although the verb is allowed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.request import Request

# Refuses, with a StatusError, a write by the user of a request: the new object, and the old one or None.
Check = Callable[[Request, Object, Object | None], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class WriteCheck:
    """What runs before and after the object of a write was found valid."""

    before: Check | None = None
    after: Check | None = None
