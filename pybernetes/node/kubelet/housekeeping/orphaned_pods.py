"""What is left of pods that are not known any more: containers, sandboxes, folders, control groups, logs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Container

from pybernetes.lib.files import trees
from pybernetes.node.kubelet.context import Context
from pybernetes.node.kubelet.cri import label_keys
from pybernetes.node.kubelet.cri.client import CriError, ignore_missing

log = logging.getLogger(__name__)
_GRACE = 1.0


class OrphanedPods:
    """Removes what is left of pods that were deleted while the kubelet was not running."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def clean(self, known: Container[str]) -> None:
        """Remove everything that belongs to unknown pods; ``known`` is asked each time, since pods come meanwhile."""
        with self._context.spans.part("Containers/GarbageCollect", {}):
            await self._clean(known)

    async def _clean(self, known: Container[str]) -> None:
        context = self._context
        try:
            await self._runtime(known)
            for uid in context.volumes.orphans(known):
                if uid not in known:
                    await context.volumes.unmount(uid)
        except CriError as error:
            log.warning("left-over containers and volumes cannot be removed: %s", error)
            return
        for parent in context.cgroups.orphans(known):
            await context.cgroups.run(context.cgroups.remove_folder, parent)
        logs = context.settings.logs
        for folder in logs.iterdir() if logs.is_dir() else ():
            if folder.name.rpartition("_")[2] not in known:
                try:
                    await asyncio.to_thread(trees.remove_path, folder)
                except OSError as error:
                    log.warning("the left-over logs %s cannot be removed: %s", folder, error)

    async def _runtime(self, known: Container[str]) -> None:
        cri = self._context.cri
        for container in await cri.list_containers():
            uid = container.labels.get(label_keys.POD_UID)
            if uid and uid not in known:
                await ignore_missing(cri.stop_container(container.id, _GRACE))
                await ignore_missing(cri.remove_container(container.id))
        for sandbox in await cri.list_pod_sandboxes():
            uid = sandbox.labels.get(label_keys.POD_UID)
            if uid and uid not in known:
                await ignore_missing(cri.stop_pod_sandbox(sandbox.id))
                await ignore_missing(cri.remove_pod_sandbox(sandbox.id))
