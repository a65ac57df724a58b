"""create quota."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.create._generator import COMMON, generator, metadata
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.resources.quantities import parse_list

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Create a quota with the specified name"
USAGE = "create quota NAME [--hard=key1=value1,key2=value2] [--scopes=Scope1,Scope2] [--dry-run=server|client|none]"
ALIASES = ("resourcequota",)
FLAGS = (*COMMON, """
- hard string | limits as resource=quantity pairs, separated by commas
- scopes string | scopes that an object must be in to count
""")  # fmt: skip


def make(context: Context, name: str) -> Object:
    """Return a ResourceQuota."""
    flags = context.flags
    spec: Object = {}
    if flags.hard:
        spec["hard"] = parse_list(flags.hard)
    if flags.scopes:
        scopes = flags.scopes.split(",")
        if "" in scopes:
            raise CommandError('invalid resource quota scope ""')
        spec["scopes"] = scopes
    return {
        "kind": "ResourceQuota",
        "apiVersion": "v1",
        "metadata": metadata(context, name),
        "spec": spec,
        "status": {},
    }


run = generator(make, "failed to create quota: ")
