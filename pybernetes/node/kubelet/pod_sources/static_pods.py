"""Static pods: those that files and a URL have a node run, and the mirrors that show them in the API."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from pybernetes.lib.clock import Clock
from pybernetes.node.kubelet.config import Options
from pybernetes.node.kubelet.pod.pod_worker import PodWorker
from pybernetes.node.kubelet.pod_sources import static_pod, static_pod_url

Fields = dict[str, Any]


class StaticPods:
    """The static pods of a node. ``add`` takes one up, ``mirror`` has one shown in the API as it is now."""

    def __init__(
        self,
        options: Options,
        clock: Clock,
        workers: Mapping[str, PodWorker],
        add: Callable[[Fields], None],
        mirror: Callable[[Fields], Coroutine[Any, Any, None]],
        soon: Callable[[Coroutine[Any, Any, Any]], Any],
    ) -> None:
        self._options, self._clock, self._workers = options, clock, workers
        self._add, self._mirror, self._soon = add, mirror, soon
        self._places: dict[str, dict[str, Fields]] = {}  # what each place has
        self._directory: static_pod.StaticPodDirectory | None = None
        self.pods: dict[str, Fields] = {}  # by uid

    def start(self) -> list[Coroutine[Any, Any, None]]:
        """Start watching the directory; return the loops to run."""
        settings, node = self._options.configuration, self._options.node_name
        if settings["staticPodPath"]:
            self._directory = static_pod.StaticPodDirectory(
                Path(settings["staticPodPath"]), node, self._clock, lambda pods: self._changed("file", pods)
            )
            self._directory.start()
        if not settings["staticPodURL"]:
            return []
        remote = static_pod_url.StaticPodUrl(
            settings["staticPodURL"], settings["staticPodURLHeader"], node, self._clock,
            lambda pods: self._changed("http", pods),
        )  # fmt: skip
        return [remote.run(self._options.seconds("httpCheckFrequency"))]

    def stop(self) -> None:
        """Stop watching the directory."""
        if self._directory is not None:
            self._directory.stop()

    def wanted(self, key: str) -> Fields | None:
        """Return the static pod of a namespace and name (``kube-system/store``)."""
        return next((pod for pod in self.pods.values() if _key(pod) == key), None)

    def _changed(self, place: str, pods: dict[str, Fields]) -> None:
        self._places[place] = pods
        before, self.pods = (
            self.pods,
            {uid: pod for pods in self._places.values() for uid, pod in pods.items()},
        )
        for uid in before.keys() - self.pods.keys():
            worker = self._workers.get(uid)
            if worker is not None:
                worker.remove()
                self._soon(self._mirror(worker.pod))
        self.take_up()
        for pod in self.pods.values():
            self._soon(self._mirror(pod))

    def take_up(self) -> None:
        """Start the pods that have no worker; one whose file changed waits until its predecessor has ended."""
        taken = {worker.name for worker in self._workers.values()}
        for uid, pod in self.pods.items():
            if uid not in self._workers and _key(pod) not in taken:
                taken.add(_key(pod))
                self._add(pod)


def _key(pod: Fields) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
