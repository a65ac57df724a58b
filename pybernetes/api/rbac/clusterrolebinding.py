"""ClusterRoleBinding: who has a cluster role's permissions everywhere."""

from __future__ import annotations

from pybernetes.api.field import Errors
from pybernetes.api.rbac import GROUP, _bindings
from pybernetes.api.resource import Object, Resource
from pybernetes.api.validation import names


def validate(obj: Object, errors: Errors) -> None:
    """Check the role and the subjects."""
    _bindings.validate(obj, errors, ("ClusterRole",), namespaced=False)


RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="ClusterRoleBinding",
    plural="clusterrolebindings",
    namespaced=False,
    name_errors=names.path_segment,
    create_on_update=True,
    columns=_bindings.COLUMNS,
    default=_bindings.default,
    validate=validate,
    validate_update=_bindings.validate_update,
)
