"""Checks that several storage kinds share."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.validation import checks, names

_MAX_PARAMETERS = 512
_MAX_SIZE = 256 * 1024
MAX_DRIVER_NAME = 63


def provisioner(name: str, path: Path, errors: Errors) -> None:
    """Check the form of the name of a provisioner, if there is one."""
    if name:
        lower = name.lower()
        checks.name(names.qualified_name, lower, path, errors)


def parameters(values: dict[str, str], path: Path, errors: Errors) -> None:
    """Check the number and size of parameters that only the driver understands."""
    if len(values) > _MAX_PARAMETERS:
        errors.too_long(path, _MAX_PARAMETERS)
        return
    if "" in values:
        errors.invalid(path, "", "field can not be empty.")
    if size(values) > _MAX_SIZE:
        errors.too_long(path, _MAX_SIZE)


def size(values: dict[str, str]) -> int:
    """Return the number of bytes of all keys and values together."""
    return sum(len(key.encode()) + len(value.encode()) for key, value in values.items())


def driver_name(name: str, path: Path, errors: Errors) -> None:
    """Check the name of a CSI driver."""
    if not name:
        errors.required(path)
        return
    if len(name.encode()) > MAX_DRIVER_NAME:
        errors.too_long(path, MAX_DRIVER_NAME)
    for problem in names.dns_subdomain(name.lower()):
        errors.invalid(path, name, problem)
