"""Creates an object in the place of one that was deleted, and puts the old one back if that fails."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object


def create_or_restore(
    context: Context, info: Info, value: Object, before: Object | None, query: dict[str, Any]
) -> Object:
    """Create an object; if the server refuses it, create again what was there ``before``, and raise the refusal."""
    try:
        return context.client.create(info.resource, info.namespace, value, query=query)
    except CommandError as error:
        if before is None:
            raise
        try:
            context.client.create(info.resource, info.namespace, before)
        except CommandError as second:
            raise CommandError(
                "An error occurred force-replacing the existing object with the newly provided one:\n\n"
                f"{error.message}.\n\nAdditionally, an error occurred attempting to restore the original object:\n\n"
                f"{second.message}"
            ) from None
        raise
