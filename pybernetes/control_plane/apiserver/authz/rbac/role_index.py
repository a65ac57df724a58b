"""All roles and bindings, kept in memory so that a question finds the few bindings that matter.

Bindings are filed by where they hold (the cluster or a namespace) and by subject. A service account is filed as the
user that its token makes it.
"""

from __future__ import annotations

from typing import Any

import orjson

from pybernetes.api.rbac import GROUP
from pybernetes.api.rbac_rules import keys, rule_keys
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.authz.rbac.grants import Grants, Place, Role
from pybernetes.control_plane.apiserver.authz.verdict import NO_OPINION, Rule, Verdict, listed
from pybernetes.control_plane.apiserver.request_info import RequestInfo
from pybernetes.control_plane.store.prefix_follower import PrefixFollower
from pybernetes.control_plane.store.protocol import Record, Store

ROOT = "/registry/"


class Scope:
    """The grants that hold in one place, by subject."""

    __slots__ = ("groups", "users")

    def __init__(self) -> None:
        self.users: dict[str, Grants] = {}
        self.groups: dict[str, Grants] = {}


class RoleIndex:
    """Roles and bindings by what is asked of them; namespace "" stands for the cluster."""

    def __init__(self, store: Store) -> None:
        self._roles: dict[Place, Role] = {}
        # Roles that bindings wait for.
        self._absent: set[Role] = set()
        self._scopes: dict[str, Scope] = {"": Scope()}
        # Where each binding was filed, to take it out again.
        self._filed: dict[Place, tuple[Role, list[tuple[dict[str, Grants], str]]]] = {}
        self._follows = [
            PrefixFollower(store, f"{ROOT}clusterroles/", self._role),
            PrefixFollower(store, f"{ROOT}roles/", self._role),
            PrefixFollower(store, f"{ROOT}clusterrolebindings/", self._binding),
            PrefixFollower(store, f"{ROOT}rolebindings/", self._binding),
        ]

    def start(self) -> None:
        """Read everything from the store and follow it."""
        for follow in self._follows:
            follow.start()

    # --- asking

    def authorize(self, user: User, info: RequestInfo) -> Verdict:
        """Allow what a grant covers; otherwise have no opinion, and name roles that are missing."""
        granted = self._granted(user, info.namespace)
        if info.is_resource:
            wanted = keys(info.verb, info.group, info.resource, info.subresource)
            for grants in granted:
                verdict = grants.find(wanted, info.name)
                if verdict is not None:
                    return verdict
        else:
            for grants in granted:
                verdict = grants.find_url(info.verb, info.path)
                if verdict is not None:
                    return verdict
        missing = self.missing(user, info.namespace) if self._absent else None
        return Verdict(reason=f"RBAC: {listed(missing)}") if missing else NO_OPINION

    def covers(self, user: User, namespace: str, entry: tuple[str, ...]) -> bool:
        """Return whether one of the user's rules covers (verb, URL), or (verb, group, resource) with or without a name."""
        granted = self._granted(user, namespace)
        if len(entry) == 2:
            return any(grants.find_url(*entry) for grants in granted)
        wanted, name = rule_keys(*entry[:3]), entry[3] if len(entry) > 3 else None
        return any(grants.find(wanted, name) for grants in granted)

    def rules(self, user: User, namespace: str) -> list[Rule]:
        """Return every rule that a user has in a namespace, binding by binding."""
        bindings: dict[Place, Role] = {}
        for grants in self._granted(user, namespace):
            bindings |= grants.bindings()
        return [rule for role in bindings.values() for rule in role.rules.rules]

    def absent(self, user: User, namespace: str) -> list[Role]:
        """Return the roles that a user is bound to and that do not exist."""
        return list(
            {
                role: None
                for grants in self._granted(user, namespace)
                for role in grants.roles
                if not role.exists
            }
        )

    def missing(self, user: User, namespace: str) -> list[str]:
        """Return what there is to say of the roles that do not exist."""
        return [
            f"{'role' if role.namespace else 'clusterrole'}.{GROUP} {go_format.quote(role.name)} not found"
            for role in self.absent(user, namespace)
        ]

    def role_rules(self, namespace: str, name: str) -> list[Rule] | None:
        """Return the rules of a role, or of a cluster role if there is no namespace; None if there is no such role."""
        role = self._roles.get((namespace, name))
        return role.rules.rules if role is not None and role.exists else None

    def _granted(self, user: User, namespace: str) -> list[Grants]:
        """Return what a user and the user's groups were granted, in the cluster and in the namespace."""
        granted: list[Grants | None] = []
        for place in ("", namespace) if namespace else ("",):
            scope = self._scopes.get(place)
            if scope is not None:
                granted.append(scope.users.get(user.name))
                granted += map(scope.groups.get, user.groups)
        return [grants for grants in granted if grants is not None]

    # --- following the store

    def _role(self, key: str, record: Record | None) -> None:
        place = _place(key)
        role = self._roles.get(place)
        if record is None:
            if role is not None:
                role.clear()
                self._absent.add(role)
                self._forget(role)
            return
        if role is None:
            role = self._roles[place] = Role(*place)
        self._absent.discard(role)
        role.define(orjson.loads(record.value).get("rules") or ())

    def _binding(self, key: str, record: Record | None) -> None:
        namespace, name = place = _place(key)
        self._unfile(place)
        if record is None:
            return
        obj = orjson.loads(record.value)
        reference = obj.get("roleRef", {})
        role = self._referenced(reference, namespace)
        if role is None:
            return
        kind = "RoleBinding" if namespace else "ClusterRoleBinding"
        shown = go_format.quote(f"{name}/{namespace}" if namespace else name)
        head = f"RBAC: allowed by {kind} {shown} of {reference['kind']} {go_format.quote(role.name)} to "
        scope = self._scopes.setdefault(namespace, Scope())
        filed: list[tuple[dict[str, Grants], str]] = []
        for subject in obj.get("subjects", ()):
            group, who, description = _subject(subject, namespace)
            if who:
                side = scope.groups if group else scope.users
                grants = side.get(who)
                if grants is None:
                    grants = side[who] = Grants()
                grants.add(place, role, Verdict(allowed=True, reason=head + description))
                filed.append((side, who))
        role.bound += 1
        self._filed[place] = role, filed

    def _referenced(self, reference: dict[str, Any], namespace: str) -> Role | None:
        kind, name = reference.get("kind"), reference.get("name", "")
        if kind == "ClusterRole":
            place = ("", name)
        elif kind == "Role" and namespace:
            place = (namespace, name)
        else:
            return None
        role = self._roles.get(place)
        if role is None:
            role = self._roles[place] = Role(*place)
            self._absent.add(role)
        return role

    def _unfile(self, place: Place) -> None:
        entry = self._filed.pop(place, None)
        if entry is None:
            return
        role, filed = entry
        for side, who in filed:
            grants = side.get(who)
            if grants is not None and grants.remove(place, role):
                del side[who]
        scope = self._scopes[place[0]]
        if place[0] and not scope.users and not scope.groups:
            del self._scopes[place[0]]
        role.bound -= 1
        self._forget(role)

    def _forget(self, role: Role) -> None:
        if not role.exists and not role.bound:
            self._absent.discard(role)
            self._roles.pop((role.namespace, role.name), None)


def _place(key: str) -> Place:
    """Return namespace and name of a role or binding: /registry/roles/<namespace>/<name>, /registry/clusterroles/<name>."""
    _, _, rest = key.removeprefix(ROOT).partition("/")
    namespace, slash, name = rest.partition("/")
    return (namespace, name) if slash else ("", namespace)


def _subject(subject: dict[str, Any], namespace: str) -> tuple[bool, str, str]:
    """Return whether it is a group, the user or group that is meant (empty for none), and how messages name it."""
    kind, name = subject.get("kind", ""), subject.get("name", "")
    if kind == "ServiceAccount":
        home = subject.get("namespace") or namespace
        return (
            False,
            f"system:serviceaccount:{home}:{name}" if home else "",
            f"{kind} {go_format.quote(f'{name}/{home}')}",
        )
    return kind == "Group", name if kind in ("User", "Group") else "", f"{kind} {go_format.quote(name)}"
