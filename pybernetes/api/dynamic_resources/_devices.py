"""Devices that a driver publishes: attributes, counters, taints."""

from __future__ import annotations

import re

from pybernetes.api.dynamic_resources import _lists, _names
from pybernetes.api.dynamic_resources._allocation import validate_binding_conditions
from pybernetes.api.dynamic_resources._capacity import validate_policy
from pybernetes.api.dynamic_resources._taints import validate_taint
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import checks, names
from pybernetes.api.validation.selectors import validate_node_selector

_MOST_FACTS, _MOST_VALUES = 32, 48
_MOST_TAINTS, _MOST_CONSUMPTIONS, _MOST_COUNTERS = 16, 2, 32
_LONGEST_VALUE = 64
_NUMBER, _PRE, _BUILD = r"(0|[1-9]\d*)", r"(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)", "[0-9a-zA-Z-]+"
_VERSION = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PRE}(\.{_PRE})*)?(\+{_BUILD}(\.{_BUILD})*)?\Z", re.ASCII
)
_VALUES = ("int", "bool", "string", "version")
_PER_DEVICE = "`perDeviceNodeSelection` is set to true in the ResourceSlice spec"


def validate_device(device: Object, per_device: bool, path: Path, errors: Errors, late: Errors) -> None:
    """Check one device; ``per_device`` says that each names the nodes that can use it."""
    attributes, capacity = device.get("attributes", {}), device.get("capacity", {})
    _names.label(device.get("name", ""), path / "name", errors)
    count = len(attributes) + len(capacity)
    if count > _MOST_FACTS:
        text = f"the total number of attributes and capacities must not exceed {_MOST_FACTS}"
        errors.invalid(path, count, text)
    if len(attributes) > _MOST_VALUES:
        text = f"the total number of attribute values must not exceed {_MOST_VALUES}"
        errors.invalid(path, len(attributes), text)
    for name, attribute in attributes.items():
        _names.qualified(name, path / "attributes", errors)
        _attribute(attribute, (path / "attributes")[name], errors, late)
    for name, item in capacity.items():
        _names.qualified(name, path / "capacity", errors)
        here = (path / "capacity")[name]
        if "requestPolicy" not in item:
            continue
        if device.get("allowMultipleAllocations"):
            validate_policy(item["requestPolicy"], item.get("value", "0"), here / "requestPolicy", errors)
        else:
            errors.forbidden(here / "requestPolicy", "allowMultipleAllocations must be true")
    about_taints = Errors()
    _lists.check_items(
        device.get("taints", []),
        _MOST_TAINTS,
        lambda item, here: validate_taint(item, here, errors, about_taints),
        path / "taints",
        errors,
    )
    consumptions, where = device.get("consumesCounters", []), path / "consumesCounters"
    _lists.check_unique_items(
        consumptions,
        _MOST_CONSUMPTIONS,
        "counterSet",
        lambda item, here: validate_counters(item, "counterSet", here, errors, late),
        where,
        late,
    )
    late.extend(about_taints)
    _nodes(device, per_device, path, errors)
    validate_binding_conditions(device, path, errors, late)


def _attribute(attribute: Object, path: Path, errors: Errors, late: Errors) -> None:
    if "string" in attribute and len(attribute["string"].encode()) > _LONGEST_VALUE:
        errors.too_long(path / "string", _LONGEST_VALUE)
    if "version" in attribute:
        version = attribute["version"]
        if not _VERSION.match(version):
            text = "must be a string compatible with semver.org spec 2.0.0"
            errors.invalid(path / "version", version, text)
        if len(version.encode()) > _LONGEST_VALUE:
            errors.too_long(path / "version", _LONGEST_VALUE)
    given = [key for key in _VALUES if key in attribute]
    listed = ", ".join(f"`{key}`" for key in (*_VALUES, *(f"{key}s" for key in _VALUES)))
    if not given:
        late.invalid(path, "", f"must specify one of: {listed}")
    elif len(given) > 1:
        late.invalid(path, "{" + ", ".join(given) + "}", f"must specify exactly one of: {listed}")


def validate_counters(holder: Object, name: str, path: Path, errors: Errors, late: Errors) -> None:
    """Check a set of counters, which has its name in the field ``name``."""
    if not holder.get(name):
        late.required(path / name)
    else:
        _names.label(holder[name], path / name, late)
    counters = holder.get("counters", {})
    if not counters:
        late.required(path / "counters")
    elif len(counters) > _MOST_COUNTERS:
        errors.too_many(path / "counters", len(counters), _MOST_COUNTERS)
    else:
        for key in counters:
            _names.label(key, path / "counters", late)


def _nodes(device: Object, per_device: bool, path: Path, errors: Errors) -> None:
    fields = [key for key in ("nodeName", "nodeSelector", "allNodes") if key in device]
    if not per_device:
        if fields:
            text = "`nodeName`, `nodeSelector` and `allNodes` can only be set if "
            errors.invalid(path, None, text + _PER_DEVICE)
        return
    given = []
    if "nodeName" in device:
        if device["nodeName"]:
            given.append("`nodeName`")
            checks.name(names.dns_subdomain, device["nodeName"], path / "nodeName", errors)
        else:
            errors.invalid(path / "nodeName", "", "must not be empty")
    if "nodeSelector" in device:
        given.append("`nodeSelector`")
        validate_node_selector(device["nodeSelector"], path / "nodeSelector", errors)
    if "allNodes" in device:
        if device["allNodes"]:
            given.append("`allNodes`")
        else:
            errors.invalid(path / "allNodes", False, "must be either unset or set to true")
    text = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when " + _PER_DEVICE
    if not given:
        errors.required(path, text)
    elif len(given) > 1:
        errors.invalid(path, "{" + ", ".join(given) + "}", text)
