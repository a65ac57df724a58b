"""Nobody grants what they do not have: the check of roles and bindings.

Who writes a role must hold every permission in it or have the verb ``escalate`` on it; who writes a binding must hold
every permission of the role or have the verb ``bind`` on it. The check runs where upstream has it: after the plugins
that change an object, before its validation.
"""

from __future__ import annotations

from typing import Any

from pybernetes.api import errors
from pybernetes.api.rbac import GROUP
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.authn.user import MASTERS
from pybernetes.control_plane.apiserver.authz.rbac import rule_cover
from pybernetes.control_plane.apiserver.authz.verdict import Rule, listed
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.request_info import RequestInfo
from pybernetes.control_plane.apiserver.storage.write_check import WriteCheck
from pybernetes.lib.event_loop import off_loop

_EVERYTHING: list[Rule] = [
    {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
    {"verbs": ["*"], "nonResourceURLs": ["*"]},
]
# What the garbage collector changes; who may update may change these without holding the permissions.
_COLLECTOR_FIELDS = ("ownerReferences", "finalizers", "selfLink", "managedFields")
# More combinations than this would hold up everybody else for too long.
_MOST = 200_000
# To describe a part of a rule takes as long as so many bytes of other work.
_ENTRY_BYTES = 100


def write_checks(context: ServerContext) -> dict[tuple[str, str], WriteCheck]:
    """Return the checks of the four kinds of RBAC."""
    escalation = Escalation(context)
    role, binding = WriteCheck(before=escalation.role), WriteCheck(before=escalation.binding)
    return {
        (GROUP, "roles"): role,
        (GROUP, "clusterroles"): role,
        (GROUP, "rolebindings"): binding,
        (GROUP, "clusterrolebindings"): binding,
    }


class Escalation:
    """Compares what is granted with what the writer holds."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    async def role(self, request: Request, new: Object, old: Object | None) -> None:
        """Refuse a role with more permissions than its writer has."""
        info = request.request_info
        if MASTERS in request.user.groups or await self._may(request, "escalate", info.resource, info.name):
            return
        if old is not None and only_collected(new, old):
            return
        await self._confirm(request, new, new.get("rules", []))
        if _gathers(new) or (old is not None and _gathers(old)):
            if any(not self._holds(request, entry) for entry in rule_cover.entries(_EVERYTHING)):
                raise _forbidden(
                    request, new, "must have cluster-admin privileges to use the aggregationRule"
                )

    async def binding(self, request: Request, new: Object, old: Object | None) -> None:
        """Refuse a binding of a role with more permissions than the binding's writer has."""
        if MASTERS in request.user.groups or (old is not None and only_collected(new, old)):
            return
        reference = new.get("roleRef", {})
        kind, name = reference.get("kind", ""), reference.get("name", "")
        resource = {"ClusterRole": "clusterroles", "Role": "roles"}.get(kind)
        if resource is None:
            raise errors.StatusError(500, "", f"unsupported role reference kind: {go_format.quote(kind)}")
        if await self._may(request, "bind", resource, name):
            return
        namespace = request.request_info.namespace
        if kind == "Role" and not namespace:
            raise errors.bad_request("Namespace parameter required.")
        await self._context.fresh()
        rules = self._context.roles.role_rules(namespace if kind == "Role" else "", name)
        if rules is None:
            raise errors.not_found(GROUP, request.request_info.resource, name)
        await self._confirm(request, new, rules)

    async def _may(self, request: Request, verb: str, resource: str, name: str) -> bool:
        namespace = request.request_info.namespace
        question = RequestInfo(
            verb,
            is_resource=True,
            group=GROUP,
            version="*",
            resource=resource,
            namespace=namespace,
            name=name,
        )
        return (await self._context.authorize(request.user, question)).allowed

    async def _confirm(self, request: Request, obj: Object, rules: list[Rule]) -> None:
        if rule_cover.count(rules) > _MOST:
            raise _forbidden(request, obj, f"its rules have more than {_MOST} combinations to check")
        await self._context.fresh()
        missing, pace = [], off_loop.Pace()
        for entry in rule_cover.entries(rules):
            if not self._holds(request, entry):
                missing.append(entry)
            await pace()
        if not missing:
            return
        user = request.user
        lines = await off_loop.run(len(missing) * _ENTRY_BYTES, rule_cover.described, missing)
        text = (
            f"user {go_format.quote(user.name)} (groups={rule_cover.quoted(user.groups)}) is attempting to grant RBAC "
            "permissions not currently held:\n" + "\n".join(lines)
        )
        absent = self._context.roles.absent(user, request.request_info.namespace)
        if absent:
            # Upstream names the kind that is being written, not the kind that is missing.
            problems = [
                f"{request.request_info.resource}.{GROUP} {go_format.quote(role.name)} not found"
                for role in absent
            ]
            text += f"; resolution errors: [{listed(problems)}]"
        raise _forbidden(request, obj, text)

    def _holds(self, request: Request, entry: rule_cover.Entry) -> bool:
        return self._context.roles.covers(request.user, request.request_info.namespace, entry)


def only_collected(new: Object, old: Object) -> bool:
    """Return whether a write changes nothing but what the garbage collector changes."""
    return _compared(new) == _compared(old)


def _compared(obj: Object) -> Object:
    metadata: dict[str, Any] = {
        name: value for name, value in obj["metadata"].items() if name not in _COLLECTOR_FIELDS
    }
    return {**obj, "metadata": metadata}


def _gathers(role: Object) -> bool:
    return bool(role.get("aggregationRule", {}).get("clusterRoleSelectors"))


def _forbidden(request: Request, obj: Object, why: str) -> errors.StatusError:
    return errors.forbidden(GROUP, request.request_info.resource, obj["metadata"].get("name", ""), why)
