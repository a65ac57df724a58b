"""All built-in kinds, found by their files: ``api/<group>/<kind>.py`` with one ``RESOURCE``."""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache

from pybernetes import api
from pybernetes.api.resource import Resource


@lru_cache(maxsize=1)
def builtin() -> tuple[Resource, ...]:
    """Every built-in resource. A package below ``api`` holds kinds if it names its ``GROUP``."""
    found: list[Resource] = []
    for package in pkgutil.iter_modules(api.__path__):
        if not package.ispkg:
            continue
        group = importlib.import_module(f"{api.__name__}.{package.name}")
        if not hasattr(group, "GROUP"):
            continue
        for module in pkgutil.iter_modules(group.__path__):
            if module.name.startswith("_"):
                continue  # shared by the kinds of the group
            resource = importlib.import_module(f"{group.__name__}.{module.name}").RESOURCE
            if resource.group != group.GROUP:
                raise RuntimeError(f"{resource} is in the package of the group {group.GROUP!r}")
            found.append(resource)
    names = [(resource.group, resource.version, resource.plural) for resource in found]
    if len(set(names)) != len(names):
        raise RuntimeError("two files define the same kind")
    return tuple(found)
