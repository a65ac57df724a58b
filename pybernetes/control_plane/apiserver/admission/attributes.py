"""A write as admission sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from pybernetes.api import errors
from pybernetes.api.errors import StatusError
from pybernetes.api.resource import Object, Resource
from pybernetes.control_plane.apiserver.authn.user import ANONYMOUS, User

if TYPE_CHECKING:
    from pybernetes.control_plane.apiserver.admission.dynamic.reinvocation import Reinvocation
    from pybernetes.control_plane.apiserver.request import Request
    from pybernetes.control_plane.apiserver.storage.options import DeleteOptions

CREATE, UPDATE, DELETE, CONNECT = "CREATE", "UPDATE", "DELETE", "CONNECT"


def _ignore(text: str) -> None:
    """Drop a warning that nobody is to get."""


@dataclass(slots=True)
class Attributes:
    """What is written, by whom, and how. Plugins that mutate change ``obj`` in place."""

    operation: str  # CREATE, UPDATE, DELETE or CONNECT
    resource: Resource
    namespace: str
    name: str
    obj: Object | None
    old: Object | None
    user: User = ANONYMOUS
    subresource: str = ""
    dry_run: bool = False
    # The options of a deletion.
    options: DeleteOptions | None = None
    # Called with texts for the Warning headers of the answer.
    warn: Callable[[str], None] = _ignore
    # Notes for the audit log.
    annotations: dict[str, str] = field(default_factory=dict)
    # The request, for those who pass its options on.
    request: Request | None = None
    # Whether plugins mutate for a second time, because one of them asked for it.
    again: bool = False
    wants_again: bool = False
    # What plugins remember of the first time, by their names.
    reinvocations: dict[str, Reinvocation] | None = None

    def forbidden(self, why: str) -> StatusError:
        """Return the refusal of this write, in Kubernetes' words."""
        meta = self.obj.get("metadata", {}) if self.obj is not None else {}
        # A name that is yet to be generated is told by its prefix.
        name = self.name or meta.get("name") or meta.get("generateName") or "Unknown"
        return errors.forbidden(self.resource.group, self.resource.plural, name, why)

    def refuse(self, why: str) -> NoReturn:
        """Refuse this write."""
        raise self.forbidden(why)
