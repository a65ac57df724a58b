"""CSINode: the volume drivers that a node has."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.metadata import keep_metadata
from pybernetes.api.resource import KEEPS_METADATA, Column, Object, Resource
from pybernetes.api.status import default_spec_and_status, start_empty
from pybernetes.api.storage import _common
from pybernetes.api.table import AGE, NAME, get
from pybernetes.api.text import go_format
from pybernetes.api.validation import checks, meta, names, numbers

_DRIVERS = Path("spec") / "drivers"
_MAX_NODE_ID = 256


def prepare_status_update(new: Object, old: Object) -> None:
    """Keep the metadata, and drop the health of storage: that feature is off."""
    keep_metadata(new, old)
    if not get(old, ".status.storageHealth"):
        new.get("status", {}).pop("storageHealth", None)


def validate(obj: Object, errors: Errors) -> None:
    """Check each driver."""
    seen: set[str] = set()
    for index, driver in enumerate(obj.get("spec", {}).get("drivers", ())):
        _driver(driver, seen, _DRIVERS[index], errors)


def _driver(driver: Object, seen: set[str], path: Path, errors: Errors) -> None:
    name, node = driver.get("name", ""), driver.get("nodeID", "")
    _common.driver_name(name, path / "name", errors)
    if not node:
        errors.required(path / "nodeID")
    if len(node.encode()) > _MAX_NODE_ID:
        errors.invalid(path / "nodeID", node, f"must be {_MAX_NODE_ID} characters or less")
    numbers.nonnegative(driver.get("allocatable", {}).get("count", 0), path / "allocatable" / "count", errors)
    if name in seen:
        errors.duplicate(path / "name", name)
    seen.add(name)
    keys: set[str] = set()
    for key in driver.get("topologyKeys", ()):
        if not key:
            errors.required(path)
        if key in keys:
            errors.duplicate(path, key)
        keys.add(key)
        checks.name(names.qualified_name, key, path, errors)


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that a driver that stays keeps everything but how many volumes it takes."""
    known = {driver.get("name"): driver for driver in new.get("spec", {}).get("drivers", ())}
    for before in old.get("spec", {}).get("drivers", ()):
        if after := known.get(before.get("name")):
            meta.immutable(_without_count(after), _without_count(before), _DRIVERS, errors)


def _without_count(driver: Object) -> go_format.Struct:
    """Return the driver as messages show it, but for how many volumes it takes."""
    name, node, keys = (driver.get(key) for key in ("name", "nodeID", "topologyKeys"))
    return go_format.Struct(Name=name or "", NodeID=node or "", TopologyKeys=keys, Allocatable=None)


RESOURCE = Resource(
    group="storage.k8s.io",
    version="v1",
    kind="CSINode",
    plural="csinodes",
    namespaced=False,
    subresources=("status",),
    reset=KEEPS_METADATA,
    unconditional_update=False,
    columns=(
        NAME,
        Column("Drivers", lambda obj, now: len(get(obj, ".spec.drivers", ())), type="integer"),
        AGE,
    ),
    default=default_spec_and_status,
    prepare_create=start_empty,
    prepare_status_update=prepare_status_update,
    validate=validate,
    validate_update=validate_update,
)
