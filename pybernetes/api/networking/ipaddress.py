"""IPAddress: an address of the service network that is taken, and by whom."""

from __future__ import annotations

from pybernetes.api.field import ROOT, Errors, Path
from pybernetes.api.networking._backends import segment
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.table import NAME, get
from pybernetes.api.validation import addresses, checks, declarative, names

_PARENT = Path("spec") / "parentRef"


def name_errors(name: str) -> list[str]:
    """Return what is wrong with a name, which must be the address itself in its canonical form."""
    errors = Errors()
    addresses.strict_ip(name, ROOT, errors)
    return [error.detail for error in errors]


def default(obj: Object) -> None:
    """Fill what is always written."""
    obj.setdefault("spec", {})


def validate(obj: Object, errors: Errors) -> None:
    """Check the reference to what has the address."""
    parent = get(obj, ".spec.parentRef")
    if parent is None:
        errors.required(_PARENT)
        return
    if parent.get("group"):
        checks.name(names.dns_subdomain, parent["group"], _PARENT / "group", errors)
    for key in ("resource", "name"):
        segment(parent.get(key, ""), _PARENT / key, errors)
    segment(parent.get("namespace", ""), _PARENT / "namespace", errors, required=False)


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that it stays with its owner."""
    declarative.immutable(get(new, ".spec.parentRef"), get(old, ".spec.parentRef"), _PARENT, errors)


def _parent(obj: Object, now: float) -> str:
    parent = get(obj, ".spec.parentRef")
    if parent is None:
        return "<none>"
    kind = ".".join(part for part in (parent.get("resource", ""), parent.get("group", "")) if part).lower()
    return "/".join(part for part in (kind, parent.get("namespace", ""), parent.get("name", "")) if part)


RESOURCE = Resource(
    group="networking.k8s.io",
    version="v1",
    kind="IPAddress",
    plural="ipaddresses",
    short_names=("ip",),
    namespaced=False,
    columns=(NAME, Column("ParentRef", _parent)),  # upstream names no column for the age that it sends
    name_errors=name_errors,
    default=default,
    validate=validate,
    validate_update=validate_update,
)
