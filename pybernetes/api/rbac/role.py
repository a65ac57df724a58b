"""Role: permissions inside one namespace."""

from __future__ import annotations

from pybernetes.api.field import Errors
from pybernetes.api.rbac import GROUP
from pybernetes.api.rbac._rules import validate_rules
from pybernetes.api.resource import Object, Resource
from pybernetes.api.validation import names


def validate(obj: Object, errors: Errors) -> None:
    """Check the rules."""
    validate_rules(obj.get("rules", []), True, errors)


RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="Role",
    plural="roles",
    name_errors=names.path_segment,
    create_on_update=True,
    validate=validate,
)
