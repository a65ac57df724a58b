"""Names of drivers, pools, devices and their attributes."""

from __future__ import annotations

import re

from pybernetes.api.field import Errors, Path
from pybernetes.api.validation import checks, names

_LONGEST_DRIVER, _LONGEST_POOL, _LONGEST_IDENTIFIER = 63, 253, 32
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
_UUID_TEXT = (
    "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` "
    "with lowercase hexadecimal characters"
)


def driver(name: str, path: Path, errors: Errors) -> None:
    """Check the name of a driver; the case of its letters does not matter."""
    if _has_length(name, _LONGEST_DRIVER, path, errors):
        for problem in names.dns_subdomain(name.lower()):
            errors.invalid(path, name, problem)


def any_case_driver(name: str, path: Path, errors: Errors) -> None:
    """Check the name of a driver where upstream states it beside the field, in other words."""
    if _has_length(name, _LONGEST_DRIVER, path, errors):
        for problem in names.dns_subdomain(name.lower()):
            text = problem.replace("a lowercase RFC", "an RFC").replace(
                "lower case alphanumeric", "alphanumeric"
            )
            errors.invalid(path, name, text.replace("example.com", "Example.com"))


def pool(name: str, path: Path, errors: Errors) -> None:
    """Check the name of a pool: subdomains with slashes between them."""
    if _has_length(name, _LONGEST_POOL, path, errors):
        for part in name.split("/"):
            checks.name(names.dns_subdomain, part, path, errors)


def _has_length(name: str, longest: int, path: Path, errors: Errors) -> bool:
    """Check the length of a name, and return whether there is a name at all."""
    if not name:
        errors.required(path)
    elif len(name.encode()) > longest:
        errors.too_long(path, longest)
    return bool(name)


def label(name: str, path: Path, errors: Errors) -> None:
    """Check the name of a device, a request or a set of counters."""
    checks.name(names.dns_label, name, path, errors)


def label_key(name: str, path: Path, errors: Errors) -> None:
    """Check a name that has the form of a label's key."""
    checks.name(names.qualified_name, name, path, errors)


def label_value(value: str, path: Path, errors: Errors) -> None:
    """Check a value that has the form of a label's value."""
    checks.name(names.label_value, value, path, errors)


def uuid(text: str, path: Path, errors: Errors) -> None:
    """Check a UUID in its normal form."""
    if not _UUID.match(text):
        errors.invalid(path, text, _UUID_TEXT)


def _identifier(name: str, path: Path, errors: Errors) -> None:
    if len(name.encode()) > _LONGEST_IDENTIFIER:
        errors.too_long(path, _LONGEST_IDENTIFIER)
    checks.name(names.c_identifier, name, path, errors)


def qualified(name: str, path: Path, errors: Errors) -> None:
    """Check the name of an attribute or a capacity: an identifier, after a domain if it has one."""
    domain, slash, identifier = name.partition("/")
    if not slash:
        _identifier(domain, path, errors)
    elif "/" not in identifier:
        if domain:
            driver(domain, path, errors)
        else:
            errors.invalid(path, "", "the domain must not be empty")
        if identifier:
            _identifier(identifier, path, errors)
        else:
            errors.invalid(path, "", "the name must not be empty")


def fully_qualified(name: str, path: Path, errors: Errors) -> None:
    """Check the name of an attribute that must have a domain."""
    domain, slash, identifier = name.partition("/")
    if not slash:
        _identifier(name, path, errors)
        errors.invalid(path, name, "a fully qualified name must be a domain and a name separated by a slash")
    elif "/" not in identifier:
        if not domain:
            errors.invalid(path, "", "prefix must not be empty")
        else:
            any_case_driver(domain, path, errors)
        if not identifier:
            errors.invalid(path, "", "name must not be empty")
        else:
            _identifier(identifier, path, errors)


def extended_resource(name: str, path: Path, errors: Errors) -> None:
    """Check the name of a resource under which devices can be asked for as if a plugin had brought them."""
    if "/" not in name:
        text = "a name must be a domain-prefixed path, such as 'example.com/my-prop'"
        errors.invalid(path, name, text)
    elif "kubernetes.io/" in name:
        errors.invalid(path, name, 'must not have "kubernetes.io/" domain')
    if name.startswith("requests."):
        errors.invalid(path, name, 'must not have "requests." prefix')
    for problem in names.qualified_name(f"requests.{name}"):
        errors.invalid(path, name, problem)
