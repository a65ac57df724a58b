"""What policies and their bindings share: the resources that they match and their parameters."""

from __future__ import annotations

from pybernetes.api.admissionregistration._rules import default_rules, validate_named_rule
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object
from pybernetes.api.table import AGE, NAME, get
from pybernetes.api.text.printed_selector import printed
from pybernetes.api.validation import names
from pybernetes.api.validation.selectors import validate_label_selector

_POLICIES = ("Equivalent", "Exact")
FAILURE_POLICIES = ("Fail", "Ignore")


def default_match(match: Object | None) -> None:
    """Complete the policy, the selectors and the rules."""
    if match is None:
        return
    match.setdefault("matchPolicy", "Equivalent")
    match.setdefault("namespaceSelector", {})
    match.setdefault("objectSelector", {})
    default_rules(match.get("resourceRules", []))
    default_rules(match.get("excludeResourceRules", []))


def validate_match(match: Object | None, path: Path, errors: Errors) -> None:
    """Check the resources that are matched."""
    if match is None:
        return
    policy = match.get("matchPolicy", "")
    if policy not in _POLICIES:
        errors.unsupported(path / "matchPolicy", policy, _POLICIES)
    for key in ("namespaceSelector", "objectSelector"):
        validate_label_selector(match.get(key), path / key, errors)
    for key in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate(match.get(key, ())):
            validate_named_rule(rule, (path / key)[index], errors)


def default_binding(obj: Object) -> None:
    """Complete what a binding matches."""
    default_match(obj.setdefault("spec", {}).get("matchResources"))


def validate_binding(spec: Object, errors: Errors) -> None:
    """Check the name of the policy, if there is one, the parameters and what is matched."""
    name, path = spec.get("policyName", ""), Path("spec")
    for problem in names.dns_subdomain(name) if name else ():
        errors.invalid(path / "policyName", name, problem)
    validate_param_ref(spec.get("paramRef"), path / "paramRef", errors)
    validate_match(spec.get("matchResources"), path / "matchResources", errors)


def validate_failure_policy(spec: Object, path: Path, errors: Errors) -> None:
    """Check what happens if the policy itself fails."""
    policy = spec.get("failurePolicy", "")
    if policy not in FAILURE_POLICIES:
        errors.unsupported(path / "failurePolicy", policy, FAILURE_POLICIES)


def validate_param_kind(kind: Object, path: Path, errors: Errors) -> None:
    """Check the kind that the parameters of a policy have."""
    api_version = kind.get("apiVersion", "")
    if not api_version:
        errors.required(path / "apiVersion")
    elif api_version.count("/") > 1:
        text = f"unexpected GroupVersion string: {api_version}"
        errors.invalid(path / "apiVersion", api_version, text)
    else:
        _group_version(api_version, path / "apiVersion", errors)
    name = kind.get("kind", "")
    if not name:
        errors.required(path / "kind")
        return
    problems = names.dns1035_label(name.lower())
    if problems:
        text = "may have mixed case, but should otherwise match: " + ",".join(problems)
        errors.invalid(path / "kind", name, text)


def _group_version(text: str, path: Path, errors: Errors) -> None:
    group, _, version = text.rpartition("/")
    problems = names.dns_subdomain(group) if group else []
    if problems:
        errors.invalid(path, group, ",".join(problems))
    if not version:
        errors.invalid(path, text, "version must be specified")
        return
    problems = names.dns1035_label(version)
    if problems:
        errors.invalid(path, version, ",".join(problems))


def validate_param_ref(reference: Object | None, path: Path, errors: Errors) -> None:
    """Check the parameters that a binding chooses."""
    if reference is None:
        return
    name, selector = reference.get("name", ""), reference.get("selector")
    exclusive = "name and selector are mutually exclusive"
    for problem in names.path_segment(name) if name else ():
        errors.invalid(path / "name", name, problem)
    if name and selector is not None:
        errors.forbidden(path / "name", exclusive)
    if selector is not None:
        validate_label_selector(selector, path / "selector", errors)
        if name:
            errors.forbidden(path / "selector", exclusive)
    if not name and selector is None:
        errors.required(path, "one of name or selector must be specified")
    action = reference.get("parameterNotFoundAction", "")
    if not action:
        errors.required(path / "parameterNotFoundAction")
    elif action not in ("Deny", "Allow"):
        errors.unsupported(path / "parameterNotFoundAction", action, ("Deny", "Allow"))


def _kind(obj: Object, now: float) -> str:
    kind = get(obj, ".spec.paramKind")
    return "<unset>" if kind is None else f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}"


def _reference(obj: Object, now: float) -> str:
    reference = get(obj, ".spec.paramRef")
    if reference is None:
        return "<unset>"
    if reference.get("name"):
        return f"{reference.get('namespace') or '*'}/{reference['name']}"
    return printed(reference["selector"]) if "selector" in reference else "<unset>"


PARAM_KIND = Column("ParamKind", _kind, description="The kind of the policy's parameters.")
BINDING_COLUMNS = (
    NAME,
    Column("PolicyName", lambda obj, now: get(obj, ".spec.policyName", "")),
    Column("ParamRef", _reference, description="The parameters that the policy is used with."),
    AGE,
)
