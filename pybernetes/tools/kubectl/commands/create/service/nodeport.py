"""create service nodeport."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.create._generator import COMMON, generator
from pybernetes.tools.kubectl.commands.create.service._service import TCP, service
from pybernetes.tools.kubectl.context import Context

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Create a NodePort service"
USAGE = "create service nodeport NAME [--tcp=port:targetPort] [--dry-run=server|client|none]"
FLAGS = (*COMMON, TCP, "- node-port int 0 | port on each node\n")


def make(context: Context, name: str) -> Object:
    """Return a Service of type NodePort."""
    return service(context, name, "NodePort", node_port=context.flags.node_port)


run = generator(make, "failed to create NodePort service: ", saves=False)
