"""What happens to requests and answers on their way: a file for each type of filter, found by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway.checks import Unsupported
from pybernetes.control_plane.gateway.model import Changes
from pybernetes.lib.discover import discover


@dataclass(frozen=True, slots=True)
class Filter:
    """A type of filter: the field that configures it, and what it does; it may look up a backend."""

    type: str
    field: str
    change: Callable[[Object, Changes, Callable[[Object], str]], Changes]
    per_backend: bool = False  # whether it can be for a part of the requests


@cache
def _filters() -> dict[str, Filter]:
    return discover(__name__, "FILTER", lambda filter_: filter_.type)


def changes(
    filters: Iterable[Object], resolve: Callable[[Object], str], *, of_backend: bool = False
) -> Changes:
    """Return what filters do together; ``resolve`` makes a cluster's name of a reference to a backend."""
    result = Changes()
    for entry in filters:
        known = _filters().get(entry["type"])
        if known is None:
            raise Unsupported(f"filters of type {entry['type']} are not supported")
        if of_backend and not known.per_backend:
            raise Unsupported(f"filters of type {entry['type']} are not supported for a single backend")
        result = known.change(entry.get(known.field) or {}, result, resolve)
    return result
