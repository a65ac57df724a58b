"""ResourceClaimTemplate: the claim that each pod of a workload gets for itself."""

from __future__ import annotations

from pybernetes.api.dynamic_resources import GROUP, _claims
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object, Resource
from pybernetes.api.table import AGE, NAME
from pybernetes.api.validation import meta

_SPEC = Path("spec")


def default(obj: Object) -> None:
    """Complete what is asked for."""
    spec = obj.setdefault("spec", {}).setdefault("spec", {})
    obj["spec"].setdefault("metadata", {})
    spec.setdefault("devices", {})
    _claims.default_claim(spec)


def _drop(obj: Object, old: Object | None = None) -> None:
    _claims.drop_disabled(obj.get("spec", {}).get("spec", {}))


def validate(obj: Object, errors: Errors) -> None:
    """Check the claim that will be made."""
    template = obj.get("spec", {})
    metadata, path = template.get("metadata", {}), _SPEC / "metadata"
    meta.check_annotations(metadata.get("annotations", {}), path / "annotations", errors)
    meta.check_labels(metadata.get("labels", {}), path / "labels", errors)
    _claims.validate_claim(template.get("spec", {}), _SPEC / "spec", errors)


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that the template stays."""
    meta.immutable(new.get("spec"), old.get("spec"), _SPEC, errors)


RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="ResourceClaimTemplate",
    plural="resourceclaimtemplates",
    columns=(NAME, AGE),
    default=default,
    prepare_create=_drop,
    prepare_update=_drop,
    validate=validate,
    validate_update=validate_update,
)
