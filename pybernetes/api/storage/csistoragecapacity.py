"""CSIStorageCapacity: how much storage a driver has left for a class in a part of the cluster."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object, Resource
from pybernetes.api.validation import checks, meta, names, resources
from pybernetes.api.validation.node_labels import DEPRECATED, node_selector_term_warnings
from pybernetes.api.validation.selectors import validate_label_selector


def validate(obj: Object, errors: Errors) -> None:
    """Check the class, the topology and the amount."""
    if "nodeTopology" in obj:
        validate_label_selector(obj["nodeTopology"], Path("nodeTopology"), errors)
    name = obj.get("storageClassName", "")
    checks.name(names.dns_subdomain, name, Path("storageClassName"), errors)
    if "capacity" in obj:
        resources.nonnegative_quantity(obj["capacity"], Path("capacity"), errors)


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that it goes on describing the same place and class."""
    for key in ("nodeTopology", "storageClassName"):
        meta.immutable(new.get(key), old.get(key), Path(key), errors)


def warnings(new: Object, old: Object | None) -> list[str]:
    """Warn about labels of nodes that have newer names."""
    topology, path = new.get("nodeTopology", {}), Path("nodeTopology")
    messages = node_selector_term_warnings(topology, path)
    for key in topology.get("matchLabels", {}):
        if key in DEPRECATED:
            messages.append(f"{path / 'matchLabels' / key}: {DEPRECATED[key]}")
    return messages


RESOURCE = Resource(
    group="storage.k8s.io",
    version="v1",
    kind="CSIStorageCapacity",
    plural="csistoragecapacities",
    unconditional_update=False,
    # Upstream shows its objects with the plain columns.
    validate=validate,
    validate_update=validate_update,
    warnings=warnings,
)
