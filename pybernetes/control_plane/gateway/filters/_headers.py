"""Changes of headers, of requests and of answers alike."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway.checks import changed_header, header_value
from pybernetes.control_plane.gateway.model import HeaderChanges


def header_changes(config: Object) -> HeaderChanges:
    """Return what a modifier does to headers."""

    def pairs(field: str) -> tuple[tuple[str, str], ...]:
        entries = config.get(field) or ()
        return tuple((changed_header(entry["name"]), header_value(entry["value"])) for entry in entries)

    removed = tuple(changed_header(name) for name in config.get("remove") or ())
    return HeaderChanges(pairs("set"), pairs("add"), removed)
