"""Lease: who holds a lock, renewed by its holder; also the heartbeat of a node."""

from __future__ import annotations

from dataclasses import replace

from pybernetes.api.coordination import GROUP
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.table import AGE, NAME, get
from pybernetes.api.validation import checks, names

_SPEC = Path("spec")
# Coordinated leader election is off by default: its fields are dropped unless an object already has them.
_COORDINATED = ("strategy", "preferredHolder")


def default(obj: Object) -> None:
    """Complete an absent spec, which is always shown."""
    obj.setdefault("spec", {})


def prepare_create(obj: Object) -> None:
    """Drop the fields of coordinated leader election."""
    for key in _COORDINATED:
        obj.get("spec", {}).pop(key, None)


def prepare_update(new: Object, old: Object) -> None:
    """Drop the fields of coordinated leader election, unless the lease already has them."""
    for key in _COORDINATED:
        if key not in old.get("spec", {}):
            new.get("spec", {}).pop(key, None)


def validate(obj: Object, errors: Errors) -> None:
    """Check the numbers of the lease."""
    spec = obj.get("spec", {})
    duration, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    if duration is not None and duration <= 0:
        errors.invalid(_SPEC / "leaseDurationSeconds", duration, "must be greater than 0")
    if transitions is not None and transitions < 0:
        errors.invalid(_SPEC / "leaseTransitions", transitions, "must be greater than or equal to 0")
    strategy = spec.get("strategy")
    if strategy is not None:
        check_strategy(strategy, _SPEC / "strategy" / "strategy", errors)
    if spec.get("preferredHolder") and not strategy:
        errors.forbidden(_SPEC / "preferredHolder", "may only be specified if `strategy` is defined")


def check_strategy(strategy: str, path: Path, errors: Errors) -> None:
    """Check that a strategy without a prefix is one that Kubernetes knows."""
    if "/" not in strategy and strategy != "OldestEmulationVersion":
        errors.unsupported(path, strategy, ("OldestEmulationVersion",))
    elif "/" in strategy:
        checks.name(names.qualified_name, strategy, path, errors)


def coordinated(resource: Resource) -> Resource:
    """Return the resource as it is where coordinated leader election is on: its fields are kept."""
    return replace(resource, prepare_create=None, prepare_update=None)


RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="Lease",
    plural="leases",
    columns=(NAME, Column("Holder", lambda obj, now: get(obj, ".spec.holderIdentity", "")), AGE),
    create_on_update=True,
    unconditional_update=False,
    default=default,
    prepare_create=prepare_create,
    prepare_update=prepare_update,
    validate=validate,
)
