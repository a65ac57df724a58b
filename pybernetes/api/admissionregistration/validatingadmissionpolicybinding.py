"""ValidatingAdmissionPolicyBinding: where a policy is used, with which parameters, and what it does."""

from __future__ import annotations

from pybernetes.api.admissionregistration import GROUP, _match
from pybernetes.api.admissionregistration._names import validate_name, warnings
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object, Resource
from pybernetes.api.validation import checks

_SPEC = Path("spec")
_ACTIONS = ("Audit", "Deny", "Warn")


def validate(obj: Object, errors: Errors) -> None:
    """Check the policy, the parameters and the actions."""
    spec = obj.get("spec", {})
    _match.validate_binding(spec, errors)
    actions = spec.get("validationActions", [])
    path = _SPEC / "validationActions"
    repeated = set(checks.repetitions(actions))
    for index, action in enumerate(actions):
        if action not in _ACTIONS:
            errors.unsupported(path[index], action, _ACTIONS)
        if index in repeated:
            errors.duplicate(path[index], action)
    if "Deny" in actions and "Warn" in actions:
        text = (
            "must not contain both Deny and Warn (repeating the same validation failure information "
            "in the API response and headers serves no purpose)"
        )
        errors.invalid(path, actions, text)
    if not spec.get("policyName"):
        errors.required(_SPEC / "policyName")
    if not actions:
        errors.required(path)


RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="ValidatingAdmissionPolicyBinding",
    plural="validatingadmissionpolicybindings",
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
