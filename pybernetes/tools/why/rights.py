"""What a user may do: every role that is bound to him, and the rules in it. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.api.resource import Object
from pybernetes.client.refs import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES, Ref
from pybernetes.tools.why.access import User, is_subject
from pybernetes.tools.why.finding import Answer, Finding, Link, link, link_of
from pybernetes.tools.why.world import Need, World

_MASTERS = "system:masters"


def needs(namespace: str) -> list[Need]:
    """Return what has to be read to say what somebody may do in a namespace."""
    return [
        Need(CLUSTER_ROLES),
        Need(CLUSTER_ROLE_BINDINGS),
        Need(ROLES, namespace),
        Need(ROLE_BINDINGS, namespace),
    ]


def decide(user: User, namespace: str, world: World, reviewed: Iterable[Object] = ()) -> Answer:
    """Answer with what a user may do; ``reviewed`` are the rules that the server tells, for those who may not read roles."""
    findings = []
    if _MASTERS in user.groups:
        findings.append(Finding(f"{user.name} may do everything: whoever is in {_MASTERS} may.", cause=False))
    for ref in (CLUSTER_ROLE_BINDINGS, ROLE_BINDINGS):
        for binding in world.all(ref, namespace if ref is ROLE_BINDINGS else ""):
            if any(is_subject(subject, user, binding) for subject in binding.get("subjects") or ()):
                findings.append(_bound(binding, ref, namespace, world))
    if not world.is_known(CLUSTER_ROLE_BINDINGS):
        texts = [rule_text(rule) for rule in reviewed]
        findings.append(Finding(f"What the server says that {user.name} may do:", texts, cause=False))
    return Answer(Link("User", user.name), f"rights in {namespace}", findings)


def _bound(binding: Object, bound_by: Ref, namespace: str, world: World) -> Finding:
    links = [link_of(bound_by, binding)]
    role = binding.get("roleRef") or {}
    ref = ROLES if role.get("kind") == "Role" else CLUSTER_ROLES
    name = str(role.get("name") or "")
    known = world.get(ref, name, namespace)
    title = f"{ref.kind} {name} in the whole cluster:"
    if bound_by is ROLE_BINDINGS:
        title = f"{ref.kind} {name} in {namespace}:"
    if known is None and world.is_known(ref):
        return Finding(f"{ref.kind} {name} is bound, and does not exist.", links=links, cause=False)
    texts = [rule_text(rule) for rule in (known or {}).get("rules") or ()]
    return Finding(title, texts, [link(ref, name, namespace), *links], cause=False)


def rule_text(rule: Object) -> str:
    """Return a rule in a line: ``get, list: pods, deployments.apps (named web)``."""
    verbs = ", ".join(rule.get("verbs") or ())
    if rule.get("nonResourceURLs"):
        return f"{verbs}: {', '.join(rule['nonResourceURLs'])}"
    groups = rule.get("apiGroups") or [""]
    what = ", ".join(
        ".".join(part for part in (resource, group) if part)
        for group in groups
        for resource in rule.get("resources") or ()
    )
    names = rule.get("resourceNames")
    return f"{verbs}: {what}" + (f" (named {', '.join(names)})" if names else "")
