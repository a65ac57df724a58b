"""MutatingAdmissionPolicyBinding: where a policy is used, and with which parameters."""

from __future__ import annotations

from pybernetes.api.admissionregistration import GROUP, _match
from pybernetes.api.admissionregistration._names import validate_name, warnings
from pybernetes.api.admissionregistration._rules import validate_mutating_operations
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object, Resource

_SPEC = Path("spec")


def validate(obj: Object, errors: Errors) -> None:
    """Check the policy and the parameters."""
    spec = obj.get("spec", {})
    if not spec.get("policyName"):
        errors.required(_SPEC / "policyName")
    _match.validate_binding(spec, errors)
    validate_mutating_operations(spec.get("matchResources") or {}, _SPEC / "matchResources", errors)


RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="MutatingAdmissionPolicyBinding",
    plural="mutatingadmissionpolicybindings",
    categories=("api-extensions",),
    namespaced=False,
    generation=True,
    unconditional_update=False,
    columns=_match.BINDING_COLUMNS,
    default=_match.default_binding,
    validate=validate,
    validate_create=validate_name,
    warnings=warnings,
)
