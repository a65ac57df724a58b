"""Policy rules and subjects of roles and bindings, from flags."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, NoMatch, Verbatim

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


RBAC = "rbac.authorization.k8s.io"
_VERBS = (
    "*", "get", "delete", "list", "create", "update", "patch", "watch", "proxy", "deletecollection", "use", "bind",
    "escalate", "impersonate",
)  # fmt: skip


def resources(context: Context) -> list[tuple[str, str, str]]:
    """Return what --resource names, as name, group and subresource."""
    named = []
    for text in context.flags.resource:
        name, _, subresource = text.partition("/")
        name, _, group = name.partition(".")
        named.append((name, group, subresource))
    for name, group, subresource in named:
        if not name and (group or subresource):
            raise CommandError("resource must be specified if apiGroup/subresource specified")
    return named


def rules(context: Context, verbs: list[str]) -> list[Object]:
    """Return one rule for each API group, in the order in which the groups come."""
    for verb in verbs if context.flags.resource else ():
        if verb not in _VERBS:
            context.warn(f"Warning: '{verb}' is not a standard resource verb")
    groups: dict[str, list[str]] = {}
    for name, group, subresource in resources(context):
        if name == "*":
            groups.setdefault(group, []).append("*")
            continue
        if not name:
            groups.setdefault(group, [])
            continue
        try:
            known = context.discovery.find(f"{name}.{group}" if group else name, attempts=2)
        except NoMatch as error:
            raise Verbatim(error.message) from None
        full = f"{known.plural}/{subresource}" if subresource else known.plural
        groups.setdefault(known.group, []).append(full)
    made = []
    for group in sorted(groups):
        rule: Object = {
            "verbs": verbs,
            "apiGroups": [group],
            "resources": list(dict.fromkeys(groups[group])),
        }
        if context.flags.resource_name:
            rule["resourceNames"] = list(dict.fromkeys(context.flags.resource_name))
        made.append(rule)
    return made


def verbs_of(context: Context) -> list[str]:
    """Return the verbs; a star is all of them."""
    verbs = list(dict.fromkeys(verb.strip() for verb in context.flags.verb))
    return ["*"] if "*" in verbs else verbs


def subjects(context: Context) -> list[Object]:
    """Return users, groups and service accounts of a binding."""
    flags = context.flags
    bound: list[Object] = [{"kind": "User", "apiGroup": RBAC, "name": name} for name in flags.user]
    bound += [{"kind": "Group", "apiGroup": RBAC, "name": name} for name in flags.group]
    for account in flags.serviceaccount:
        namespace, colon, name = account.partition(":")
        if not colon or not namespace or not name or ":" in name:
            raise CommandError("serviceaccount must be <namespace>:<name>")
        bound.append({"kind": "ServiceAccount", "name": name, "namespace": namespace})
    return bound


def binding(context: Context, kind: str, metadata: Object, role_kind: str, role: str) -> Object:
    """Return a binding of the subjects that the flags name to a role."""
    made: Object = {"kind": kind, "apiVersion": f"{RBAC}/v1", "metadata": metadata}
    if bound := subjects(context):
        made["subjects"] = bound
    return {**made, "roleRef": {"apiGroup": RBAC, "kind": role_kind, "name": role}}
