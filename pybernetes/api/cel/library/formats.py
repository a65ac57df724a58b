"""Named formats that strings are checked against."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from datetime import date

from pybernetes.api.cel.library.declare import Library
from pybernetes.api.cel.library.network import url_problem
from pybernetes.api.cel.runtime import NONE, Moment, Optional
from pybernetes.api.validation import names

LIBRARY = Library()
_UUID = re.compile(r"[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}")


class Format:
    """A format: its name, what is wrong with a text, and how long a pattern for it would be."""

    cel_name = "kubernetes.NamedFormat"
    __slots__ = ("check", "name", "size")

    def __init__(self, name: str, check: Callable[[str], list[str]], size: int) -> None:
        self.name, self.check, self.size = name, check, size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Format) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


def _prefix(check: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    """Return the check of a prefix, which may end with what only the middle of a name may have."""
    return lambda text: check(text[:-1] + "a" if text[-1:] == "-" and len(text) > 1 else text)


def _base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except binascii.Error:
        return False
    return True


def _date(text: str) -> bool:
    try:
        return len(text) == 10 and bool(date.fromisoformat(text))
    except ValueError:
        return False


def _moment(text: str) -> bool:
    try:
        Moment.parse(text)
    except ValueError:
        return False
    return True


def _or(check: Callable[[str], object], complaint: str) -> Callable[[str], list[str]]:
    return lambda text: [] if check(text) else [complaint]


FORMATS = {
    "dns1123Label": Format("DNS1123Label", names.dns_label, 30),
    "dns1123Subdomain": Format("DNS1123Subdomain", names.dns_subdomain, 60),
    "dns1035Label": Format("DNS1035Label", names.dns1035_label, 30),
    "qualifiedName": Format("QualifiedName", names.qualified_name, 60),
    "dns1123LabelPrefix": Format("DNS1123LabelPrefix", _prefix(names.dns_label), 30),
    "dns1123SubdomainPrefix": Format("DNS1123SubdomainPrefix", _prefix(names.dns_subdomain), 60),
    "dns1035LabelPrefix": Format("DNS1035LabelPrefix", _prefix(names.dns1035_label), 30),
    "labelValue": Format("LabelValue", names.label_value, 40),
    "uri": Format("URI", lambda text: [problem] if (problem := url_problem(text)) else [], 900),
    "uuid": Format("uuid", _or(_UUID.fullmatch, "does not match the UUID format"), 60),
    "byte": Format("byte", _or(_base64, "invalid base64"), 90),
    "date": Format("date", _or(_date, "invalid date"), 90),
    "datetime": Format("datetime", _or(_moment, "invalid datetime"), 90),
}


def _validate(form: Format, text: str) -> Optional:
    problems = form.check(text)
    return Optional(problems) if problems else NONE


_NAMED = "kubernetes.NamedFormat"
LIBRARY.method("validate", "format-validate", f"{_NAMED} string -> optional(list(string))", _validate)
LIBRARY.function(
    "format.named",
    "format-named",
    f"string -> optional({_NAMED})",
    lambda name: Optional(FORMATS[name]) if name in FORMATS else NONE,
)
for _name, _made in FORMATS.items():
    LIBRARY.function(f"format.{_name}", f"format.{_name}", f" -> {_NAMED}", lambda made=_made: made)
