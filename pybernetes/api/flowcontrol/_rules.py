"""Checks of the rules that say which requests belong to a flow schema."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import checks, names

_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch")
_NAMESPACE = "each member of this list must be '*' or a DNS-1123 label; "
# The kind of a subject and the field that goes with it, in the order in which they are checked.
_SUBJECTS = {"ServiceAccount": "serviceAccount", "User": "user", "Group": "group"}


def validate_rule(rule: Object, path: Path, errors: Errors) -> None:
    """Check the subjects and what they ask for."""
    subjects = rule.get("subjects", ())
    for index, subject in enumerate(subjects):
        _subject(subject, (path / "subjects")[index], errors)
    if not subjects:
        errors.required(path / "subjects", "subjects must contain at least one value")
    if not rule.get("resourceRules") and not rule.get("nonResourceRules"):
        errors.required(path, "at least one of resourceRules and nonResourceRules has to be non-empty")
    for index, item in enumerate(rule.get("resourceRules", ())):
        _resources(item, (path / "resourceRules")[index], errors)
    for index, item in enumerate(rule.get("nonResourceRules", ())):
        _urls(item, (path / "nonResourceRules")[index], errors)


def _subject(subject: Object, path: Path, errors: Errors) -> None:
    kind = subject.get("kind", "")
    if kind not in _SUBJECTS:
        errors.unsupported(path / "kind", kind, sorted(_SUBJECTS))
        return
    key = _SUBJECTS[kind]
    here = path / key
    if key not in subject:
        errors.required(here, f"{key} is required when subject kind is '{kind}'")
    else:
        name = subject[key].get("name", "")
        if not name:
            errors.required(here / "name")
        elif kind == "ServiceAccount" and name != "*":
            checks.name(names.dns_subdomain, name, here / "name", errors)
        if kind == "ServiceAccount":
            _account_namespace(subject[key].get("namespace", ""), here / "namespace", errors)
    for other, field in _SUBJECTS.items() if kind != "ServiceAccount" else list(_SUBJECTS.items())[1:]:
        if other != kind and field in subject:
            errors.forbidden(path / field, f"{field} is forbidden when subject kind is not '{other}'")


def _account_namespace(namespace: str, path: Path, errors: Errors) -> None:
    if not namespace:
        errors.required(path, "must specify namespace for service account")
        return
    checks.name(names.dns_label, namespace, path, errors)


def _verbs(rule: Object, path: Path, errors: Errors) -> None:
    verbs = rule.get("verbs", [])
    if not verbs:
        errors.required(path / "verbs", "verbs must contain at least one value")
    elif "*" in verbs:
        if len(verbs) > 1:
            errors.invalid(path / "verbs", verbs, "if '*' is present, must not specify other verbs")
    elif not set(verbs) <= set(_VERBS):
        errors.unsupported(path / "verbs", verbs, _VERBS)


def _resources(rule: Object, path: Path, errors: Errors) -> None:
    _verbs(rule, path, errors)
    for key, singular, many in (
        ("apiGroups", "api group", "api groups"),
        ("resources", "resource", "resources"),
    ):
        values = rule.get(key, [])
        if not values:
            errors.required(path / key, f"resource rules must supply at least one {singular}")
        elif len(values) > 1 and "*" in values:
            errors.invalid(path / key, values, f"if '*' is present, must not specify other {many}")
    namespaces = rule.get("namespaces", [])
    where = path / "namespaces"
    if not namespaces and not rule.get("clusterScope"):
        text = "resource rules that are not cluster scoped must supply at least one namespace"
        errors.required(where, text)
    elif "*" in namespaces:
        if len(namespaces) > 1:
            errors.invalid(where, namespaces, "if '*' is present, must not specify other namespaces")
    else:
        for index, namespace in enumerate(namespaces):
            for problem in names.dns_label(namespace):
                errors.invalid(where[index], namespace, _NAMESPACE + problem)


def _urls(rule: Object, path: Path, errors: Errors) -> None:
    _verbs(rule, path, errors)
    urls = rule.get("nonResourceURLs", [])
    where = path / "nonResourceURLs"
    if not urls:
        errors.required(where, "nonResourceURLs must contain at least one value")
    elif "*" in urls:
        if len(urls) > 1:
            errors.invalid(where, urls, "if '*' is present, must not specify other non-resource URLs")
    else:
        for index, url in enumerate(urls):
            problem = _url(url)
            if problem:
                errors.invalid(where[index], url, problem)


def _url(url: str) -> str:
    if not url:
        return "must not be empty"
    if url == "/":
        return ""
    if not url.startswith("/"):
        return "must start with slash"
    if " " in url:
        return "must not contain white-space"
    if "//" in url:
        return "must not contain double slash"
    if url.count("*") > 1 or ("*" in url and not url.endswith("/*")):
        return "wildcard can only do suffix matching"
    return ""
