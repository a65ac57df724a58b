"""create namespace."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.create._generator import COMMON, generator, metadata
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Create a namespace with the specified name"
USAGE = "create namespace NAME [--dry-run=server|client|none]"
ALIASES = ("ns",)
FLAGS = COMMON


def make(context: Context, name: str) -> Object:
    """Return a Namespace."""
    if not name:
        raise CommandError("name must be specified")
    return {
        "kind": "Namespace",
        "apiVersion": "v1",
        "metadata": metadata(context, name, False),
        "spec": {},
        "status": {},
    }


run = generator(make)
