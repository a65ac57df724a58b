"""DeviceClass: a kind of device that an administrator offers under a name."""

from __future__ import annotations

from pybernetes.api.dynamic_resources import GROUP, _claims, _lists, _names
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object, Resource
from pybernetes.api.table import AGE, NAME

_SPEC = Path("spec")
_MOST = 32


def default(obj: Object) -> None:
    """Complete an absent spec, which is always shown."""
    obj.setdefault("spec", {})


def validate(obj: Object, errors: Errors) -> None:
    """Check the selectors and the configuration."""
    late = Errors()
    spec = obj.get("spec", {})
    _claims.validate_selectors(spec.get("selectors", []), _SPEC / "selectors", errors, late)
    _lists.check_items(
        spec.get("config", []),
        _MOST,
        lambda item, here: _claims.validate_opaque(item, here, errors, late),
        _SPEC / "config",
        late,
    )
    if "extendedResourceName" in spec:
        _names.extended_resource(spec["extendedResourceName"], _SPEC / "extendedResourceName", late)
    errors.extend(late)


RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="DeviceClass",
    plural="deviceclasses",
    namespaced=False,
    generation=True,
    columns=(NAME, AGE),
    default=default,
    validate=validate,
)
