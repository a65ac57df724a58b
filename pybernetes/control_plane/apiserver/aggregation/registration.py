"""APIService objects of what this server serves itself, so that one list shows everything that is served."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.discovery.discovery import GROUP_PRIORITIES, Discovery
from pybernetes.control_plane.apiserver.storage.damage import left_alone
from pybernetes.control_plane.apiserver.storage.ensure import ensure
from pybernetes.control_plane.apiserver.storage.modify import DELETE, KEEP, Outcome, modify
from pybernetes.control_plane.apiserver.storage.retrying_sync import RetryingSync

GROUP, PLURAL = "apiregistration.k8s.io", "apiservices"
LABEL = "kube-aggregator.kubernetes.io/automanaged"
# How upstream ranks versions of its own groups, where it is not the usual.
_VERSION_PRIORITIES = {
    ("", "v1"): 1, ("autoscaling", "v2"): 30, ("flowcontrol.apiserver.k8s.io", "v1"): 21, ("resource.k8s.io", "v1"): 21,
}  # fmt: skip
_USUAL_PRIORITY = 15
_CUSTOM = (1000, 100)
Version = tuple[str, str]


def local(group: str, version: str, built_in: bool) -> Object:
    """Return the object of a version that this server serves itself."""
    minimum, priority = _CUSTOM
    if built_in:
        minimum = GROUP_PRIORITIES[group]
        priority = _VERSION_PRIORITIES.get((group, version), _USUAL_PRIORITY)
    return {
        "metadata": {"name": f"{version}.{group}", "labels": {LABEL: "onstart" if built_in else "true"}},
        "spec": {
            "group": group, "version": version, "groupPriorityMinimum": minimum, "versionPriority": priority,
        },
    }  # fmt: skip


def surplus(present: Iterable[Object], served: set[Version]) -> list[str]:
    """Return the names of objects that stand for custom resources which are served no longer."""
    return [
        api_service["metadata"]["name"]
        for api_service in present
        if api_service["metadata"].get("labels", {}).get(LABEL) == "true"
        and (api_service["spec"]["group"], api_service["spec"]["version"]) not in served
    ]


class Registration:
    """Keeps the objects in step with what is served."""

    def __init__(self, context: ServerContext, discovery: Discovery) -> None:
        self._context, self._discovery = context, discovery
        self._kind = context.kinds.find(GROUP, PLURAL)
        self._built_in = set(discovery.versions())
        self._retrying_sync = RetryingSync(self.sync, "write APIService objects")

    async def start(self) -> None:
        """Write what is missing, then follow what is served."""
        with left_alone():
            await self.sync()
        self._discovery.listeners.append(self._retrying_sync.ask)
        self._retrying_sync.start()

    async def close(self) -> None:
        """Stop following."""
        await self._retrying_sync.close()

    def again(self) -> None:
        """Check the objects again: one of them may be gone."""
        self._retrying_sync.ask()

    async def sync(self) -> None:
        """Make the objects be what is served, all in one go."""
        served = set(self._discovery.versions())
        missing = [
            local(group, version, (group, version) in self._built_in)
            for group, version in served
            if group != GROUP and self._context.store.get(self._kind.key("", f"{version}.{group}")) is None
        ]
        await asyncio.gather(*(ensure(self._context, GROUP, PLURAL, "", obj) for obj in missing))
        records = self._context.store.list(self._kind.prefix).records
        present = []
        for record in records:
            with left_alone():
                present.append(self._kind.shared(record))
        await asyncio.gather(*(self._remove(name) for name in surplus(present, served)))

    async def _remove(self, name: str) -> None:
        def change(api_service: Object | None) -> Outcome:
            served = set(self._discovery.versions())
            return DELETE if api_service is not None and surplus([api_service], served) else KEEP

        await modify(self._context.store, self._kind, self._kind.key("", name), change)
