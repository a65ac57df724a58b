"""Checks of policy rules, which roles and cluster roles share."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object


def validate_rules(rules: list[Object], namespaced: bool, errors: Errors) -> None:
    """Check the rules of a role; rules of a namespace cannot grant URLs outside of resources."""
    without_verbs = []
    for index, rule in enumerate(rules):
        path = Path("rules")[index]
        if not rule.get("verbs"):
            without_verbs.append(path / "verbs")
        urls = rule.get("nonResourceURLs")
        if urls:
            where = path / "nonResourceURLs"
            if namespaced:
                errors.invalid(where, urls, "namespaced rules cannot apply to non-resource URLs")
            if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
                errors.invalid(
                    where, urls, "rules cannot apply to both regular resources and non-resource URLs"
                )
            continue
        if not rule.get("apiGroups"):
            errors.required(path / "apiGroups", "resource rules must supply at least one api group")
        if not rule.get("resources"):
            errors.required(path / "resources", "resource rules must supply at least one resource")
    for where in without_verbs:
        errors.required(where)
