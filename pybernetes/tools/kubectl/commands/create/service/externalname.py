"""create service externalname."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.create._generator import COMMON, generator
from pybernetes.tools.kubectl.commands.create.service._service import TCP, service
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Create an ExternalName service"
USAGE = "create service externalname NAME --external-name external.name [--dry-run=server|client|none]"
FLAGS = (*COMMON, TCP, "- external-name string | name that the service stands for\n")
REQUIRED = ("external-name",)


def make(context: Context, name: str) -> Object:
    """Return a Service of type ExternalName."""
    from pybernetes.api.validation.names import dns_subdomain

    name_meant = context.flags.external_name
    if dns_subdomain(name_meant):
        raise CommandError(f"invalid service external name {name_meant}")
    return service(context, name, "ExternalName", external=context.flags.external_name)


run = generator(make, "failed to create ExternalName service: ", saves=False)
