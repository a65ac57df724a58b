"""The functions that Kubernetes adds to CEL, as far as they are here: lists, regular expressions, and checks of
addresses. What is not here cannot be compiled, so a rule that needs it is refused, never ignored."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

from pybernetes.api import quantity


def _is_sorted(values: list[Any]) -> bool:
    return all(a <= b for a, b in pairwise(values))


def _find(text: str, pattern: str) -> str:
    import re2

    found = re2.search(pattern, text)
    return found.group(0) if found else ""


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    import re2

    found = [match.group(0) for match in re2.finditer(pattern, text)]
    return found if limit < 0 else found[:limit]


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return "%" not in text


def _is_cidr(text: str) -> bool:
    try:
        ipaddress.ip_interface(text)
    except ValueError:
        return False
    return "/" in text


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return text.startswith("/") or bool(parts.scheme and (parts.netloc or parts.path))


def _is_quantity(text: str) -> bool:
    try:
        quantity.canonical(text)
    except quantity.QuantityError:
        return False
    return True


# name, identifier, what it gives, what it takes, whether it is called on its first argument, what it does
_TABLE: tuple[tuple[str, str, str, tuple[str, ...], bool, Callable[..., Any]], ...] = (
    ("isSorted", "list_is_sorted_bool", "BOOL", ("LIST",), True, _is_sorted),
    ("sum", "list_sum", "DYN", ("LIST",), True, sum),
    ("min", "list_min", "DYN", ("LIST",), True, min),
    ("max", "list_max", "DYN", ("LIST",), True, max),
    ("find", "string_find_string", "STRING", ("STRING", "STRING"), True, _find),
    ("findAll", "string_find_all_string", "LIST", ("STRING", "STRING"), True, _find_all),
    ("findAll", "string_find_all_string_int", "LIST", ("STRING", "STRING", "INT"), True, _find_all),
    ("isIP", "is_ip", "BOOL", ("STRING",), False, _is_ip),
    ("isCIDR", "is_cidr", "BOOL", ("STRING",), False, _is_cidr),
    ("isURL", "is_url_string", "BOOL", ("STRING",), False, _is_url),
    ("isQuantity", "is_quantity_string", "BOOL", ("STRING",), False, _is_quantity),
)


def declarations(cel: Any) -> list[Any]:
    """The functions as the engine wants them."""
    overloads: dict[str, list[Any]] = {}
    for name, identifier, gives, takes, member, function in _TABLE:
        types = [getattr(cel.Type, parameter) for parameter in takes]
        made = cel.Overload(identifier, getattr(cel.Type, gives), types, member, function)
        overloads.setdefault(name, []).append(made)
    return [cel.FunctionDecl(name, found) for name, found in overloads.items()]
