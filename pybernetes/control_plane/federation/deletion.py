"""How the objects of a federated one are deleted in members, if somebody says so in an annotation."""

from __future__ import annotations

from typing import NamedTuple

import orjson

from pybernetes.api.resource import Object
from pybernetes.control_plane.federation.kinds import DELETE_OPTION

_POLICIES = ("Background", "Foreground", "Orphan")
_KNOWN = frozenset({"apiVersion", "kind", "gracePeriodSeconds", "propagationPolicy"})


class Deletion(NamedTuple):
    """What becomes of an object's dependents, and how long it has."""

    propagation: str = "Background"
    grace: int | None = None


USUAL = Deletion()


def of_object(obj: Object) -> Deletion:
    """Return how a federated object wants its objects to be deleted; ValueError if that makes no sense."""
    text = (obj["metadata"].get("annotations") or {}).get(DELETE_OPTION)
    if text is None:
        return USUAL
    try:
        options = orjson.loads(text)
    except ValueError as error:
        raise ValueError(f"the annotation {DELETE_OPTION} is no JSON: {error}") from None
    if not isinstance(options, dict):
        raise ValueError(f"the annotation {DELETE_OPTION} is no object")
    unknown = sorted(name for name in options.keys() - _KNOWN if options[name] is not None)
    if unknown:
        raise ValueError(f"the annotation {DELETE_OPTION} cannot say {unknown[0]}")
    policy, grace = options.get("propagationPolicy"), options.get("gracePeriodSeconds")
    if policy is not None and policy not in _POLICIES:
        raise ValueError(f"the annotation {DELETE_OPTION} has an unknown propagationPolicy: {policy!r}")
    if grace is not None and (not isinstance(grace, int) or isinstance(grace, bool) or grace < 0):
        raise ValueError(f"the annotation {DELETE_OPTION} has no number of seconds: {grace!r}")
    return Deletion(policy or USUAL.propagation, grace)
