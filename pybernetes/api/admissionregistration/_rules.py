"""Rules: which operations on which resources a webhook or a policy is about."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import checks, names

OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
MUTATING_OPERATIONS = ("*", "CONNECT", "CREATE", "UPDATE")
_SCOPES = ("*", "Cluster", "Namespaced")


def default_rules(rules: list[Object]) -> None:
    """Complete the scope of rules."""
    for rule in rules:
        rule.setdefault("scope", "*")


def validate_rule(rule: Object, path: Path, errors: Errors) -> None:
    """Check a rule with operations."""
    operations = rule.get("operations", [])
    if not operations:
        errors.required(path / "operations")
    if len(operations) > 1 and "*" in operations:
        errors.invalid(
            path / "operations", operations, "if '*' is present, must not specify other operations"
        )
    for index, operation in enumerate(operations):
        if operation not in OPERATIONS:
            errors.unsupported((path / "operations")[index], operation, OPERATIONS)
    for key, words in (("apiGroups", "API groups"), ("apiVersions", "API versions")):
        values = rule.get(key, [])
        if not values:
            errors.required(path / key)
        if len(values) > 1 and "*" in values:
            errors.invalid(path / key, values, f"if '*' is present, must not specify other {words}")
    for index, version in enumerate(rule.get("apiVersions", ())):
        if not version:
            errors.required((path / "apiVersions")[index])
    _resources(rule.get("resources", []), path / "resources", errors)
    if "scope" in rule and rule["scope"] not in _SCOPES:
        errors.unsupported(path / "scope", rule["scope"], _SCOPES)


def _resources(resources: list[str], path: Path, errors: Errors) -> None:
    if not resources:
        errors.required(path)
    # Resources whose subresources are all meant, and subresources that are meant of all resources.
    whole: set[str] = set()
    everywhere: set[str] = set()
    plain = False
    for index, text in enumerate(resources):
        if not text:
            errors.required(path[index])
            continue
        resource, slash, subresource = text.partition("/")
        if not slash:
            plain = text != "*"
            continue
        if resource in whole:
            errors.invalid(path[index], text, f"if '{resource}/*' is present, must not specify {text}")
        if subresource in everywhere:
            errors.invalid(path[index], text, f"if '*/{subresource}' is present, must not specify {text}")
        if subresource == "*":
            whole.add(resource)
        if resource == "*":
            everywhere.add(subresource)
    if len(resources) > 1 and "*/*" in resources:
        errors.invalid(path, resources, "if '*/*' is present, must not specify other resources")
    if "*" in resources and plain:
        text = "if '*' is present, must not specify other resources without subresources"
        errors.invalid(path, resources, text)


def validate_named_rule(rule: Object, path: Path, errors: Errors) -> None:
    """Check a rule that may also name objects."""
    seen: set[str] = set()
    for index, name in enumerate(rule.get("resourceNames", ())):
        where = (path / "resourceNames")[index]
        checks.name(names.path_segment, name, where, errors)
        if name in seen:
            errors.duplicate(where, name)
        seen.add(name)
    validate_rule(rule, path, errors)


def validate_mutating_operations(match: Object, path: Path, errors: Errors) -> None:
    """Check that no rule is about deletion, where there is nothing to change."""
    for rule in match.get("resourceRules", ()):
        for operation in rule.get("operations", ()):
            if operation not in MUTATING_OPERATIONS:
                errors.unsupported(path / "resourceRules" / "operations", operation, MUTATING_OPERATIONS)
