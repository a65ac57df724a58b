"""create service clusterip."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.create._generator import COMMON, generator
from pybernetes.tools.kubectl.commands.create.service._service import TCP, service
from pybernetes.tools.kubectl.context import Context

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Create a ClusterIP service"
USAGE = "create service clusterip NAME [--tcp=<port>:<targetPort>] [--dry-run=server|client|none]"
FLAGS = (*COMMON, TCP, "- clusterip string | address of the service, or None\n")


def make(context: Context, name: str) -> Object:
    """Return a Service of type ClusterIP."""
    return service(context, name, "ClusterIP", cluster_ip=context.flags.clusterip)


run = generator(make, "failed to create ClusterIP service: ", saves=False)
