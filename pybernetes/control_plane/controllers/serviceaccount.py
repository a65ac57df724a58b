"""ServiceAccount: every active namespace has the account ``default``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pybernetes.api.resource import Object
from pybernetes.client.errors import AlreadyExists, NotFound, StatusError
from pybernetes.client.refs import NAMESPACES, SERVICE_ACCOUNTS, Kindlike
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.control_plane.controllers._objects.deletion import is_namespace_terminating
from pybernetes.runtime.controller import Controller, Mapper

ACCOUNT = "default"


def is_active(namespace: Object | None) -> bool:
    """Return whether objects may be created in a namespace."""
    return namespace is not None and namespace.get("status", {}).get("phase") == "Active"


class ServiceAccountController(Controller):
    """Works on names of namespaces."""

    name = "serviceaccount-controller"
    kind = NAMESPACES
    workers = 1

    def watches(self) -> Mapping[Kindlike, Mapper]:
        return {SERVICE_ACCOUNTS: self._namespace_of}

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        return is_active(new)

    @staticmethod
    def _namespace_of(account: Object) -> Iterable[str]:
        meta = account["metadata"]
        return (meta["namespace"],) if meta["name"] == ACCOUNT else ()

    async def reconcile(self, key: str) -> None:
        """Create the account of a namespace if it is missing."""
        if not is_active(self.objects.get(key)) or f"{key}/{ACCOUNT}" in self.cache(SERVICE_ACCOUNTS):
            return
        try:
            await self.client.create(SERVICE_ACCOUNTS, {"metadata": {"name": ACCOUNT, "namespace": key}})
        except (AlreadyExists, NotFound):  # somebody else was faster, or the namespace is gone
            pass
        except StatusError as error:
            if not is_namespace_terminating(error):
                raise


CONTROLLER = Descriptor(
    name=ServiceAccountController.name,
    aliases=("serviceaccount",),
    identity="service-account-controller",
    build=lambda runtime, options: ServiceAccountController(runtime),
)
