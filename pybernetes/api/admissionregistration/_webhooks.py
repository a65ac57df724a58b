"""What mutating and validating webhooks share."""

from __future__ import annotations

from pybernetes.api.admissionregistration import _names
from pybernetes.api.admissionregistration._expressions import validate_match_conditions
from pybernetes.api.admissionregistration._match import FAILURE_POLICIES
from pybernetes.api.admissionregistration._rules import default_rules, validate_rule
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object
from pybernetes.api.reviews import REVIEWS
from pybernetes.api.table import AGE, NAME
from pybernetes.api.validation import names, webhook
from pybernetes.api.validation.selectors import validate_label_selector

_MATCH_POLICIES = ("Equivalent", "Exact")
_SIDE_EFFECTS = ("None", "NoneOnDryRun")
REINVOCATION_POLICIES = ("IfNeeded", "Never")


def default(obj: Object) -> None:
    """Complete every webhook."""
    for hook in obj.get("webhooks", ()):
        hook.setdefault("failurePolicy", "Fail")
        hook.setdefault("matchPolicy", "Equivalent")
        hook.setdefault("namespaceSelector", {})
        hook.setdefault("objectSelector", {})
        hook.setdefault("timeoutSeconds", 10)
        service = hook.get("clientConfig", {}).get("service")
        if service is not None:
            service.setdefault("port", 443)
        default_rules(hook.get("rules", []))


def validate(obj: Object, errors: Errors) -> None:
    """Check every webhook."""
    seen: set[str] = set()
    for index, hook in enumerate(obj.get("webhooks", ())):
        path = Path("webhooks")[index]
        _webhook(hook, path, errors)
        _versions(hook.get("admissionReviewVersions", []), path / "admissionReviewVersions", errors)
        name = hook.get("name", "")
        if name and name in seen:
            errors.duplicate(path / "name", name)
        seen.add(name)


def _webhook(hook: Object, path: Path, errors: Errors) -> None:
    _name(hook.get("name", ""), path / "name", errors)
    for index, rule in enumerate(hook.get("rules", ())):
        validate_rule(rule, (path / "rules")[index], errors)
    for key, allowed in (("failurePolicy", FAILURE_POLICIES), ("matchPolicy", _MATCH_POLICIES)):
        if key in hook and hook[key] not in allowed:
            errors.unsupported(path / key, hook[key], allowed)
    if "sideEffects" not in hook:
        errors.required(path / "sideEffects", "must specify one of " + ", ".join(_SIDE_EFFECTS))
    elif hook["sideEffects"] not in _SIDE_EFFECTS:
        errors.unsupported(path / "sideEffects", hook["sideEffects"], _SIDE_EFFECTS)
    timeout = hook.get("timeoutSeconds", 10)
    if not 1 <= timeout <= 30:
        text = "the timeout value must be between 1 and 30 seconds"
        errors.invalid(path / "timeoutSeconds", timeout, text)
    for key in ("namespaceSelector", "objectSelector"):
        validate_label_selector(hook.get(key), path / key, errors)
    policy = hook.get("reinvocationPolicy", "Never")  # of mutating webhooks only
    if policy not in REINVOCATION_POLICIES:
        errors.unsupported(path / "reinvocationPolicy", policy, REINVOCATION_POLICIES)
    webhook.client_config(hook.get("clientConfig", {}), path / "clientConfig", errors, swapped=True)
    validate_match_conditions(hook.get("matchConditions", []), path / "matchConditions", errors)


def _name(name: str, path: Path, errors: Errors) -> None:
    if not name:
        errors.required(path)
        return
    problems = names.dns_subdomain(name)
    if problems:
        errors.invalid(path, name, ",".join(problems))
    elif name.count(".") < 2:
        errors.invalid(path, name, "should be a domain with at least three segments separated by dots")


def _versions(versions: list[str], path: Path, errors: Errors) -> None:
    if versions:
        webhook.review_versions(versions, path, errors)
    else:
        errors.required(path, f"must specify one of {', '.join(webhook.REVIEW_VERSIONS)}")


def warnings(obj: Object, old: Object | None) -> list[str]:
    """Warn about the rules that will have no effect."""
    messages = _names.warnings(obj, old)
    for index, hook in enumerate(obj.get("webhooks", ())):
        for number, rule in enumerate(hook.get("rules", ())):
            groups, resources = rule.get("apiGroups", ()), rule.get("resources", ())
            if "*" in groups or "*" in resources:
                continue
            named = dict.fromkeys((group, resource) for group in groups for resource in resources)
            messages += [
                f"webhooks[{index}].rules[{number}]: {resource}.{group} is excluded from admission webhooks; "
                "this rule will have no effect"
                for group, resource in named
                # A webhook that is called for these could lock everybody out.
                if (group, resource) in REVIEWS
            ]
    return messages


COLUMNS = (
    NAME,
    Column("Webhooks", lambda obj, now: len(obj.get("webhooks", ())), type="integer"),
    AGE,
)
