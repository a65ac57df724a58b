"""ResourceSlice: devices that a driver publishes, a part of a pool."""

from __future__ import annotations

from pybernetes.api.dynamic_resources import GROUP, _lists, _names
from pybernetes.api.dynamic_resources._devices import validate_counters, validate_device
from pybernetes.api.dynamic_resources._taints import default_taint
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.table import AGE, NAME, get
from pybernetes.api.text import go_format
from pybernetes.api.validation import checks, meta, names
from pybernetes.api.validation.selectors import validate_node_selector

_SPEC = Path("spec")
_MOST_DEVICES, _MOST_RICH_DEVICES, _MOST_COUNTER_SETS = 128, 64, 8
_ONE_OF = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"


def default(obj: Object) -> None:
    """Complete the times of taints, and what is always shown."""
    spec = obj.setdefault("spec", {})
    pool = spec.setdefault("pool", {})
    pool.setdefault("generation", 0)
    pool.setdefault("name", "")
    for device in spec.get("devices", ()):
        for taint in device.get("taints", ()):
            default_taint(taint)


def _drop(obj: Object, old: Object | None = None) -> None:
    """Drop the fields of features that are off."""
    spec = obj.get("spec", {})
    for key in ("skipNodeOperations", "partitionTypeAttribute"):
        spec.pop(key, None)
    for device in spec.get("devices", ()):
        device.pop("nodeAllocatableResources", None)
        for consumption in device.get("consumesCounters", ()):
            consumption.pop("compatibilityGroups", None)
        for attribute in device.get("attributes", {}).values():
            for key in ("bools", "ints", "strings", "versions"):
                attribute.pop(key, None)


def validate(obj: Object, errors: Errors) -> None:
    """Check the pool, where the devices are, and the devices."""
    late = Errors()
    spec = obj.get("spec", {})
    _names.driver(spec.get("driver", ""), _SPEC / "driver", errors)
    _pool(spec.get("pool", {}), _SPEC / "pool", errors)
    _nodes(spec, errors)
    devices, counters = spec.get("devices", []), spec.get("sharedCounters", [])
    if devices and counters:
        errors.invalid(_SPEC, "", "only one of `sharedCounters` or `devices` is allowed")
    rich = any(device.get("taints") or device.get("consumesCounters") for device in devices)
    per_device = spec.get("perDeviceNodeSelection", False)
    _lists.check_items(
        devices,
        _MOST_RICH_DEVICES if rich else _MOST_DEVICES,
        lambda item, here: validate_device(item, per_device, here, errors, late),
        _SPEC / "devices",
        errors,
    )
    _lists.unique_names(devices, _SPEC / "devices", errors)
    path = _SPEC / "sharedCounters"
    _lists.check_unique_items(
        counters,
        _MOST_COUNTER_SETS,
        "name",
        lambda item, here: validate_counters(item, "name", here, errors, late),
        path,
        late,
    )
    errors.extend(late)


def _pool(pool: Object, path: Path, errors: Errors) -> None:
    _names.pool(pool.get("name", ""), path / "name", errors)
    count, generation = pool.get("resourceSliceCount", 0), pool.get("generation", 0)
    if count <= 0:
        errors.invalid(path / "resourceSliceCount", count, "must be greater than zero")
    if generation < 0:
        errors.invalid(path / "generation", generation, "must be greater than or equal to zero")


def _nodes(spec: Object, errors: Errors) -> None:
    given = []
    if "nodeName" in spec:
        if spec["nodeName"]:
            given.append("`nodeName`")
            checks.name(names.dns_subdomain, spec["nodeName"], _SPEC / "nodeName", errors)
        else:
            text = "must be either unset or set to a non-empty string"
            errors.invalid(_SPEC / "nodeName", "", text)
    if "nodeSelector" in spec:
        given.append("`nodeSelector`")
        validate_node_selector(spec["nodeSelector"], _SPEC / "nodeSelector", errors)
        terms = spec["nodeSelector"].get("nodeSelectorTerms")
        if len(terms or ()) != 1:
            path = _SPEC / "nodeSelector" / "nodeSelectorTerms"
            errors.invalid(path, terms, "must have exactly one node selector term")
    for key in ("allNodes", "perDeviceNodeSelection"):
        if key in spec:
            if spec[key]:
                given.append(f"`{key}`")
            else:
                errors.invalid(_SPEC / key, False, "must be either unset or set to true")
    if not given:
        errors.required(_SPEC, _ONE_OF)
    elif len(given) > 1:
        errors.invalid(_SPEC, "{" + ", ".join(given) + "}", _ONE_OF + ", but multiple fields are set")


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that the pool, the driver and the node stay."""
    for key in ("pool.name", "driver", "nodeName"):
        after, before = get(new, f".spec.{key}"), get(old, f".spec.{key}")
        meta.immutable(after, before, _SPEC / key, errors)


def warnings(obj: Object, old: Object | None) -> list[str]:
    """Warn about a driver whose name is not in lower case."""
    driver = get(obj, ".spec.driver", "")
    if driver == driver.lower() or (old and get(old, ".spec.driver") == driver):
        return []
    return [
        f"spec.driver: driver names should be lowercase; {go_format.quote(driver)} contains uppercase characters"
    ]


RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="ResourceSlice",
    plural="resourceslices",
    namespaced=False,
    generation=True,
    selectable={
        "spec.nodeName": lambda obj: get(obj, ".spec.nodeName", ""),
        "spec.driver": lambda obj: get(obj, ".spec.driver", ""),
    },
    columns=(
        NAME,
        Column("Node", lambda obj, now: get(obj, ".spec.nodeName", "")),
        Column("Driver", lambda obj, now: get(obj, ".spec.driver", "")),
        Column("Pool", lambda obj, now: get(obj, ".spec.pool.name", "")),
        AGE,
    ),
    default=default,
    prepare_create=_drop,
    prepare_update=_drop,
    validate=validate,
    validate_update=validate_update,
    warnings=warnings,
)
