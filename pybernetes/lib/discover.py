"""Finds things that live one to a file: a controller, a scheduler plugin, a program."""

import os
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any


class DiscoveryError(Exception):
    """A file in a folder of things does not hold what every file there must hold."""


def names(package: str) -> list[str]:
    """Lists the modules and subpackages of a package by file name, sorted, importing none of them.

    Names that begin with an underscore are helpers and are left out.
    """
    spec = find_spec(package)
    if spec is None or spec.submodule_search_locations is None:
        raise DiscoveryError(f"{package} is not a package")
    found: set[str] = set()
    for folder in spec.submodule_search_locations:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = _module_name(entry)
                if name is not None and not name.startswith("_"):
                    found.add(name)
    return sorted(found)


def discover(package: str, attribute: str, key: Callable[[Any], str] | None = None) -> dict[str, Any]:
    """Imports every module of a package and returns the named attribute of each, by name.

    The name is the module's, or what `key` makes of the value. A module without the attribute and two
    values of one name are errors, so that a file can never be left out in silence.
    """
    found: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for module_name in names(package):
        path = f"{package}.{module_name}"
        module = import_module(path)
        try:
            value = getattr(module, attribute)
        except AttributeError:
            raise DiscoveryError(f"{path} has no {attribute}") from None
        name = key(value) if key is not None else module_name
        if name in found:
            raise DiscoveryError(f"{path} and {origin[name]} are both named {name!r}")
        found[name] = value
        origin[name] = path
    return found


def _module_name(entry: os.DirEntry[str]) -> str | None:
    if entry.name.endswith(".py"):
        return entry.name.removesuffix(".py")
    if entry.is_dir() and os.path.exists(os.path.join(entry.path, "__init__.py")):
        return entry.name
    return None
