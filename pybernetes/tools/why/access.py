"""Why a request was refused: the rule that would be needed, and which roles have it. Pure."""

from __future__ import annotations

import re
from shlex import quote
from typing import NamedTuple

from pybernetes.api.rbac_rules import RuleSet, keys
from pybernetes.api.resource import Object
from pybernetes.client.refs import (
    BUILTIN,
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    ROLE_BINDINGS,
    ROLES,
    Ref,
)
from pybernetes.tools.why.finding import Answer, Finding, Link, link_of, listed
from pybernetes.tools.why.world import Need, World

_REFUSAL = re.compile(
    r'User "(?P<user>[^"]{1,1000})" cannot (?P<verb>[a-z]{1,100}) (?:resource "(?P<resource>[^"]{1,500})" in API group '
    r'"(?P<group>[^"]{0,500})"(?: in the namespace "(?P<namespace>[^"]{1,500})")?|path "(?P<path>[^"]{1,2000})")'
)
_NAMED = re.compile(r'"(?P<name>[^"]{1,500})" is forbidden: ')
_ACCOUNT = re.compile(r"system:serviceaccount:(?P<namespace>[^:]+):(?P<name>[^:]+)\Z")
_SHOWN = 5
_EVERYTHING = 1_000_000


class Wish(NamedTuple):
    """What somebody wants to do: a verb on a resource, or on a path outside of resources."""

    verb: str
    resource: str = ""
    group: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""

    def __str__(self) -> str:
        if self.path:
            return f"{self.verb} {self.path}"
        what = ".".join(part for part in (self._whole, self.group) if part)
        named = f" {self.name}" if self.name else ""
        return f"{self.verb} {what}{named} {f'in {self.namespace}' if self.namespace else 'in the whole cluster'}"

    @property
    def _whole(self) -> str:
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource

    def rule(self) -> Object:
        """Return the rule that is needed, and no more."""
        if self.path:
            return {"nonResourceURLs": [self.path], "verbs": [self.verb]}
        rule: Object = {"apiGroups": [self.group], "resources": [self._whole], "verbs": [self.verb]}
        return {**rule, "resourceNames": [self.name]} if self.name else rule

    def review(self) -> Object:
        """Return the wish as reviews of access have it."""
        if self.path:
            return {"nonResourceAttributes": {"path": self.path, "verb": self.verb}}
        fields = ("verb", "group", "resource", "subresource", "namespace", "name")
        return {
            "resourceAttributes": {field: getattr(self, field) for field in fields if getattr(self, field)}
        }

    def is_granted_by(self, rules: list[Object]) -> bool:
        """Return whether rules allow it."""
        allowed = RuleSet(rules)
        if self.path:
            return allowed.allows_url(self.verb, self.path)
        return allowed.allows(keys(self.verb, self.group, self.resource, self.subresource), self.name or None)


class User(NamedTuple):
    """Who wants it."""

    name: str
    groups: tuple[str, ...] = ()


def resource(text: str) -> tuple[str, str]:
    """Return the plural and the group of a word for a resource: ``deployments.apps``, or a name of a built-in kind."""
    plural, _, group = text.partition(".")
    if group:
        return plural, group
    word = plural.lower()
    for ref in BUILTIN:
        if word in (ref.plural, ref.kind.lower()):
            return ref.plural, ref.group
    return plural, ""


def refusal(message: str) -> tuple[User, Wish] | None:
    """Return who was refused what, from the words of a refusal; None if they are none."""
    match = _REFUSAL.search(message[:10_000])
    if match is None:
        return None
    named = _NAMED.search(message[:10_000])
    whole, _, subresource = (match["resource"] or "").partition("/")
    wish = Wish(
        match["verb"], whole, match["group"] or "", subresource, match["namespace"] or "",
        named["name"] if named and not match["path"] else "", match["path"] or "",
    )  # fmt: skip
    return User(match["user"]), wish


def needs(wish: Wish) -> list[Need]:
    """Return what has to be read to say which role would help."""
    wide = [Need(CLUSTER_ROLES), Need(CLUSTER_ROLE_BINDINGS)]
    return (
        [*wide, Need(ROLES, wish.namespace), Need(ROLE_BINDINGS, wish.namespace)] if wish.namespace else wide
    )


def decide(user: User, wish: Wish, status: Object, world: World) -> Answer:
    """Answer with what a review of access said, and what would have to change."""
    about = Link("User", user.name)
    if status.get("allowed"):
        reason = str(status.get("reason") or "")
        return Answer(
            about,
            f"may {wish}",
            [Finding(f"{user.name} may {wish}.", [reason] if reason else [], cause=False)],
        )
    said = [str(status[key]) for key in ("reason", "evaluationError") if status.get(key)]
    rule = ", ".join(f"{key}: {value}" for key, value in wish.rule().items())
    findings = [Finding(f"{user.name} may not {wish}.", [f"The rule that is needed: {rule}", *said])]
    findings += _roles(user, wish, world) + _bindings(user, wish, world)
    return Answer(about, f"may not {wish}", findings)


def _roles(user: User, wish: Wish, world: World) -> list[Finding]:
    """Say which roles have the rule, the least first, and how to get it without getting everything."""
    fitting: list[tuple[int, str, Ref, Object]] = []
    for ref in (ROLES, CLUSTER_ROLES):
        for role in world.all(ref, wish.namespace if ref is ROLES else ""):
            rules = role.get("rules") or []
            if wish.is_granted_by(rules):
                fitting.append((_size(rules), role["metadata"]["name"], ref, role))
    if not world.is_known(CLUSTER_ROLES):
        return []
    # What the control plane's own parts have is not for people, and nobody should get everything for the sake of one thing.
    fitting = sorted(
        (entry for entry in fitting if not entry[1].startswith("system:")), key=lambda entry: entry[:2]
    )
    small = [entry for entry in fitting if entry[0] < _EVERYTHING]
    if not small:
        everything = (
            f" (but {listed(entry[1] for entry in fitting)}, which has everything)" if fitting else ""
        )
        return [
            Finding(f"No role for people has that rule{everything}.", command=_new_role(wish), cause=False)
        ]
    _, name, ref, _ = small[0]
    names = listed(f"{entry[2].kind} {entry[1]}" for entry in small)
    links = [link_of(entry[2], entry[3]) for entry in small[:_SHOWN]]
    bind = _bind(user, wish, ref, name)
    return [Finding(f"These roles have that rule, the least first: {names}.", [], links, bind, cause=False)]


def _size(rules: list[Object]) -> int:
    """Return about how much rules allow; a star is everything."""
    total = 0
    for rule in rules:
        parts = [rule.get(part) or [""] for part in ("verbs", "apiGroups", "resources")]
        total += len(parts[0]) * len(parts[1]) * len(parts[2])
        total += _EVERYTHING * any("*" in part for part in parts)
    return total


def _bind(user: User, wish: Wish, ref: Ref, role: str) -> str:
    kind = "role" if ref is ROLES else "clusterrole"
    account = _ACCOUNT.match(user.name)
    who = f"--serviceaccount={account['namespace']}:{account['name']}" if account else f"--user={user.name}"
    # Names of users and roles may be anything, and people copy commands.
    bound = f"--{kind}={role}"
    if wish.namespace:
        return f"kubectl create rolebinding NAME {quote(bound)} {quote(who)} -n {quote(wish.namespace)}"
    return f"kubectl create clusterrolebinding NAME {quote(bound)} {quote(who)}"


def _new_role(wish: Wish) -> str:
    if wish.path:
        return (
            f"kubectl create clusterrole NAME --verb={quote(wish.verb)} --non-resource-url={quote(wish.path)}"
        )
    what = ".".join(part for part in (wish.resource, wish.group) if part)
    what = f"{what}/{wish.subresource}" if wish.subresource else what
    named = f" --resource-name={quote(wish.name)}" if wish.name else ""
    kind, where = ("role", f" -n {quote(wish.namespace)}") if wish.namespace else ("clusterrole", "")
    return f"kubectl create {kind} NAME --verb={quote(wish.verb)} --resource={quote(what)}{named}{where}"


def _bindings(user: User, wish: Wish, world: World) -> list[Finding]:
    """Say which roles somebody has here already."""
    bound, links = [], []
    for ref in (ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS):
        for binding in world.all(ref, wish.namespace if ref is ROLE_BINDINGS else ""):
            if any(is_subject(subject, user, binding) for subject in binding.get("subjects") or ()):
                role = binding.get("roleRef") or {}
                bound.append(f"{role.get('kind', '')} {role.get('name', '')}")
                links.append(link_of(ref, binding))
    if not world.is_known(CLUSTER_ROLE_BINDINGS):
        return []
    if not bound:
        return [Finding(f"No role is bound to {user.name} here.", cause=False)]
    return [Finding(f"Roles of {user.name} here: {listed(dict.fromkeys(bound))}.", [], links, cause=False)]


def is_subject(subject: Object, user: User, binding: Object) -> bool:
    """Return whether a binding's subject means a user."""
    kind, name = subject.get("kind"), subject.get("name")
    if kind == "ServiceAccount":
        namespace = subject.get("namespace") or binding["metadata"].get("namespace", "")
        return user.name == f"system:serviceaccount:{namespace}:{name}"
    return name == user.name if kind == "User" else kind == "Group" and name in user.groups
