"""create serviceaccount."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.create._generator import COMMON, generator, metadata
from pybernetes.tools.kubectl.context import Context

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Create a service account with the specified name"
USAGE = "create serviceaccount NAME [--dry-run=server|client|none]"
ALIASES = ("sa",)
FLAGS = COMMON


def make(context: Context, name: str) -> Object:
    """Return a ServiceAccount."""
    return {"kind": "ServiceAccount", "apiVersion": "v1", "metadata": metadata(context, name)}


run = generator(make, "failed to create serviceaccount: ")
