"""The whole gateway: the proxy, what it is told, and the controllers that tell it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.client.refs import ENDPOINT_SLICES
from pybernetes.control_plane.gateway.controller import indexes
from pybernetes.control_plane.gateway.controller.class_controller import ClassController
from pybernetes.control_plane.gateway.controller.gateway_controller import GatewayController
from pybernetes.control_plane.gateway.controller.ingress_controller import IngressController
from pybernetes.control_plane.gateway.controller.published import Published
from pybernetes.control_plane.gateway.envoy import clusters, messages
from pybernetes.control_plane.gateway.envoy.messages import Message
from pybernetes.control_plane.gateway.model import Cluster
from pybernetes.control_plane.gateway.xds import proxy_process
from pybernetes.control_plane.gateway.xds.server import XdsServer
from pybernetes.runtime.manager import Manager


@dataclass(frozen=True, slots=True)
class Options:
    """Where the proxy listens, where its sockets are, and what is served."""

    folder: Path
    address: str
    ports: range
    gateway_api: bool = True
    ingress: bool = True
    threads: int = 1


def own_folder(folder: Path) -> Path:
    """Make a folder that nobody else may enter: the sockets in it give out keys. PermissionError if it is another's."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise PermissionError(f"{folder} is not a folder that only this user may enter")
    return folder


class Gateway:
    """Follows a cluster and keeps a proxy as the cluster wants it."""

    def __init__(self, manager: Manager, options: Options) -> None:
        messages.message(messages.CLUSTER, {})  # says now that Envoy's API is missing, if it is
        proxy_process.program()
        self._manager, self._options = manager, options
        folder = own_folder(options.folder)
        self._socket = folder / "xds.sock"
        self.server = XdsServer(self._socket)
        self.published = Published(self.server, self._endpoints)
        self._slices = manager.runtime.informers.get(ENDPOINT_SLICES)
        place = self.published, options.address, options.ports
        if options.gateway_api:
            manager.add(ClassController)
            manager.add(GatewayController(manager.runtime, *place))
        if options.ingress:
            manager.add(IngressController(manager.runtime, *place))
        self._slices.add_handler(self._moved)

    def _endpoints(self, cluster: Cluster) -> Message:
        found = self._slices.find(indexes.by_service_name, f"{cluster.namespace}/{cluster.service}")
        return clusters.endpoints(cluster, found)

    def _moved(self, old: Object | None, new: Object | None) -> None:
        services: set[str] = set()
        for slice_ in (old, new):
            names: Iterable[str] = indexes.by_service_name(slice_) if slice_ is not None else ()
            services.update(names)
        for service in services:
            self.published.refresh(service)

    async def run(self) -> None:
        """Run proxy and controllers until cancelled."""
        with contextlib.suppress(FileNotFoundError):
            self._socket.unlink()  # of a process that was killed
        await self.server.start()
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(
                    proxy_process.run(
                        self._options.folder,
                        self._socket,
                        self._manager.runtime.clock,
                        threads=self._options.threads,
                    )
                )
                group.create_task(self._manager.run())
        finally:
            await self.server.stop()
