"""LeaseCandidate: a program that would hold a lease, for coordinated leader election to choose from."""

from __future__ import annotations

from pybernetes.api.coordination import GROUP
from pybernetes.api.coordination._versions import parse
from pybernetes.api.coordination.lease import check_strategy
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.table import AGE, NAME, get
from pybernetes.api.validation import meta

OLDEST_EMULATION_VERSION = "OldestEmulationVersion"
_SPEC = Path("spec")
_NO_VERSION = "must be a valid semantic version"


def default(obj: Object) -> None:
    """Complete an absent spec, which is always shown."""
    obj.setdefault("spec", {})


def validate(obj: Object, errors: Errors) -> None:
    """Check the name of the lease, the versions and the strategy."""
    spec = obj.get("spec", {})
    if not spec.get("leaseName"):
        errors.required(_SPEC / "leaseName", "")
    emulated_text, binary_text = spec.get("emulationVersion", ""), spec.get("binaryVersion", "")
    emulated, binary = parse(emulated_text), parse(binary_text)
    if emulated_text and emulated is None:
        errors.invalid(_SPEC / "emulationVersion", emulated_text, _NO_VERSION)
    if not binary_text:
        errors.required(_SPEC / "binaryVersion", "")
    elif binary is None:
        errors.invalid(_SPEC / "binaryVersion", binary_text, _NO_VERSION)
    if binary and emulated and binary < emulated:
        errors.invalid(
            _SPEC / "binaryVersion", binary_text, "must be greater than or equal to `emulationVersion`"
        )
    strategy = spec.get("strategy", "")
    if not strategy:
        errors.required(_SPEC / "strategy", "")
        return
    if strategy == OLDEST_EMULATION_VERSION and emulated is None:
        errors.required(
            _SPEC / "emulationVersion", "must be specified when `strategy` is 'OldestEmulationVersion'"
        )
    check_strategy(strategy, _SPEC / "strategy" / "strategy", errors)


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Refuse another lease."""
    now, before = (obj.get("spec", {}).get("leaseName", "") for obj in (new, old))
    meta.immutable(now, before, _SPEC / "leaseName", errors)


RESOURCE = Resource(
    group=GROUP,
    version="v1beta1",
    kind="LeaseCandidate",
    plural="leasecandidates",
    columns=(
        NAME,
        Column("LeaseName", lambda obj, now: get(obj, ".spec.leaseName", "")),
        Column("BinaryVersion", lambda obj, now: get(obj, ".spec.binaryVersion", "")),
        Column("EmulationVersion", lambda obj, now: get(obj, ".spec.emulationVersion", "")),
        AGE,
    ),
    served=False,
    create_on_update=True,
    unconditional_update=False,
    default=default,
    validate=validate,
    validate_update=validate_update,
)
