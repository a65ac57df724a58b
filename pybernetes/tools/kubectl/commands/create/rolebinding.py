"""create rolebinding."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.create._generator import COMMON, generator, metadata
from pybernetes.tools.kubectl.commands.create._rules import binding
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Create a role binding for a particular role or cluster role"
USAGE = "create rolebinding NAME --clusterrole=NAME|--role=NAME [--user=username] [--group=groupname] [--serviceaccount=namespace:serviceaccountname] [--dry-run=server|client|none]"
FLAGS = (*COMMON, """
- clusterrole string | cluster role to bind
- group array | group to bind to; may be repeated
- role string | role to bind
- serviceaccount array | service account (NAMESPACE:NAME) to bind to; may be repeated
- user array | user to bind to; may be repeated
""")  # fmt: skip


def make(context: Context, name: str) -> Object:
    """Return a RoleBinding."""
    flags = context.flags
    if bool(flags.clusterrole) == bool(flags.role):
        raise CommandError("exactly one of clusterrole or role must be specified")
    kind = "ClusterRole" if flags.clusterrole else "Role"
    about = metadata(context, name)
    return binding(context, "RoleBinding", about, kind, flags.clusterrole or flags.role)


run = generator(make, "failed to create rolebinding: ")
