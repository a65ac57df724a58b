"""The static pods of a node: those of files and those of a URL, together."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.lib.clock import Clock
from pybernetes.node.kubelet.options import Options
from pybernetes.node.kubelet.pod.pod_worker import PodWorker
from pybernetes.node.kubelet.pod_sources.static_pod_directory import StaticPodDirectory
from pybernetes.node.kubelet.pod_sources.static_pod_url import StaticPodUrl


class StaticPods:
    """The static pods of a node. ``add`` starts the worker of one, ``mirror`` shows one in the API as it is now."""

    def __init__(
        self,
        options: Options,
        clock: Clock,
        workers: Mapping[str, PodWorker],
        add: Callable[[Object], None],
        mirror: Callable[[Object], None],
    ) -> None:
        self._options, self._clock, self._workers = options, clock, workers
        self._add, self._mirror = add, mirror
        self._sources: dict[str, dict[str, Object]] = {}  # the pods of each source, by uid
        self._directory: StaticPodDirectory | None = None
        self.pods: dict[str, Object] = {}  # those of all sources, by uid

    def start(self) -> list[Coroutine[Any, Any, None]]:
        """Start watching the directory; return the loops to run."""
        settings, node = self._options.configuration, self._options.node_name
        if settings["staticPodPath"]:
            self._directory = StaticPodDirectory(
                Path(settings["staticPodPath"]), node, self._clock, lambda pods: self._changed("file", pods),
                self._options.seconds("fileCheckFrequency"),
            )  # fmt: skip
            self._directory.start()
        if not settings["staticPodURL"]:
            return []
        remote = StaticPodUrl(
            settings["staticPodURL"], settings["staticPodURLHeader"], node, self._clock,
            lambda pods: self._changed("http", pods),
        )  # fmt: skip
        return [remote.run(self._options.seconds("httpCheckFrequency"))]

    def stop(self) -> None:
        """Stop watching the directory."""
        if self._directory is not None:
            self._directory.stop()

    def wanted(self, key: str) -> Object | None:
        """Return the static pod of a namespace and name (``kube-system/store``)."""
        return next((pod for pod in self.pods.values() if _key(pod) == key), None)

    def _changed(self, source: str, pods: dict[str, Object]) -> None:
        self._sources[source] = pods
        before = self.pods
        self.pods = {uid: pod for pods in self._sources.values() for uid, pod in pods.items()}
        for uid in before.keys() - self.pods.keys():
            worker = self._workers.get(uid)
            if worker is not None:
                worker.remove()
                self._mirror(worker.pod)
        self.start_workers()
        for pod in self.pods.values():
            self._mirror(pod)

    def start_workers(self) -> None:
        """Start the pods that have no worker; one whose file changed waits until its predecessor has ended."""
        taken = {worker.name for worker in self._workers.values()}
        for uid, pod in self.pods.items():
            if uid not in self._workers and _key(pod) not in taken:
                taken.add(_key(pod))
                self._add(pod)


def _key(pod: Object) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
