"""set subject."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands.set._change import COMMON, change, need_resources, refusal
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Update the user, group, or service account in a role binding or cluster role binding"
USAGE = "set subject (-f FILENAME | TYPE NAME) [--user=username] [--group=groupname] [--serviceaccount=namespace:serviceaccountname] [--dry-run=server|client|none]"
FLAGS = (*COMMON, shared_flags.field_manager("kubectl-set"), """
- group array | groups to bind to
- serviceaccount array | service accounts (NAMESPACE:NAME) to bind to
- user array | users to bind to
""")  # fmt: skip
_GROUP = "rbac.authorization.k8s.io"


def run(context: Context) -> None:
    """Add subjects to bindings."""
    flags = context.flags
    need_resources(context, context.args)
    wanted: list[Object] = []

    def validate() -> None:
        if not flags.user and not flags.group and not flags.serviceaccount:
            raise CommandError("you must specify at least one value of user, group or serviceaccount")
        wanted.extend({"apiGroup": _GROUP, "kind": "User", "name": name} for name in sorted(set(flags.user)))
        wanted.extend(
            {"apiGroup": _GROUP, "kind": "Group", "name": name} for name in sorted(set(flags.group))
        )
        for account in sorted(set(flags.serviceaccount)):
            parts = account.split(":")
            if len(parts) != 2:
                raise CommandError("serviceaccount must be <namespace>:<name>")
            if not parts[0]:
                raise CommandError("serviceaccount must be <namespace>:<name>, namespace must be specified")
            wanted.append({"kind": "ServiceAccount", "name": parts[1], "namespace": parts[0]})

    def edit(info: Info, value: Object) -> None:
        if info.resource.kind not in ("RoleBinding", "ClusterRoleBinding"):
            raise refusal(
                context, info, "setting subjects is only supported for RoleBinding/ClusterRoleBinding"
            )
        subjects = list(value.get("subjects") or [])
        keys = ("kind", "name", "namespace")
        known = [tuple(subject.get(key) for key in keys) for subject in subjects]
        subjects += [subject for subject in wanted if tuple(subject.get(key) for key in keys) not in known]
        value["subjects"] = subjects

    change(
        context, context.args, "subjects updated", edit, "failed to patch subjects to rolebinding: ", validate
    )
