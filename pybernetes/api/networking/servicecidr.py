"""ServiceCIDR: a range from which services get their addresses."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.metadata import keep_metadata
from pybernetes.api.resource import KEEPS_METADATA, Column, Object, Resource
from pybernetes.api.status import default_spec_and_status, start_empty
from pybernetes.api.table import AGE, NAME, get
from pybernetes.api.validation import addresses
from pybernetes.api.validation.meta import IMMUTABLE

_CIDRS = Path("spec") / "cidrs"


def validate(obj: Object, errors: Errors) -> None:
    """Check that there is a range, at most one of each IP family."""
    cidrs = get(obj, ".spec.cidrs", [])
    if not cidrs:
        errors.required(_CIDRS, "at least one CIDR required")
    elif len(cidrs) > 2:
        errors.invalid(_CIDRS, {"CIDRs": cidrs}, "may only hold up to 2 values")
    else:
        for index, cidr in enumerate(cidrs):
            addresses.strict_cidr(cidr, _CIDRS[index], errors)
        networks = [addresses.parse_cidr_sloppy(cidr) for cidr in cidrs]
        versions = [network.version for network in networks if network is not None]
        if len(versions) == 2 and versions[0] == versions[1]:
            text = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"
            errors.invalid(_CIDRS, cidrs, text)


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that ranges stay; a second one may be added for the other family."""
    after, before = get(new, ".spec.cidrs", []), get(old, ".spec.cidrs", [])
    if len(after) != len(before) and (len(before), len(after)) != (1, 2):
        errors.invalid(_CIDRS, after or None, IMMUTABLE)
        return
    for index, cidr in enumerate(before):
        if after[index] != cidr:
            errors.invalid(_CIDRS[index], after[index], IMMUTABLE)


RESOURCE = Resource(
    group="networking.k8s.io",
    version="v1",
    kind="ServiceCIDR",
    plural="servicecidrs",
    namespaced=False,
    subresources=("status",),
    reset=KEEPS_METADATA,
    columns=(NAME, Column("CIDRs", lambda obj, now: ",".join(get(obj, ".spec.cidrs", ()))), AGE),
    default=default_spec_and_status,
    prepare_create=start_empty,
    prepare_status_update=keep_metadata,
    validate=validate,
    validate_update=validate_update,
)
