"""ClusterRole: permissions in the whole cluster, or a template for bindings in a namespace."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.rbac import GROUP
from pybernetes.api.rbac._rules import validate_rules
from pybernetes.api.resource import Object, Resource
from pybernetes.api.validation import names
from pybernetes.api.validation.selectors import validate_label_selector

_SELECTORS = Path("aggregationRule") / "clusterRoleSelectors"


def validate(obj: Object, errors: Errors) -> None:
    """Check the rules and the selectors of the roles that it gathers."""
    validate_rules(obj.get("rules", []), False, errors)
    if "aggregationRule" not in obj:
        return
    selectors = obj["aggregationRule"].get("clusterRoleSelectors", ())
    if not selectors:
        errors.required(_SELECTORS, "at least one clusterRoleSelector required if aggregationRule is non-nil")
    for index, selector in enumerate(selectors):
        before = len(errors)
        validate_label_selector(selector, _SELECTORS[index], errors)
        if len(errors) > before:
            errors.invalid(_SELECTORS[index], None, "invalid label selector.")


RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="ClusterRole",
    plural="clusterroles",
    namespaced=False,
    name_errors=names.path_segment,
    create_on_update=True,
    validate=validate,
)
