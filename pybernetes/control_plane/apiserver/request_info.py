"""What authorization looks at of a request: what it asks for, and the selectors that narrow it."""

from __future__ import annotations

from pybernetes.api import selectors
from pybernetes.api.request_info import RequestInfo, parse
from pybernetes.api.validation.names import path_segment
from pybernetes.control_plane.apiserver.request import Request

__all__ = ("RequestInfo", "attributes", "parse")
# Selectors up to this length count for authorization. Those that rights are given for are short.
_NARROWING = 4096
_SELECTING = ("list", "watch", "deletecollection")


def attributes(request: Request) -> RequestInfo:
    """Return what authorization looks at: the request, with the selectors that narrow a list, watch or deletion.

    A list or watch of one name is authorized like a read of that name.
    """
    info = request.request_info
    if not request.query_text or info.verb not in _SELECTING or info.verb_in_path:
        return info
    fields = _fields(_short(request.parameter("fieldSelector")))
    labels = _labels(_short(request.parameter("labelSelector")))
    if not fields and not labels:
        return info
    name = info.name
    if not name and info.verb != "deletecollection":
        name = next((value for field, value, equal in fields if equal and field == "metadata.name"), "")
        name = "" if path_segment(name) else name
    return info._replace(name=name, fields=fields, labels=labels)


def _short(text: str) -> str:
    """Return a selector that is looked at for somebody who may have no rights at all: a long one narrows nothing."""
    return text if len(text) <= _NARROWING else ""


def _fields(text: str) -> tuple[tuple[str, str, bool], ...]:
    try:
        return tuple(selectors.parse_fields(text)) if text else ()
    except selectors.SelectorError:
        return ()  # the verb will complain; until then nothing is narrowed


def _labels(text: str) -> tuple[selectors.Requirement, ...]:
    try:
        return selectors.parse_labels(text).requirements if text else ()
    except selectors.SelectorError:
        return ()
