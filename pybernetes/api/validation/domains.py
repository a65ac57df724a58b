"""Domain names, and paths that start with one."""

from __future__ import annotations

import re

from pybernetes.api.field import Errors, Path
from pybernetes.api.validation import checks, names

_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_path = re.compile(rf"{_PATH}\Z")


def domain_prefixed_path(value: str, path: Path, errors: Errors) -> None:
    """Check a path such as ``example.com/name``."""
    if not value:
        errors.required(path)
        return
    host, _, rest = value.partition("/")
    if not host or not rest:
        errors.invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')
        return
    checks.name(names.dns_subdomain, host, path, errors)
    if not _path.match(rest):
        errors.invalid(path, rest, names.regex("Invalid path", _PATH))


def fully_qualified(value: str, path: Path, errors: Errors) -> None:
    """Check a domain name of at least two labels; a dot at its end is fine."""
    if not value:
        errors.required(path)
        return
    name = value.removesuffix(".")
    labels = name.split(".")
    if problems := names.dns_subdomain(name):
        errors.invalid(path, name, ",".join(problems))
    elif len(labels) < 2:
        errors.invalid(path, name, "should be a domain with at least two segments separated by dots")
    else:
        for label in labels:
            if problems := names.dns_label(label):
                errors.invalid(path, label, ",".join(problems))
                break
