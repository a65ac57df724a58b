"""Checks of when a container restarts: after it ended, and when its resources change."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import checks

_POLICIES = ("Always", "Never", "OnFailure")
_ACTIONS = ("Restart", "RestartAllContainers")


def validate_restart_policy(container: Object, path: Path, errors: Errors, *, is_init: bool = False) -> None:
    """Check a container's own restart policy and rules."""
    rules, policy = container.get("restartPolicyRules", ()), container.get("restartPolicy")
    if policy is None:
        if not rules:
            return
        errors.required(path / "restartPolicy", "must specify restartPolicy when restart rules are used")
        if is_init:
            return
    else:
        checks.one_of(policy, _POLICIES, path / "restartPolicy", errors)
    path = path / "restartPolicyRules"
    if len(rules) > 20:
        errors.too_many(path, len(rules), 20)
    for index, rule in enumerate(rules):
        here = path[index]
        checks.one_of(rule.get("action", ""), _ACTIONS, here / "action", errors)
        codes = rule.get("exitCodes")
        if codes is None:
            errors.required(here / "exitCodes", "must be specified")
            continue
        here = here / "exitCodes"
        checks.one_of(codes.get("operator", ""), ("In", "NotIn"), here / "operator", errors)
        if len(codes.get("values", ())) > 255:
            errors.too_many(here / "values", len(codes["values"]), 255)


def validate_resize_policy(policies: list[Object], restart_policy: str, path: Path, errors: Errors) -> None:
    """Check what a change of resources does to a container."""
    seen: set[str] = set()
    for index, policy in enumerate(policies):
        name, restart = policy.get("resourceName", ""), policy.get("restartPolicy", "")
        if name in seen:
            errors.duplicate(path[index], name)
        seen.add(name)
        checks.required_one_of(name, ("cpu", "memory"), path, errors)
        checks.required_one_of(restart, ("NotRequired", "RestartContainer"), path, errors)
        if restart_policy == "Never" and restart != "NotRequired":
            errors.invalid(path, restart, "must be 'NotRequired' when pod `restartPolicy` is 'Never'")
