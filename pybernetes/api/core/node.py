"""Node: a machine that runs pods."""

from __future__ import annotations

import re

from pybernetes.api.core import _node_config
from pybernetes.api.defaults.resources import default_resource_list
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.table import AGE, NAME
from pybernetes.api.text import go_format
from pybernetes.api.validation import addresses, checks, names, resources

_INFO = (
    "architecture", "bootID", "containerRuntimeVersion", "kernelVersion", "kubeProxyVersion", "kubeletVersion",
    "machineID", "operatingSystem", "osImage", "systemUUID",
)  # fmt: skip
_ROLE = "node-role.kubernetes.io/"
_FEATURE = re.compile(r"[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*\Z")
_CIDRS = Path("spec") / "podCIDRs"
_TAINTS = Path("metadata") / "taints"  # upstream's path, though the field is in the spec
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def default(obj: Object) -> None:
    """Keep both forms of the pod CIDR in step; everything is allocatable unless it is said otherwise."""
    spec = obj.setdefault("spec", {})
    cidr, cidrs = spec.get("podCIDR"), spec.get("podCIDRs")
    if cidr and (not cidrs or cidrs[0] != cidr):
        spec["podCIDRs"] = [cidr]
    elif cidrs and not cidr:
        spec["podCIDR"] = cidrs[0]
    status = obj.setdefault("status", {})
    if "capacity" in status:
        default_resource_list(status["capacity"])
        status.setdefault("allocatable", dict(status["capacity"]))
    if "allocatable" in status:
        default_resource_list(status["allocatable"])
    # Go writes these structs even when they are empty.
    endpoints = status.setdefault("daemonEndpoints", {})
    endpoints.setdefault("kubeletEndpoint", {}).setdefault("Port", 0)
    info = status.setdefault("nodeInfo", {})
    for key in _INFO:
        info.setdefault(key, "")


def prepare_create(obj: Object) -> None:
    """Drop what is not in use any more, or not yet."""
    obj.get("spec", {}).pop("configSource", None)
    obj.get("spec", {}).pop("podPreemptionPolicy", None)
    obj.get("status", {}).pop("config", None)


def prepare_update(new: Object, old: Object) -> None:
    """Drop what is not in use any more, or not yet, unless it was there."""
    before = old.get("spec", {})
    for key in ("configSource", "podPreemptionPolicy"):
        if key not in before:
            new.get("spec", {}).pop(key, None)


def prepare_status_update(new: Object, old: Object) -> None:
    """Drop the configuration that nothing sets any more."""
    if "config" not in old.get("status", {}):
        new.get("status", {}).pop("config", None)


def validate(obj: Object, errors: Errors) -> None:
    """Check taints, amounts and the CIDRs of pods."""
    spec, status = obj.get("spec", {}), obj.get("status", {})
    _taints(spec.get("taints", ()), errors)
    _amounts(status, errors)
    swap = status.get("nodeInfo", {}).get("swap", {})
    if "capacity" in swap and swap["capacity"] <= 0:
        errors.invalid(
            Path("metadata") / "nodeSwapStatus" / "capacity", swap["capacity"], "must be greater than zero"
        )
    _features(status, errors)
    cidrs = spec.get("podCIDRs", [])
    for index, cidr in enumerate(cidrs):
        addresses.legacy_cidr(cidr, _CIDRS[index], errors)
    if len(cidrs) > 1:
        networks = [addresses.parse_cidr_sloppy(cidr) for cidr in cidrs]
        bad = next((index for index, network in enumerate(networks) if network is None), None)
        if bad is not None:
            problem = f"invalid CIDR[{bad}]: <nil> (invalid CIDR address: {cidrs[bad]})"
            text = "invalid PodCIDRs. failed to check with dual stack with error:"
            errors.internal(_CIDRS, text + problem)
        versions = {network.version for network in networks if network is not None}
        if bad is not None or len(cidrs) > 2 or len(versions) != 2:
            errors.invalid(_CIDRS, cidrs, "may specify no more than one CIDR for each IP family")


def _taints(taints: list[Object], errors: Errors) -> None:
    seen = set()
    for index, taint in enumerate(taints):
        path = _TAINTS[index]
        key, value, effect = taint.get("key", ""), taint.get("value", ""), taint.get("effect", "")
        checks.name(names.qualified_name, key, path / "key", errors)
        if problems := names.label_value(value):
            errors.invalid(path / "value", value, ";".join(problems))
        if not effect:
            errors.required(path / "effect")
        elif effect not in _EFFECTS:
            errors.unsupported(path / "effect", effect, _EFFECTS)
        if (key, effect) in seen:
            shown = go_format.Struct(Key=key, Value=value, Effect=effect, TimeAdded=taint.get("timeAdded"))
            errors.duplicate(path, shown)
            errors[-1].detail = "taints must be unique by key and effect pair"
        seen.add((key, effect))


def _amounts(status: Object, errors: Errors) -> None:
    for part in ("capacity", "allocatable"):
        for name, value in status.get(part, {}).items():
            resources.quantity_value(name, value, Path("status") / part / name, errors)


def _features(status: Object, errors: Errors) -> None:
    path = Path("status") / "declaredFeatures"
    previous: str | None = None
    for index, feature in enumerate(status.get("declaredFeatures", ())):
        if len(feature.encode()) > 253:
            text = f'invalid feature name "{feature}": must be no more than 253 characters'
            errors.invalid(path[index], feature, text)
        elif not _FEATURE.match(feature):
            text = (
                f'invalid feature name "{feature}": must start with an UpperCamelCase segment, with subsequent '
                "segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), "
                "and contain only alphanumeric characters and slashes"
            )
            errors.invalid(path[index], feature, text)
        if previous is not None:
            if feature == previous:
                errors.duplicate(path[index], feature)
            elif feature < previous:
                errors.invalid(path[index], feature, "list must be sorted alphabetically")
        previous = feature


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that what is given once stays: CIDRs, the provider's ID."""
    spec, before, status = new.get("spec", {}), old.get("spec", {}), new.get("status", {})
    _addresses(status, errors)
    if before.get("podCIDRs") and before["podCIDRs"] != spec.get("podCIDRs"):
        errors.forbidden(_CIDRS, 'node updates may not change podCIDR except from "" to valid')
    provider = Path("spec") / "providerID"
    if before.get("providerID") and spec.get("providerID") != before["providerID"]:
        verb = "modified" if spec.get("providerID") else "cleared"
        errors.invalid(provider, None, f"field cannot be {verb} once set")
    if "configSource" in spec:
        _node_config.validate_source(spec["configSource"], False, Path("spec") / "configSource", errors)
    if spec.get("externalID", "") != before.get("externalID", ""):
        errors.forbidden(Path("spec") / "externalID", "may not be updated")


def validate_status_update(new: Object, old: Object, errors: Errors) -> None:
    """Check amounts, features, addresses and the configuration that the node reports."""
    status = new.get("status", {})
    _amounts(status, errors)
    _features(status, errors)
    _addresses(status, errors)
    for key in ("assigned", "active", "lastKnownGood"):
        if key in status.get("config", {}):
            path = Path("status") / "config" / key
            _node_config.validate_source(status["config"][key], True, path, errors)


def _addresses(status: Object, errors: Errors) -> None:
    pairs = [(item.get("type", ""), item.get("address", "")) for item in status.get("addresses", ())]
    for index in checks.repetitions(pairs):
        type_, address = pairs[index]
        errors.duplicate((Path("status") / "addresses")[index], go_format.Struct(Type=type_, Address=address))


def warnings(obj: Object, old: Object | None) -> list[str]:
    """Warn about fields without effect and CIDRs in unusual spellings."""
    spec = obj.get("spec", {})
    messages = []
    if "configSource" in spec:
        messages.append("spec.configSource: the feature is removed")
    if spec.get("externalID"):
        messages.append("spec.externalID: this field is deprecated, and is unused by Kubernetes")
    for index, cidr in enumerate(spec.get("podCIDRs", ())):
        messages += addresses.cidr_warnings(cidr, _CIDRS[index])
    return messages


def _status(obj: Object, now: float) -> str:
    conditions = obj.get("status", {}).get("conditions", ())
    ready = [condition.get("status") for condition in conditions if condition.get("type") == "Ready"]
    words = ["Unknown" if not ready else "Ready" if ready[-1] == "True" else "NotReady"]
    if obj.get("spec", {}).get("unschedulable"):
        words.append("SchedulingDisabled")
    return ",".join(words)


def _roles(obj: Object, now: float) -> str:
    labels = obj["metadata"].get("labels") or {}
    roles = {key.removeprefix(_ROLE) for key in labels if key.startswith(_ROLE)} | {
        labels.get("kubernetes.io/role")
    }
    return ",".join(sorted(role for role in roles if role)) or "<none>"


def _info(obj: Object, key: str, unknown: str = "<unknown>") -> str:
    return obj.get("status", {}).get("nodeInfo", {}).get(key) or unknown


def _kernel(obj: Object, now: float) -> str:
    architecture = _info(obj, "architecture", "")
    return _info(obj, "kernelVersion") + (f" ({architecture})" if architecture else "")


def _address(obj: Object, type_: str) -> str:
    internal_addresses = (
        address.get("address", "")
        for address in obj.get("status", {}).get("addresses", ())
        if address.get("type") == type_
    )
    return next(internal_addresses, "<none>")


RESOURCE = Resource(
    group="",
    version="v1",
    kind="Node",
    plural="nodes",
    short_names=("no",),
    namespaced=False,
    subresources=("proxy", "status"),
    storage_path="minions",
    status_on_create=True,
    columns=(
        NAME,
        Column("Status", _status),
        Column("Roles", _roles),
        AGE,
        Column("Version", lambda obj, now: _info(obj, "kubeletVersion", "")),
        Column("Internal-IP", lambda obj, now: _address(obj, "InternalIP"), priority=1),
        Column("External-IP", lambda obj, now: _address(obj, "ExternalIP"), priority=1),
        Column("OS-Image", lambda obj, now: _info(obj, "osImage"), priority=1),
        Column("Kernel-Version", _kernel, priority=1),
        Column("Container-Runtime", lambda obj, now: _info(obj, "containerRuntimeVersion"), priority=1),
    ),
    selectable={
        "spec.unschedulable": lambda obj: str(bool(obj.get("spec", {}).get("unschedulable"))).lower()
    },
    default=default,
    prepare_create=prepare_create,
    prepare_update=prepare_update,
    prepare_status_update=prepare_status_update,
    validate=validate,
    validate_update=validate_update,
    validate_status_update=validate_status_update,
    warnings=warnings,
)
