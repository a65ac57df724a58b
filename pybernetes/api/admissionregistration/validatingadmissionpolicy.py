"""ValidatingAdmissionPolicy: expressions that must hold for what is written."""

from __future__ import annotations

from pybernetes.api.admissionregistration import GROUP, _match, _policy
from pybernetes.api.admissionregistration._expressions import validate_expression
from pybernetes.api.admissionregistration._names import validate_name, warnings
from pybernetes.api.admissionregistration._policy import SPEC
from pybernetes.api.cel import admission
from pybernetes.api.cel.engine import Environment
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import KEEPS_METADATA, Column, Object, Resource
from pybernetes.api.status import start_empty
from pybernetes.api.table import AGE, NAME, get
from pybernetes.api.validation import names
from pybernetes.api.validation.conditions import validate_conditions

_REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_MOST_ANNOTATIONS = 20
_LONGEST_VALUE = 5 * 1024


def validate(obj: Object, errors: Errors) -> None:
    """Check the policy."""
    spec = obj.get("spec", {})
    _policy.validate_matching(spec, errors)
    seen = _policy.validate_context(spec, errors)
    where = admission.environment(**seen)
    plain = admission.environment(**seen, authorizer=False)
    validations, annotations = spec.get("validations", ()), spec.get("auditAnnotations", [])
    if not validations and not annotations:
        text = "validations or auditAnnotations must contain at least one item"
        errors.required(SPEC / "validations", text)
        errors.required(SPEC / "auditAnnotations", text)
    for index, validation in enumerate(validations):
        _validation(validation, (SPEC / "validations")[index], errors, where, plain)
    _annotations(annotations, obj["metadata"].get("name", ""), SPEC / "auditAnnotations", errors, where)


def _validation(
    validation: Object, path: Path, errors: Errors, where: Environment, plain: Environment
) -> None:
    expression = validation.get("expression", "")
    missing = "expression is not specified"
    validate_expression(expression, path / "expression", errors, where, admission.CONDITION, missing)
    for_message = validation.get("messageExpression", "")
    if for_message and not for_message.strip():
        errors.invalid(path / "messageExpression", for_message, "must be non-empty if specified")
    elif for_message:
        validate_expression(for_message, path / "messageExpression", errors, plain, admission.MESSAGE)
    message = validation.get("message", "")
    if message and not message.strip():
        errors.invalid(path / "message", message, "must be non-empty if specified")
    elif "\n" in message.strip() or "\r" in message.strip():
        errors.invalid(path / "message", message, "must not contain line breaks")
    if "reason" in validation and validation["reason"] not in _REASONS:
        errors.unsupported(path / "reason", validation["reason"], _REASONS)


def _annotations(
    annotations: list[Object], name: str, path: Path, errors: Errors, where: Environment
) -> None:
    if len(annotations) > _MOST_ANNOTATIONS:
        shown = [
            {"Key": annotation.get("key", ""), "ValueExpression": annotation.get("valueExpression", "")}
            for annotation in annotations
        ]
        errors.invalid(path, shown, f"must not have more than {_MOST_ANNOTATIONS} auditAnnotations")
    seen: set[str] = set()
    for index, annotation in enumerate(annotations):
        here, key = path[index], annotation.get("key", "")
        if not name:
            errors.invalid(here / "key", key, "requires metadata.name be non-empty")
        for problem in names.qualified_name(f"{name}/{key}") if name else ():
            errors.invalid(here / "key", f"{name}/{key}", problem)
        value = annotation.get("valueExpression", "").strip()
        if len(value.encode()) > _LONGEST_VALUE:
            errors.required(here / "valueExpression", f"must not exceed {_LONGEST_VALUE} bytes in length")
        else:
            text = "valueExpression is not specified"
            validate_expression(value, here / "valueExpression", errors, where, admission.ANNOTATION, text)
        if key in seen:
            errors.duplicate(here / "key", key)
        seen.add(key)


def validate_status_update(new: Object, old: Object, errors: Errors) -> None:
    """Check the warnings about expressions and the conditions."""
    status = new.get("status", {})
    path = Path("status")
    for index, warning in enumerate(get(status, "typeChecking.expressionWarnings", ())):
        here = (path / "typeChecking" / "expressionWarnings")[index]
        if not warning.get("warning"):
            errors.required(here / "warning")
        if not warning.get("fieldRef", "").strip():
            errors.required(here / "fieldRef")
    validate_conditions(status.get("conditions", []), path / "conditions", errors)


RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="ValidatingAdmissionPolicy",
    plural="validatingadmissionpolicies",
    categories=("api-extensions",),
    namespaced=False,
    subresources=("status",),
    reset=KEEPS_METADATA,
    generation=True,
    unconditional_update=False,
    compiles=True,
    columns=(
        NAME,
        Column("Validations", lambda obj, now: len(get(obj, ".spec.validations", ())), type="integer"),
        _match.PARAM_KIND,
        AGE,
    ),
    default=_policy.default,
    prepare_create=start_empty,
    validate=validate,
    validate_create=validate_name,
    warnings=warnings,
    validate_status_update=validate_status_update,
)
