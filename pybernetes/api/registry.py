"""All built-in kinds, found by their files: ``api/<group>/<kind>.py`` with one ``RESOURCE``.

A kind of several files is a folder, and the kind is the file that is named like the folder.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache

from pybernetes import api
from pybernetes.api.resource import Resource
from pybernetes.lib.discover import discover


def builtin() -> tuple[Resource, ...]:
    """Return every built-in resource that is served unless somebody says otherwise."""
    return _builtin()


@lru_cache(maxsize=1)
def _builtin() -> tuple[Resource, ...]:
    return tuple(resource for resource in everything() if resource.served)


@lru_cache(maxsize=1)
def everything() -> tuple[Resource, ...]:
    """Return every built-in resource. A package below ``api`` holds kinds if it names its ``GROUP``."""
    resources: list[Resource] = []
    for package in pkgutil.iter_modules(api.__path__):
        if not package.ispkg:
            continue
        group = importlib.import_module(f"{api.__name__}.{package.name}")
        if not hasattr(group, "GROUP"):
            continue
        for resource in discover(group.__name__, "RESOURCE").values():
            if resource.group != group.GROUP:
                raise RuntimeError(f"{resource} is in the package of the group {group.GROUP!r}")
            resources.append(resource)
    names = [(resource.group, resource.version, resource.plural) for resource in resources]
    if len(set(names)) != len(names):
        raise RuntimeError("two files define the same kind")
    return tuple(resources)
