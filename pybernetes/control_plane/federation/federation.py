"""The control plane of a federation: its controllers, put together."""

from __future__ import annotations

from pybernetes.client.client import Client
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import SECRETS
from pybernetes.control_plane.federation import config
from pybernetes.control_plane.federation.config import PREFERENCES, Config
from pybernetes.control_plane.federation.controllers.cluster_controller import ClusterController
from pybernetes.control_plane.federation.controllers.credential_controller import CredentialController
from pybernetes.control_plane.federation.controllers.preference_controller import PreferenceController
from pybernetes.control_plane.federation.controllers.type_config_controller import TypeConfigController
from pybernetes.control_plane.federation.kinds import (
    COMPONENT,
    CONFIG_NAME,
    FEDERATED_TYPE_CONFIGS,
    KUBEFED_CLUSTERS,
    KUBEFED_CONFIGS,
    REPLICA_SCHEDULING_PREFERENCES,
)
from pybernetes.control_plane.federation.members.members import Members
from pybernetes.control_plane.federation.multicluster.service_controller import MultiClusterServiceController
from pybernetes.runtime.election import Election
from pybernetes.runtime.manager import Manager


async def settings_of(client: Client, namespace: str) -> Config:
    """Return the settings that the host has; ValueError if there are none, or if they make no sense."""
    try:
        return config.read(await client.get(KUBEFED_CONFIGS, CONFIG_NAME, namespace))
    except NotFound:
        raise ValueError(
            f'A KubeFedConfig named "{CONFIG_NAME}" was not found in namespace "{namespace}": '
            "`pyb federation init` makes one"
        ) from None


def election_of(settings: Config, namespace: str) -> Election:
    """Return the election that settings ask for."""
    return Election(
        COMPONENT,
        namespace,
        lease_seconds=settings.lease_duration,
        renew_seconds=settings.renew_deadline,
        retry_seconds=settings.retry_period,
    )


class Federation:
    """The controllers of a federation, in a manager of their own or of somebody else's."""

    def __init__(self, manager: Manager, settings: Config, namespace: str) -> None:
        self.manager, self.settings, self.namespace = manager, settings, namespace
        runtime = manager.runtime
        self.members = Members(runtime, namespace)
        own = {kind: {"namespace": namespace} for kind in (KUBEFED_CLUSTERS, FEDERATED_TYPE_CONFIGS, SECRETS)}
        types = TypeConfigController.variant(selects=own)
        clusters = ClusterController.variant(selects=own)
        credentials = CredentialController.variant(selects=own)
        self.types = types(runtime, settings, self.members, namespace)
        manager.add(self.types)
        manager.add(clusters(runtime, settings, self.members, namespace))
        manager.add(credentials(runtime, self.members, namespace))
        if settings.gates[PREFERENCES]:
            scope = (
                {REPLICA_SCHEDULING_PREFERENCES: {"namespace": namespace}} if settings.one_namespace else {}
            )
            preferences = PreferenceController.variant(selects=scope)
            manager.add(preferences(runtime, self.members, self.types, settings.one_namespace))
        self.services: MultiClusterServiceController | None = None
        if not settings.one_namespace:
            self.services = MultiClusterServiceController(runtime, self.members)
            manager.add(self.services)

    async def run(self) -> None:
        """Run until cancelled."""
        try:
            await self.manager.run()
        finally:
            if self.services is not None:
                await self.services.close()
            await self.members.close()
