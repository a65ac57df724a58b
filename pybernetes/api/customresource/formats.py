"""The formats that a string of a custom resource can be asked to have."""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from collections.abc import Callable
from datetime import date, datetime
from email.utils import parseaddr
from urllib.parse import urlsplit

from pybernetes.api.validation import names

_DURATION = re.compile(
    r"^[-+]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))*$"
)
_SCALA_DURATION = re.compile(
    r"^\d+\s*(ns|nanos?|us|micros?|ms|millis?|s|sec|secs|seconds?|m|mins?|minutes?|h|hours?|d|days?|w|wk|weeks?)$"
)
_CREDIT_CARD = re.compile(
    r"^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}"
    r"|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})\Z"
)
_RGB = r"(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])"
_HOSTNAME = re.compile(
    r"^([a-zA-Z0-9_]([a-zA-Z0-9_-]{0,62}[a-zA-Z0-9_])?)(\.[a-zA-Z0-9_]([a-zA-Z0-9_-]{0,62}[a-zA-Z0-9_])?)*\Z"
)
_DATETIME = re.compile(r"^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:?\d\d)\Z")


def _matches(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern + r"\Z", re.IGNORECASE)
    return lambda text: compiled.match(text) is not None


def _succeeds(function: Callable[[str], object]) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            function(text)
        except (ValueError, binascii.Error):
            return False
        return True

    return check


def _uri(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return text.startswith("/") or bool(parts.scheme and (parts.netloc or parts.path))


def _isbn10(text: str) -> bool:
    digits = text.replace("-", "").replace(" ", "")
    if not re.match(r"^\d{9}[\dX]\Z", digits):
        return False
    total = sum((10 - index) * (10 if digit == "X" else int(digit)) for index, digit in enumerate(digits))
    return total % 11 == 0


def _isbn13(text: str) -> bool:
    digits = text.replace("-", "").replace(" ", "")
    if not re.match(r"^\d{13}\Z", digits):
        return False
    return sum(int(digit) * (3 if index % 2 else 1) for index, digit in enumerate(digits)) % 10 == 0


def _hostname(text: str) -> bool:
    return len(text) <= 255 and _HOSTNAME.match(text) is not None


def _datetime(text: str) -> bool:
    if not _DATETIME.match(text):
        return False
    return _succeeds(datetime.fromisoformat)(text.upper())


_CHECKS: dict[str, Callable[[str], bool]] = {
    "bsonobjectid": _matches("[0-9a-f]{24}"),
    "uri": _uri,
    "email": lambda text: "@" in parseaddr(text)[1].strip("@"),
    "hostname": _hostname,
    "ipv4": _succeeds(ipaddress.IPv4Address),
    "ipv6": _succeeds(ipaddress.IPv6Address),
    "cidr": lambda text: "/" in text and _succeeds(lambda given: ipaddress.ip_network(given, False))(text),
    "mac": _matches(
        r"([0-9a-f]{2}([:-])[0-9a-f]{2}(\2[0-9a-f]{2}){4}((\2[0-9a-f]{2}){2})?|([0-9a-f]{4}\.){2,3}[0-9a-f]{4})"
    ),
    "uuid": _matches("[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}"),
    "uuid3": _matches("[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}"),
    "uuid4": _matches("[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}"),
    "uuid5": _matches("[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}"),
    "isbn": lambda text: _isbn10(text) or _isbn13(text),
    "isbn10": _isbn10,
    "isbn13": _isbn13,
    "creditcard": lambda text: _CREDIT_CARD.match(re.sub(r"\D", "", text)) is not None,
    "ssn": _matches(r"\d{3}[- ]?\d{2}[- ]?\d{4}"),
    "hexcolor": _matches("#?([0-9a-f]{3}|[0-9a-f]{6})"),
    "rgbcolor": _matches(rf"rgb\(\s*{_RGB}\s*,\s*{_RGB}\s*,\s*{_RGB}\s*\)"),
    "byte": _succeeds(lambda text: base64.b64decode(text, validate=True)),
    "password": lambda text: True,
    "date": lambda text: len(text) == 10 and _succeeds(date.fromisoformat)(text),
    "duration": lambda text: text == "0" or bool(_DURATION.match(text) or _SCALA_DURATION.match(text)),
    "datetime": _datetime,
    "k8sshortname": lambda text: not names.dns_label(text),
    "k8slongname": lambda text: not names.dns_subdomain(text),
}

_OF_NUMBERS = {"integer": ("int32", "int64"), "number": ("float", "double")}


def known(kind: str, form: str) -> str:
    """Return the format if values of a type can have it, or nothing: formats that nobody knows ask for nothing."""
    if kind in ("", "string"):
        return form if form.replace("-", "") in _CHECKS else ""
    return form if form in _OF_NUMBERS.get(kind, ()) else ""


def fits(text: str, form: str) -> bool:
    """Return whether a string has a format; formats that nobody knows ask for nothing."""
    check = _CHECKS.get(form.replace("-", ""))
    return check is None or check(text)
