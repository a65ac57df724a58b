"""Which built-in kinds are served: ``--runtime-config``."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Sequence

from pybernetes.api import schema
from pybernetes.api.resource import Resource
from pybernetes.lib.flags import Flag, boolean

log = logging.getLogger(__name__)

FLAGS = (
    Flag("runtime-config", (), "kinds to serve or not: api/all, api/ga, api/beta, api/alpha, a version or one kind of it, =true or =false"),
)  # fmt: skip
# In this order, the later ones over the earlier.
_MATCHERS = {"api/all": r"v", "api/ga": r"v\d+$", "api/beta": r"v\d+beta\d+$", "api/alpha": r"v\d+alpha\d+$"}
# What the server itself could not be without.
_NEEDED = frozenset(
    {"", "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "coordination.k8s.io",
     "flowcontrol.apiserver.k8s.io", "rbac.authorization.k8s.io"}
)  # fmt: skip


def served(texts: Iterable[str], resources: Sequence[Resource]) -> list[Resource]:
    """Return those of the resources that are to be served; ValueError for what cannot be."""
    given = dict(text.partition("=")[::2] for text in filter(None, texts))
    chosen = {resource: resource.served for resource in resources}
    for key, pattern in _MATCHERS.items():
        if key not in given:
            continue
        if given[key] not in ("true", "false"):
            raise ValueError(f"--runtime-config: invalid value {key}={given[key]}")
        matching = [resource for resource in resources if re.match(pattern, resource.version)]
        if not matching:
            log.warning("--runtime-config: %s=%s changes nothing, no such version is served", key, given[key])
        for resource in matching:
            chosen[resource] = given[key] == "true"
    # Versions first, so that single kinds have the last word.
    for key in sorted(given.keys() - _MATCHERS.keys(), key=lambda text: text.count("/")):
        wanted = _wanted(key, given[key])
        for resource in _named(key, resources, wanted):
            chosen[resource] = wanted
    lost = {
        resource.api_version
        for resource in resources
        if resource.served and not chosen[resource] and resource.group in _NEEDED
    }
    if lost:
        raise ValueError(f"--runtime-config: this server needs {', '.join(sorted(lost))} itself")
    return [resource for resource in resources if chosen[resource]]


def _wanted(key: str, value: str) -> bool:
    try:
        return not value or boolean(value)
    except ValueError:
        error = f'strconv.ParseBool: parsing "{value}": invalid syntax'
        raise ValueError(f"--runtime-config: invalid value of {key}: {value}, err: {error}") from None


def _named(key: str, resources: Sequence[Resource], wanted: bool) -> list[Resource]:
    """Return what ``group/version`` or ``group/version/plural`` names; the core group is ``v1`` or ``api/v1``."""
    parts = key.removeprefix("api/").split("/")
    group, version, *plural = ["", *parts] if parts[0] == "v1" else parts if len(parts) > 1 else [*parts, ""]
    if plural and plural[0] != plural[0].lower():
        raise ValueError(
            f"--runtime-config: invalid key {key}: group/version/resource and resource is always lowercase "
            f'plural, not "{plural[0]}"'
        )
    of_group = [resource for resource in resources if resource.group == group]
    if not of_group:
        raise ValueError(f"--runtime-config: unknown api groups {group}")
    of_version = [resource for resource in of_group if resource.version == version]
    if not of_version and not schema.has_version(group, version):
        raise ValueError(f"--runtime-config: group version {group}/{version} that has not been registered")
    if not of_version and wanted:
        raise ValueError(f"--runtime-config: {group}/{version} is not served here")
    return [resource for resource in of_version if not plural or resource.plural == plural[0]]
