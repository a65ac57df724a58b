"""One older version of a kind: what it becomes, and how."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pybernetes.api.resource import Object


def unchanged(obj: Object) -> Object:
    """Return the object as it is, for versions that have the same fields."""
    return obj


@dataclass(frozen=True, slots=True)
class OlderVersion:
    """An older version, whose objects ``convert`` gives the form of ``api_version``, changing them if it likes.

    ``complete`` does what is left to do once the object has been decoded as one of that version and has its defaults.
    ``definition`` names the message that it is in protobuf, where that is not the one of ``api_version``.
    """

    api_version: str
    convert: Callable[[Object], Object] = unchanged
    definition: str = ""
    complete: Callable[[Object], Object] = unchanged


# By apiVersion and kind.
Table = Mapping[tuple[str, str], OlderVersion]
