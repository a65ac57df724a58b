"""api-versions: lists the versions of the API that the server has."""

from __future__ import annotations

from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError

SUMMARY = 'Print the supported API versions on the server, in the form of "group/version"'
USAGE = "api-versions"
FLAGS = ()


def run(context: Context) -> None:
    """Print the API versions, sorted."""
    if context.args:
        raise context.usage(f"unexpected arguments: [{' '.join(context.args)}]")
    try:
        versions = {resource.api_version for resource in context.discovery.refresh(1)}
    except CommandError as error:
        raise CommandError(f"couldn't get available api versions from server: {error.message}") from None
    for version in sorted(versions):
        context.out(version)
