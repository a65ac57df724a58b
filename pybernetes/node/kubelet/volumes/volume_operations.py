"""Counts how long volumes take to be mounted and unmounted, by upstream's names of volume plugins."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from pybernetes.node.kubelet.metrics import KubeletMetrics

Key = tuple[str, str]  # uid of the pod and name of the volume
_PLUGINS = {
    "configMap": "configmap",
    "downwardAPI": "downward-api",
    "emptyDir": "empty-dir",
    "hostPath": "host-path",
    "local": "local-volume",
}


def plugin_name(source: str) -> str:
    """Return upstream's name of the plugin for a field of a volume."""
    return f"kubernetes.io/{_PLUGINS.get(source, source)}"


class VolumeOperations:
    """The operations of a node's volumes."""

    def __init__(self, metrics: KubeletMetrics) -> None:
        self._metrics = metrics
        self._asked: dict[Key, float] = {}  # when volumes were first to be mounted that are not yet
        self._plugins: dict[Key, str] = {}  # of those that are mounted

    @contextmanager
    def mounting(self, key: Key, source: str) -> Iterator[list[str]]:
        """Count what happens inside as the mount of a volume; what is put into the list is a better name of its source."""
        begin = time.monotonic()
        since, named = self._asked.setdefault(key, begin), [source]
        try:
            yield named
        except BaseException:
            self._operation(plugin_name(named[-1]), "volume_mount", "fail-unknown", begin)
            raise
        plugin = self._plugins[key] = plugin_name(named[-1])
        self._operation(plugin, "volume_mount", "success", begin)
        del self._asked[key]
        labels = ("operation_name", "overall_volume_mount"), ("plugin_name", plugin)
        self._metrics.observe("volume_operation_total_seconds", time.monotonic() - since, *labels)

    @contextmanager
    def unmounting(self, uid: str) -> Iterator[None]:
        """Count what happens inside as the unmount of all volumes of a pod."""
        begin, status = time.monotonic(), "fail-unknown"
        try:
            yield
            status = "success"
        finally:
            for key in [key for key in self._plugins if key[0] == uid]:
                self._operation(self._plugins.pop(key), "volume_unmount", status, begin)
            self._asked = {key: since for key, since in self._asked.items() if key[0] != uid}

    def _operation(self, plugin: str, name: str, status: str, begin: float) -> None:
        labels = (
            ("migrated", "false"),
            ("operation_name", name),
            ("status", status),
            ("volume_plugin", plugin),
        )
        self._metrics.observe("storage_operation_duration_seconds", time.monotonic() - begin, *labels)
