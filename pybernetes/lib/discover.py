"""Find things that live one to a file: a controller, a scheduler plugin, a program.

A thing that needs several files lives in a folder, in the file that is named like the folder:
``deployment.py``, or ``deployment/deployment.py``. Where things live beside the files of what uses them, each has
a folder: the modes of kube-proxy.
"""

import os
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any


class DiscoveryError(Exception):
    """A file in a folder of things does not hold what every file there must hold."""


def names(package: str, *, folders: bool = False) -> list[str]:
    """List the modules and subpackages of a package by file name, sorted, importing none of them.

    Names that begin with an underscore are helpers and are left out; with `folders`, so is what lies in no folder.
    """
    spec = find_spec(package)
    if spec is None or spec.submodule_search_locations is None:
        raise DiscoveryError(f"{package} is not a package")
    modules: set[str] = set()
    for folder in spec.submodule_search_locations:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = _module_name(entry, folders)
                if name is not None and not name.startswith("_"):
                    modules.add(name)
    return sorted(modules)


def load(package: str, name: str) -> ModuleType:
    """Import the module that holds a thing: its file, or the file of that name in its folder."""
    module = import_module(f"{package}.{name}")
    inner = f"{module.__name__}.{name}"
    return import_module(inner) if hasattr(module, "__path__") and find_spec(inner) else module


def discover(
    package: str, attribute: str, key: Callable[[Any], str] | None = None, *, folders: bool = False
) -> dict[str, Any]:
    """Import every module of a package and return the named attribute of each, by name.

    The name is the module's, or what `key` makes of the value. With `folders`, only subpackages count. A module without the attribute and two
    values of one name are errors, so that a file can never be left out in silence.
    """
    things: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for module_name in names(package, folders=folders):
        module = load(package, module_name)
        path = module.__name__
        try:
            value = getattr(module, attribute)
        except AttributeError:
            raise DiscoveryError(f"{path} has no {attribute}") from None
        name = key(value) if key is not None else module_name
        if name in things:
            raise DiscoveryError(f"{path} and {origin[name]} are both named {name!r}")
        things[name] = value
        origin[name] = path
    return things


def _module_name(entry: os.DirEntry[str], folders: bool) -> str | None:
    if entry.name.endswith(".py"):
        return None if folders else entry.name.removesuffix(".py")
    if entry.is_dir() and os.path.exists(os.path.join(entry.path, "__init__.py")):
        return entry.name
    return None
