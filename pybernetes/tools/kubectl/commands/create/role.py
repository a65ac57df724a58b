"""create role."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.create._generator import COMMON, generator, metadata
from pybernetes.tools.kubectl.commands.create._rules import RBAC, resources, rules, verbs_of
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Create a role with single rule"
USAGE = "create role NAME --verb=verb --resource=resource.group/subresource [--resource-name=resourcename] [--dry-run=server|client|none]"
FLAGS = (*COMMON, """
- resource list | resources that the rule is about
- resource-name array | names of the only objects that the rule is about; may be repeated
- verb list | what may be done
""")  # fmt: skip


def make(context: Context, name: str) -> Object:
    """Return a Role."""
    if not context.flags.verb:
        raise CommandError("at least one verb must be specified")
    if not resources(context):
        raise CommandError("at least one resource must be specified")
    return {
        "kind": "Role",
        "apiVersion": f"{RBAC}/v1",
        "metadata": metadata(context, name),
        "rules": rules(context, verbs_of(context)),
    }


run = generator(make)
