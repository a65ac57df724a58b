"""One object that a command works on."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.resources.discovery import Resource

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


class Info:
    """An object: which, and what it looks like."""

    def __init__(
        self, resource: Resource, namespace: str, name: str, value: Object | None = None, source: str = ""
    ) -> None:
        self.resource, self.namespace, self.name, self.source = resource, namespace, name, source
        self.object: Object = value if value is not None else {}
        self.before: Object = {}  # what it looked like when it was read, for who changes it

    @property
    def label(self) -> str:
        """How messages name it: deployment.apps/web."""
        return f"{self.resource.kind_name}/{self.name}"
