"""What one user or group was granted in one place."""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.api.rbac_rules import NO_RULES, Key, Names, RuleSet
from pybernetes.control_plane.apiserver.authz.verdict import Rule, Verdict

Place = tuple[str, str]
# Someone with more roles than this gets a table of all of them, so that a question does not walk through them.
_MANY = 8


class Role:
    """A role that exists or that a binding waits for; ``listeners`` have drawn something from its rules."""

    __slots__ = ("bound", "exists", "listeners", "name", "namespace", "rules")

    def __init__(self, namespace: str, name: str) -> None:
        self.namespace, self.name = namespace, name
        self.rules: RuleSet = NO_RULES
        self.exists = False
        self.bound = 0
        self.listeners: set[Grants] = set()

    def define(self, rules: Iterable[Rule]) -> None:
        """Give the role its rules."""
        self._change(RuleSet(rules), True)

    def clear(self) -> None:
        """Take the role away."""
        self._change(NO_RULES, False)

    def _change(self, rules: RuleSet, exists: bool) -> None:
        self.rules, self.exists = rules, exists
        for grants in self.listeners:
            grants.merged = None
        self.listeners.clear()


class Merged:
    """The rules of many roles in one table."""

    __slots__ = ("others", "table")

    def __init__(self, roles: Iterable[Role]) -> None:
        self.table: dict[Key, list[tuple[Names, Role]]] = {}
        # Roles with something that is not in their tables.
        self.others: list[Role] = []
        for role in roles:
            for key, names in role.rules.table.items():
                self.table.setdefault(key, []).append((names, role))
            if role.rules.large or role.rules.urls:
                self.others.append(role)

    def find(self, wanted: tuple[Key, ...], name: str | None) -> Role | None:
        """Return a role that allows one of the entries."""
        for key in wanted:
            for names, role in self.table.get(key, ()):
                if not names or name in names:
                    return role
        for role in self.others:
            if role.rules.large and role.rules.allows(wanted, name):
                return role
        return None


class Grants:
    """The roles of one subject in one place, each with the bindings that give it and the verdict that they make."""

    __slots__ = ("__weakref__", "merged", "roles")

    def __init__(self) -> None:
        self.roles: dict[Role, dict[Place, Verdict]] = {}
        self.merged: Merged | None = None

    def add(self, place: Place, role: Role, verdict: Verdict) -> None:
        """Add a binding."""
        if role not in self.roles:
            self.roles[role] = {}
            self.merged = None
        self.roles[role].setdefault(place, verdict)

    def remove(self, place: Place, role: Role) -> bool:
        """Take a binding out and return whether nothing is left."""
        bindings = self.roles.get(role)
        if bindings is not None:
            bindings.pop(place, None)
            if not bindings:
                del self.roles[role]
                role.listeners.discard(self)
                self.merged = None
        return not self.roles

    def bindings(self) -> dict[Place, Role]:
        """Return every binding with its role."""
        return {place: role for role, bindings in self.roles.items() for place in bindings}

    def find(self, wanted: tuple[Key, ...], name: str | None) -> Verdict | None:
        """Return the verdict of a binding that allows one of the entries."""
        if len(self.roles) > _MANY:
            role = (self.merged or self._merge()).find(wanted, name)
            return None if role is None else next(iter(self.roles[role].values()))
        for role, bindings in self.roles.items():
            if role.rules.allows(wanted, name):
                return next(iter(bindings.values()))
        return None

    def find_url(self, verb: str, path: str) -> Verdict | None:
        """Return the verdict of a binding that allows a verb on a path outside of resources."""
        roles: Iterable[Role] = self.roles
        if len(self.roles) > _MANY:
            roles = (self.merged or self._merge()).others
        for role in roles:
            if role.rules.urls and role.rules.allows_url(verb, path):
                return next(iter(self.roles[role].values()))
        return None

    def _merge(self) -> Merged:
        for role in self.roles:
            role.listeners.add(self)
        self.merged = Merged(self.roles)
        return self.merged
