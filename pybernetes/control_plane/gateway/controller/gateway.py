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
    user: int = 0  # whose process the proxy is; 0 for our own


def own_folder(folder: Path, user: int = 0) -> Path:
    """Make the folder of a socket that gives out keys. PermissionError if others could put one of theirs there.

    Nobody else may enter it, unless the proxy is another user's: then others may pass, and see nothing.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    state = folder.lstat()
    if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.geteuid() or stat.S_IMODE(state.st_mode) & 0o066:
        raise PermissionError(f"{folder} is not a folder of this user alone")
    folder.chmod(0o711 if user else 0o700)
    return folder


class Gateway:
    """Follows a cluster and keeps a proxy as the cluster wants it."""

    def __init__(self, manager: Manager, options: Options) -> None:
        messages.message(messages.CLUSTER, {})  # says now that Envoy's API is missing, if it is
        proxy_process.program()
        self._manager, self._options = manager, options
        self._socket = own_folder(options.folder, options.user) / "xds.sock"
        self.server = XdsServer(self._socket, options.user)
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
        slices = self._slices.find(indexes.by_service_name, f"{cluster.namespace}/{cluster.service}")
        return clusters.endpoints(cluster, slices, (self._options.address, self._options.ports))

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
                clock, options = self._manager.runtime.clock, self._options
                proxy = proxy_process.run(self._socket, clock, threads=options.threads, user=options.user)
                group.create_task(proxy)
                group.create_task(self._manager.run())
        finally:
            await self.server.stop()
