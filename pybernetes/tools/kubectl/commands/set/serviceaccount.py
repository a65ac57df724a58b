"""set serviceaccount."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands.set._change import change, no_template, pod_spec
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Update the service account of a resource"
USAGE = "set serviceaccount (-f FILENAME | TYPE NAME) SERVICE_ACCOUNT"
ALIASES = ("sa",)
FLAGS = (shared_flags.FILES, shared_flags.PRINT, shared_flags.DRY_RUN, shared_flags.RECORD, shared_flags.field_manager("kubectl-set"), """
- all bool false | all objects of the types in the namespace
- local bool false | do not ask the server
- selector string |
""")  # fmt: skip


def run(context: Context) -> None:
    """Set the service account in pod templates."""
    if not context.args:
        raise CommandError("serviceaccount is required")
    name = context.args[-1]

    def edit(info: Info, value: Object) -> None:
        spec = pod_spec(value)
        if spec is None:
            raise no_template(context, info)
        spec["serviceAccountName"] = name

    change(context, context.args[:-1], "serviceaccount updated", edit, "failed to patch ServiceAccountName ")
