"""Whom a certificate names: one reading of its subject for every component that knows clients by certificates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from cryptography import x509

_COMMON_NAME, _ORGANIZATION = "2.5.4.3", "2.5.4.10"
# As the ssl module names them.
_NAMES = {"commonName": _COMMON_NAME, "organizationName": _ORGANIZATION}
# The attribute that holds a user's UID, which no library has a name for.
_UID = "1.3.6.1.4.1.57683.2"


class Subject(NamedTuple):
    """The parts of a subject that tell users and groups; of several common names the last one counts, as in Go."""

    common_name: str = ""
    organizations: tuple[str, ...] = ()
    uids: tuple[str, ...] = ()


def of_peer(certificate: Mapping[str, Any]) -> Subject:
    """Return the subject of a certificate as ``getpeercert`` shows it."""
    return _subject(
        (_NAMES.get(key, key), value) for part in certificate.get("subject", ()) for key, value in part
    )


def of_name(name: x509.Name) -> Subject:
    """Return the subject that a parsed certificate or request has."""
    return _subject((attribute.oid.dotted_string, attribute.value) for attribute in name)


def _subject(attributes: Iterable[tuple[str, Any]]) -> Subject:
    values: dict[str, list[str]] = {}
    for key, value in attributes:
        if isinstance(value, str):  # Go passes over what is no text
            values.setdefault(key, []).append(value)
    return Subject(
        values.get(_COMMON_NAME, [""])[-1],
        tuple(values.get(_ORGANIZATION, ())),
        tuple(values.get(_UID, ())),
    )
