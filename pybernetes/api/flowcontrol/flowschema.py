"""FlowSchema: which requests go to which priority level of the API server."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.flowcontrol import GROUP
from pybernetes.api.flowcontrol._conditions import validate_conditions, validate_status_update
from pybernetes.api.flowcontrol._rules import validate_rule
from pybernetes.api.resource import KEEPS_METADATA, Column, Object, Resource
from pybernetes.api.status import start_empty
from pybernetes.api.table import AGE, NAME, get
from pybernetes.api.validation import checks, names

_SPEC = Path("spec")
_METHODS = ("ByNamespace", "ByUser")


def _everything(level: str, precedence: int, method: str, *groups: str) -> Object:
    """Return the spec of a schema that takes every request of some groups."""
    spec: Object = {
        "priorityLevelConfiguration": {"name": level},
        "matchingPrecedence": precedence,
        "rules": [
            {
                "subjects": [{"kind": "Group", "group": {"name": group}} for group in groups],
                "resourceRules": [
                    {
                        "verbs": ["*"],
                        "apiGroups": ["*"],
                        "resources": ["*"],
                        "clusterScope": True,
                        "namespaces": ["*"],
                    }
                ],
                "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
            }
        ],
    }
    if method:
        spec["distinguisherMethod"] = {"type": method}
    return spec


# The schemas that every cluster has and nobody may change.
MANDATORY = {
    "exempt": _everything("exempt", 1, "", "system:masters"),
    "catch-all": _everything("catch-all", 10000, "ByUser", "system:unauthenticated", "system:authenticated"),
}


def default(obj: Object) -> None:
    """Complete the precedence."""
    spec = obj.setdefault("spec", {})
    if not spec.get("matchingPrecedence"):
        spec["matchingPrecedence"] = 1000


def validate(obj: Object, errors: Errors) -> None:
    """Check the precedence, the priority level and the rules."""
    name, spec = obj["metadata"].get("name", ""), obj.get("spec", {})
    precedence = spec.get("matchingPrecedence", 0)
    path = _SPEC / "matchingPrecedence"
    if precedence <= 0:
        errors.invalid(path, precedence, "must be a positive value")
    if precedence > 10000:
        errors.invalid(path, precedence, "must not be greater than 10000")
    if precedence == 1 and name != "exempt":
        errors.invalid(path, precedence, "only the schema named 'exempt' may have matchingPrecedence 1")
    method = spec.get("distinguisherMethod")
    if method is not None and method.get("type", "") not in _METHODS:
        shown = {"Type": method.get("type", "")}
        errors.unsupported(_SPEC / "distinguisherMethod" / "type", shown, _METHODS)
    level = spec.get("priorityLevelConfiguration", {}).get("name", "")
    path = _SPEC / "priorityLevelConfiguration" / "name"
    if not level:
        errors.required(path, "must reference a priority level")
    else:
        checks.name(names.dns_subdomain, level, path, errors)
    for index, rule in enumerate(spec.get("rules", ())):
        validate_rule(rule, (_SPEC / "rules")[index], errors)
    if name in MANDATORY and spec != MANDATORY[name]:
        errors.invalid(_SPEC, spec, f"spec of '{name}' must equal the fixed value")
    validate_conditions(obj, errors)


def _missing(obj: Object, now: float) -> str:
    for condition in obj.get("status", {}).get("conditions", ()):
        if condition.get("type") == "Dangling":
            return condition.get("status", "")
    return "?"


def _method(obj: Object, now: float) -> str:
    method = get(obj, ".spec.distinguisherMethod")
    return "<none>" if method is None else method.get("type", "")


RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="FlowSchema",
    plural="flowschemas",
    namespaced=False,
    subresources=("status",),
    reset=KEEPS_METADATA,
    generation=True,
    columns=(
        NAME,
        Column("PriorityLevel", lambda obj, now: get(obj, ".spec.priorityLevelConfiguration.name", "")),
        Column("MatchingPrecedence", lambda obj, now: get(obj, ".spec.matchingPrecedence", 0)),
        Column("DistinguisherMethod", _method),
        AGE,
        Column("MissingPL", _missing, description="Whether its priority level is missing."),
    ),
    default=default,
    prepare_create=start_empty,
    validate=validate,
    validate_status_update=validate_status_update,
)
