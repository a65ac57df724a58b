"""Checks of the linked fields that hold a service's addresses: clusterIP(s), ipFamilies, ipFamilyPolicy."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import addresses, checks

FAMILIES = ("IPv4", "IPv6")
POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
SINGLE_STACK = "SingleStack"
NONE = "None"
_SPEC = Path("spec")
_IPS, _FAMILIES, _POLICY = _SPEC / "clusterIPs", _SPEC / "ipFamilies", _SPEC / "ipFamilyPolicy"
_FIXED = "may not change once set"


def is_headless(spec: Object) -> bool:
    """Return whether the service has no address of its own, by wish."""
    return spec.get("clusterIPs") == [NONE]


def family_of(ip: str) -> str:
    """Return IPv4 or IPv6, or nothing if it is no address."""
    address = addresses.parse_sloppy(ip)
    return "" if address is None else f"IPv{address.version}"


def validate_cluster_ips(spec: Object, old: Object | None, errors: Errors) -> None:
    """Check that addresses, families and policy are known and fit together."""
    if spec.get("type") == "ExternalName":
        return
    ip, ips, families = spec.get("clusterIP", ""), spec.get("clusterIPs", []), spec.get("ipFamilies", [])
    if ip and not ips:
        errors.required(_IPS)
    elif ip and ips[0] != ip:
        errors.invalid(_IPS, ips, "first value must match `clusterIP`")
    elif ips and not ip:
        errors.invalid(_IPS, ips, "must be empty when `clusterIP` is not specified")
    repeated = set(checks.repetitions(families))
    for index, family in enumerate(families):
        if family not in FAMILIES:
            errors.unsupported(_FAMILIES[index], family, FAMILIES)
        if index in repeated:
            errors.duplicate(_FAMILIES[index], family)
    if "ipFamilyPolicy" in spec and spec["ipFamilyPolicy"] not in POLICIES:
        errors.unsupported(_POLICY, spec["ipFamilyPolicy"], POLICIES)
    if not _well_formed(ips, (old or {}).get("clusterIPs", ()), errors):
        return
    if len(ips) > 1 and len({family_of(cluster_ip) for cluster_ip in ips}) != 2:
        errors.invalid(_IPS, ips, "may specify no more than one IP for each IP family")
    if not is_headless(spec):
        for index, (cluster_ip, family) in enumerate(zip(ips, families, strict=False)):
            if family in FAMILIES and family_of(cluster_ip) != family:
                text = f"expected an {family} value as indicated by `ipFamilies[{index}]`"
                errors.invalid(_IPS[index], cluster_ip, text)


def _well_formed(ips: list[str], old: list[str], errors: Errors) -> bool:
    before = len(errors)
    for index, ip in enumerate(ips):
        if index == 0 and ip == NONE:
            if len(ips) > 1:
                errors.invalid(_IPS, ips, "'None' must be the first and only value")
        else:
            addresses.legacy_ip(ip, _IPS[index], errors, old)
    fine = len(errors) == before
    if len(ips) > 2:
        errors.invalid(_IPS, ips, "may only hold up to 2 values")
    return fine


def validate_address_changes(spec: Object, old: Object, errors: Errors) -> None:
    """Check that the first address and family stay, and that the second goes only when that is said."""
    if "ExternalName" in (spec.get("type"), old.get("type")):
        return
    if not (is_headless(spec) and is_headless(old)):
        _ips_change(spec, old, errors)
    if not is_headless(spec) and not is_headless(old):
        _families_change(spec, old, errors)


def _check_released(spec: Object, after: list[str], what: str, errors: Errors) -> None:
    """Report a second address or family that goes although the policy still asks for two."""
    if len(after) == 1 and spec.get("ipFamilyPolicy") != SINGLE_STACK:
        text = f"must be set to 'SingleStack' when releasing the secondary {what}"
        errors.invalid(_POLICY, spec.get("ipFamilyPolicy"), text)


def _ips_change(spec: Object, old: Object, errors: Errors) -> None:
    after, before = spec.get("clusterIPs", []), old.get("clusterIPs", [])
    if len(after) == len(before):
        for index, ip in enumerate(before):
            if ip != after[index]:
                errors.invalid(_IPS[index], after, _FIXED)
        return
    if len(after) < len(before):
        if not after:
            errors.invalid(_IPS[0], None, "primary clusterIP can not be unset")
        elif after[0] != before[0]:
            errors.invalid(_IPS[0], after, _FIXED)
        _check_released(spec, after, "clusterIP", errors)
    elif before and after[0] != before[0]:
        errors.invalid(_IPS[0], after, _FIXED)


def _families_change(spec: Object, old: Object, errors: Errors) -> None:
    after, before = spec.get("ipFamilies", []), old.get("ipFamilies", [])
    ips = spec.get("clusterIPs", [])
    if len(after) == len(before):
        for index, family in enumerate(before):
            if family != after[index]:
                errors.invalid(_FAMILIES[0], after, _FIXED)
        return
    if len(after) < len(before):
        if not ips:
            errors.invalid(_FAMILIES[0], after or None, "primary ipFamily can not be unset")
        if after and after[0] != before[0]:
            errors.invalid(_FAMILIES[0], ips, _FIXED)
        _check_released(spec, after, "ipFamily", errors)
    elif before and after[0] != before[0]:
        errors.invalid(_FAMILIES[0], ips, _FIXED)
