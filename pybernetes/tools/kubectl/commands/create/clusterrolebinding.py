"""create clusterrolebinding."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.create._generator import COMMON, generator, metadata
from pybernetes.tools.kubectl.commands.create._rules import binding
from pybernetes.tools.kubectl.context import Context

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Create a cluster role binding for a particular cluster role"
USAGE = "create clusterrolebinding NAME --clusterrole=NAME [--user=username] [--group=groupname] [--serviceaccount=namespace:serviceaccountname] [--dry-run=server|client|none]"
FLAGS = (*COMMON, """
- clusterrole string | cluster role to bind
- group array | group to bind to; may be repeated
- serviceaccount array | service account (NAMESPACE:NAME) to bind to; may be repeated
- user array | user to bind to; may be repeated
""")  # fmt: skip
REQUIRED = ("clusterrole",)


def make(context: Context, name: str) -> Object:
    """Return a ClusterRoleBinding."""
    flags = context.flags
    about = metadata(context, name, False)
    return binding(context, "ClusterRoleBinding", about, "ClusterRole", flags.clusterrole)


run = generator(make, "failed to create clusterrolebinding: ")
