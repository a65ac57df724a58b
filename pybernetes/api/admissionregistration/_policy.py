"""What the two kinds of admission policy have in common: what they match, and what their expressions see."""

from __future__ import annotations

from typing import Any

from pybernetes.api.admissionregistration import _match
from pybernetes.api.admissionregistration._expressions import (
    how,
    validate_match_conditions,
    validate_variables,
)
from pybernetes.api.cel.types import Type
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object

SPEC = Path("spec")
CONSTRAINTS = SPEC / "matchConstraints"


def default(obj: Object) -> None:
    """Complete the failure policy and what is matched."""
    spec = obj.setdefault("spec", {})
    spec.setdefault("failurePolicy", "Fail")
    _match.default_match(spec.get("matchConstraints"))


def validate_matching(spec: Object, errors: Errors) -> None:
    """Check the failure policy, the kind of the parameters and what is matched."""
    _match.validate_failure_policy(spec, SPEC, errors)
    if "paramKind" in spec:
        _match.validate_param_kind(spec["paramKind"], SPEC / "paramKind", errors)
    match = spec.get("matchConstraints")
    if match is None:
        errors.required(CONSTRAINTS)
        return
    _match.validate_match(match, CONSTRAINTS, errors)
    if not match.get("resourceRules"):
        errors.required(CONSTRAINTS / "resourceRules")


def validate_context(spec: Object, errors: Errors, patches: bool = False) -> dict[str, Any]:
    """Check match conditions and variables; return what other expressions see, for ``admission.environment``."""
    seen = how(spec, patches)
    validate_match_conditions(spec.get("matchConditions", []), SPEC / "matchConditions", errors, **seen)
    variables: Type = validate_variables(spec.get("variables", []), SPEC / "variables", errors, seen).type
    return {**seen, "variables": variables}
