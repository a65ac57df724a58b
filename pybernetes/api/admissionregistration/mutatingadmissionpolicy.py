"""MutatingAdmissionPolicy: expressions that change what is written."""

from __future__ import annotations

from pybernetes.api.admissionregistration import GROUP, _match, _policy
from pybernetes.api.admissionregistration._expressions import validate_expression
from pybernetes.api.admissionregistration._names import validate_name, warnings
from pybernetes.api.admissionregistration._policy import SPEC
from pybernetes.api.admissionregistration._rules import validate_mutating_operations
from pybernetes.api.admissionregistration._webhooks import REINVOCATION_POLICIES
from pybernetes.api.cel import admission
from pybernetes.api.cel.engine import Environment
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.table import AGE, NAME, get

# The type of a patch, the field that goes with it, and the one that does not.
_PATCHES = {"ApplyConfiguration": "applyConfiguration", "JSONPatch": "jsonPatch"}


def validate(obj: Object, errors: Errors) -> None:
    """Check the policy."""
    spec = obj.get("spec", {})
    _policy.validate_matching(spec, errors)
    if spec.get("matchConstraints") is not None:
        validate_mutating_operations(spec["matchConstraints"], _policy.CONSTRAINTS, errors)
    seen = _policy.validate_context(spec, errors, patches=True)
    where = admission.environment(**seen)
    mutations = spec.get("mutations", ())
    if not mutations:
        errors.required(SPEC / "mutations", "mutations must contain at least one item")
    for index, mutation in enumerate(mutations):
        _mutation(mutation, (SPEC / "mutations")[index], errors, where)
    policy = spec.get("reinvocationPolicy", "")
    if not policy:
        errors.required(SPEC / "reinvocationPolicy")
    elif policy not in REINVOCATION_POLICIES:
        errors.unsupported(SPEC / "reinvocationPolicy", policy, REINVOCATION_POLICIES)


def _mutation(mutation: Object, path: Path, errors: Errors, where: Environment) -> None:
    kind = mutation.get("patchType", "")
    if not kind:
        errors.required(path / "patchType")
        return
    if kind not in _PATCHES:
        errors.unsupported(path / "patchType", kind, tuple(_PATCHES))
        return
    field = _PATCHES[kind]
    if field not in mutation:
        errors.required(path / field, f"must be specified when patchType is {kind}")
    else:
        returns = admission.APPLY if kind == "ApplyConfiguration" else admission.PATCH
        expression = mutation[field].get("expression", "")
        validate_expression(expression, path / field / "expression", errors, where, returns)
    for other in _PATCHES.values():
        if other != field and other in mutation:
            errors.invalid(path / other, f"{{{other}}}", f"must not be specified when patchType is {kind}")


RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="MutatingAdmissionPolicy",
    plural="mutatingadmissionpolicies",
    categories=("api-extensions",),
    namespaced=False,
    generation=True,
    unconditional_update=False,
    compiles=True,
    columns=(
        NAME,
        Column("Mutations", lambda obj, now: len(get(obj, ".spec.mutations", ())), type="integer"),
        _match.PARAM_KIND,
        AGE,
    ),
    default=_policy.default,
    validate=validate,
    validate_create=validate_name,
    warnings=warnings,
)
