"""Where a node's kubelet configuration comes from: a field that nothing acts on any more, still checked."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import names


def validate_source(source: Object, in_status: bool, path: Path, errors: Errors) -> None:
    """Check a reference to a config map, in the spec or in the status."""
    if "configMap" not in source:
        errors.invalid(path, source, "exactly one reference subfield must be non-nil")
        return
    held, path = source["configMap"], path / "configMap"
    for key in ("uid", "resourceVersion"):
        if in_status and not held.get(key):
            errors.required(path / key)
        elif not in_status and held.get(key):
            errors.forbidden(path / key, f"{key} must not be set in spec")
    for key, check in (
        ("namespace", names.dns_label),
        ("name", names.dns_subdomain),
        ("kubeletConfigKey", names.config_map_key),
    ):
        if not held.get(key):
            errors.required(path / key)
            continue
        for problem in check(held[key]):
            errors.invalid(path / key, held[key], problem)
