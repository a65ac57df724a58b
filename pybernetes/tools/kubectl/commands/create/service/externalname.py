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


def make(context: Context, name: str) -> Object:
    """Return a Service of type ExternalName."""
    if "external-name" not in context.flags.changed:
        raise CommandError('required flag(s) "external-name" not set')
    return service(context, name, "ExternalName", external=context.flags.external_name)


run = generator(make, "failed to create ExternalName service: ")
