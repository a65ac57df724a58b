"""Starts and stops the work on federated kinds, as FederatedTypeConfigs say."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from pybernetes.api.resource import Object
from pybernetes.control_plane.federation import type_config
from pybernetes.control_plane.federation.config import PUSH, Config
from pybernetes.control_plane.federation.controllers.sync_controller import SyncController, sync_controller
from pybernetes.control_plane.federation.kinds import FEDERATED_TYPE_CONFIGS
from pybernetes.control_plane.federation.members.members import Members
from pybernetes.control_plane.federation.type_config import TypeConfig
from pybernetes.runtime.background import BackgroundTasks
from pybernetes.runtime.cache import key_of, split_key
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.informer import Informer
from pybernetes.runtime.runtime import Runtime

log = logging.getLogger(__name__)
_CLOSE_SECONDS = 1.0
# Told of a federated kind whose work begins, or ends (then with None).
Listener = Callable[[TypeConfig, "SyncController | None"], None]


class TypeConfigController(Controller):
    """The loop over FederatedTypeConfigs, and the sync controllers that run because of them."""

    name = "federatedtypeconfig"
    kind = FEDERATED_TYPE_CONFIGS
    workers = 1

    def __init__(self, runtime: Runtime, settings: Config, members: Members, namespace: str) -> None:
        super().__init__(runtime)
        self._settings, self._members = settings, members
        self._scope = namespace if settings.one_namespace else ""
        self._running: dict[str, tuple[TypeConfig, SyncController, asyncio.Task[None]]] = {}
        self._namespaces: Informer | None = None
        self._events = runtime.recorder("federatedtypeconfig-controller")
        self.listeners: list[Listener] = []
        self._background = BackgroundTasks(self.name)

    def running(self, federated_kind: str) -> SyncController | None:
        """Return the controller of a federated kind, if one runs."""
        for config, controller, _ in self._running.values():
            if config.federated.kind == federated_kind:
                return controller
        return None

    async def run(self) -> None:
        """Reconcile until cancelled; the controllers that were started end, too."""
        try:
            await super().run()
        finally:
            await self._background.close(_CLOSE_SECONDS)
            for name in list(self._running):
                await self._stop(name)

    async def reconcile(self, key: str) -> float | None:
        """Start, change or stop the work on one kind."""
        obj, name = self.objects.get(key), split_key(key)[1]
        if obj is None or "deletionTimestamp" in obj["metadata"]:
            await self._stop(name)
            return None
        try:
            config = type_config.read(obj)
        except ValueError as error:
            await self._stop(name)
            self._events.warning(obj, "InvalidTypeConfig", str(error))
            await self._report(obj, running=False)
            return None
        wanted = (
            config.propagates
            and self._settings.gates[PUSH]
            and self._is_in_scope(config)
            and self._knows_where(config)
        )
        known = self._running.get(name)
        if known is not None and (not wanted or known[0] != config):
            await self._stop(name)
            known = None
        if wanted and known is None:
            self._start(config)
        await self._report(obj, running=wanted)
        return None

    def _is_in_scope(self, config: TypeConfig) -> bool:
        """Return whether a kind can be federated: what has no namespace cannot, where there is one namespace."""
        return not self._scope or config.target.namespaced

    def _knows_where(self, config: TypeConfig) -> bool:
        """Return whether it is known which clusters have which namespaces.

        As long as it is not, nothing in namespaces is carried over, and above all nothing is removed.
        """
        if self._scope or config.is_namespace or not config.target.namespaced:
            return True
        return self._namespaces is not None and self._namespaces.synced

    def _start(self, config: TypeConfig) -> None:
        if config.is_namespace:
            self._namespaces = self.runtime.informers.get(config.federated, self._scope)
            self._namespaces.add_handler(self._namespace_changed)
            self._background.start(self._when_synced(self._namespaces))
        controller = sync_controller(
            self.runtime, config, self._settings, self._members, self.find_namespace, self._scope
        )
        task = asyncio.create_task(controller.run(), name=controller.name)
        self._running[config.name] = (config, controller, task)
        log.info("the kind %s is federated as %s", config.target, config.federated)
        for listener in self.listeners:
            listener(config, controller)

    async def _when_synced(self, namespaces: Informer) -> None:
        await namespaces.wait_synced()
        self._look_again()

    async def _stop(self, name: str) -> None:
        known = self._running.pop(name, None)
        if known is None:
            return
        config, controller, task = known
        for listener in self.listeners:
            listener(config, None)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await controller.close()
        await self.runtime.informers.drop(controller.cache(config.federated))
        log.info("the kind %s is no longer federated", config.target)
        if config.is_namespace:
            self._namespaces = None
            self._look_again()

    def find_namespace(self, name: str) -> Object | None:
        """Return the federated namespace of a name; one that is going away counts as gone."""
        namespace = self._namespaces.get(f"{name}/{name}") if self._namespaces is not None else None
        return None if namespace is None or "deletionTimestamp" in namespace["metadata"] else namespace

    def _namespace_changed(self, old: Object | None, new: Object | None) -> None:
        if old is not None and new is not None and _placing(old) == _placing(new):
            return
        name = (new or old or {})["metadata"]["name"]
        for config, controller, _ in self._running.values():
            if not config.is_namespace:
                controller.enqueue_namespace(name)

    def _look_again(self) -> None:
        """Start or stop the work on everything in namespaces."""
        for obj in self.objects:
            self.enqueue(key_of(obj))

    async def _report(self, obj: Object, *, running: bool) -> None:
        meta = obj["metadata"]
        status = {
            "observedGeneration": meta.get("generation", 0),
            "propagationController": "Running" if running else "NotRunning",
        }
        if obj.get("status") != status:
            await self.client.patch(
                FEDERATED_TYPE_CONFIGS, meta["name"], {"status": status}, meta["namespace"], subresource="status"
            )  # fmt: skip


def _placing(obj: Object) -> object:
    return (obj.get("spec") or {}).get("placement"), "deletionTimestamp" in obj["metadata"]
