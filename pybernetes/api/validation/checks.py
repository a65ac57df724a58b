"""Small checks that many kinds use; each adds to the errors what is wrong with one value."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import names

Value = TypeVar("Value", str, int)
POSITIVE = "must be greater than zero"
_ID_LIMIT = 2**31 - 1
_ANNOTATIONS_LIMIT = 256 * 1024
_HEADER = re.compile(r"[-A-Za-z0-9]+\Z")
_HEADER_TEXT = names.regex(
    "a valid HTTP header must consist of alphanumeric characters or '-'", "[-A-Za-z0-9]+", "X-Header-Name"
)


def repetitions(values: Iterable[Hashable]) -> Iterator[int]:
    """Yield the places of values that stood at an earlier place already."""
    seen: set[Hashable] = set()
    for index, value in enumerate(values):
        if value in seen:
            yield index
        seen.add(value)


def within(low: int, high: int) -> str:
    """Return the complaint about a number that is out of its range."""
    return f"must be between {low} and {high}, inclusive"


def name(check: Callable[[Value], Iterable[str]], value: Value, path: Path, errors: Errors) -> None:
    """Check a name or the number of a port with one of the functions of ``names``."""
    for problem in check(value):
        errors.invalid(path, value, problem)


def required_name(check: Callable[[str], Iterable[str]], value: str, path: Path, errors: Errors) -> None:
    """Check a name that must be there."""
    if value:
        name(check, value, path, errors)
    else:
        errors.required(path)


def one_of(value: str, allowed: tuple[str, ...], path: Path, errors: Errors) -> None:
    """Check that a text is one of a few."""
    if value not in allowed:
        errors.unsupported(path, value, allowed)


def required_one_of(value: str, allowed: tuple[str, ...], path: Path, errors: Errors) -> None:
    """Check that a text is there and one of a few."""
    if not value:
        errors.required(path)
    elif value not in allowed:
        errors.unsupported(path, value, allowed)


def present(fields: Object, keys: tuple[str, ...], path: Path, errors: Errors) -> None:
    """Check that texts are not empty."""
    for key in keys:
        if not fields.get(key):
            errors.required(path / key)


def positive(value: int, path: Path, errors: Errors) -> None:
    """Check that a number is more than zero."""
    if value <= 0:
        errors.invalid(path, value, POSITIVE)


def user_id(value: int, path: Path, errors: Errors) -> None:
    """Check the number of a user or group."""
    if not 0 <= value <= _ID_LIMIT:
        errors.invalid(path, value, within(0, _ID_LIMIT))


def file_mode(value: int, path: Path, errors: Errors) -> None:
    """Check the permission bits of a file."""
    if not 0 <= value <= 0o777:
        errors.invalid(path, value, "must be a number between 0 and 0777 (octal), both inclusive")


def port_or_name(value: int | str, path: Path, errors: Errors) -> None:
    """Check a port, given as number or name."""
    problems = names.port_name(value) if isinstance(value, str) else names.port_number(value)
    for problem in problems:
        errors.invalid(path, value, problem)


def http_header(value: str, path: Path, errors: Errors) -> None:
    """Check the name of an HTTP header."""
    if not _HEADER.match(value):
        errors.invalid(path, value, _HEADER_TEXT)


def no_backsteps(value: str, path: Path, errors: Errors) -> None:
    """Check that a path has no ``..`` in it."""
    if ".." in value and ".." in value.split("/"):
        errors.invalid(path, value, "must not contain '..'")


def descending_path(value: str, path: Path, errors: Errors) -> None:
    """Check that a path leads down from where it starts."""
    if value.startswith("/"):
        errors.invalid(path, value, "must be a relative path")
    no_backsteps(value, path, errors)


def local_path(value: str, path: Path, errors: Errors) -> None:
    """Check a path below a volume, where names that start with ``..`` are taken."""
    descending_path(value, path, errors)
    if value.startswith("..") and not value.startswith("../"):
        errors.invalid(path, value, "must not start with '..'")


def signer_name(value: str, path: Path, errors: Errors) -> None:
    """Check the name of a signer: ``example.com/name``."""
    if not value:
        errors.required(path)
        return
    segments = value.split("/")
    if len(segments) != 2:
        text = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        errors.invalid(path, value, text)
        return
    domain, last = segments
    if len(domain.encode()) > 253:
        errors.too_long(path, 253)
    labels = domain.split(".")
    _labels(labels, names.dns_label, domain, path, errors)
    if len(labels) < 2:
        errors.invalid(path, domain, "should be a domain with at least two segments separated by dots")
    _labels(last.split("."), names.dns_subdomain, last, path, errors)
    if len(value.encode()) > 571:
        errors.too_long(path, 571)


def _labels(
    labels: list[str], check: Callable[[str], list[str]], whole: str, path: Path, errors: Errors
) -> None:
    """Warn about the first label that is wrong; more of them would read the same."""
    for label in labels:
        problems = check(label)
        for problem in problems:
            errors.invalid(path, whole, f'validating label "{label}": {problem}')
        if problems:
            return


def user_annotations(value: dict[str, str], path: Path, errors: Errors) -> None:
    """Check annotations whose keys must all have a domain as prefix."""
    size = 0
    for key, text in value.items():
        lower = key.lower()
        problems = names.qualified_name(lower)
        if not key:
            errors.required(path)
        elif problems:
            for problem in problems:
                errors.invalid(path, lower, problem)
        elif "/" not in key:
            errors.invalid(path, lower, 'must be a domain-prefixed key (such as "acme.io/foo")')
        size += len(key.encode()) + len(text.encode())
    if size > _ANNOTATIONS_LIMIT:
        errors.too_long(path, _ANNOTATIONS_LIMIT)
