"""create service loadbalancer."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.create._generator import COMMON, generator
from pybernetes.tools.kubectl.commands.create.service._service import TCP, service
from pybernetes.tools.kubectl.context import Context

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Create a LoadBalancer service"
USAGE = "create service loadbalancer NAME [--tcp=port:targetPort] [--dry-run=server|client|none]"
FLAGS = (*COMMON, TCP)


def make(context: Context, name: str) -> Object:
    """Return a Service of type LoadBalancer."""
    return service(context, name, "LoadBalancer")


run = generator(make, "failed to create LoadBalancer service: ", saves=False)
