"""Where pods come from: the API server, and files of a folder (static pods)."""

from __future__ import annotations

import asyncio
import ctypes
import hashlib
import logging
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from pybernetes.api.core.pod.defaults import default_pod_spec
from pybernetes.lib.clock import Clock

log = logging.getLogger(__name__)
Fields = dict[str, Any]
SOURCE = "kubernetes.io/config.source"
HASH = "kubernetes.io/config.hash"
SEEN = "kubernetes.io/config.seen"
MIRROR = "kubernetes.io/config.mirror"
_IN_CLOEXEC, _IN_NONBLOCK = 0o2000000, 0o4000
_IN_EVENTS = 0x8 | 0x40 | 0x80 | 0x100 | 0x200  # close after writing, moved from and to, created, deleted


class Watcher:
    """Tells when something in a folder changed (inotify)."""

    def __init__(self, folder: Path, changed: Callable[[], None]) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._file = libc.inotify_init1(_IN_CLOEXEC | _IN_NONBLOCK)
        if self._file < 0 or libc.inotify_add_watch(self._file, bytes(folder), _IN_EVENTS) < 0:
            raise OSError(ctypes.get_errno(), f"watching {folder}: {os.strerror(ctypes.get_errno())}")
        self._changed = changed
        asyncio.get_running_loop().add_reader(self._file, self._read)

    def _read(self) -> None:
        try:
            data = os.read(self._file, 65536)
        except BlockingIOError:
            return
        if len(data) >= struct.calcsize("iIII"):
            self._changed()

    def close(self) -> None:
        """Stop watching."""
        asyncio.get_running_loop().remove_reader(self._file)
        os.close(self._file)


def static_pod(text: str, path: Path | str, node: str, now: str, source: str = "file") -> Fields:
    """Return the pod of a file or URL, with what the API server would have added; raise ValueError if there is none."""
    import yaml

    try:
        pod = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"couldn't parse as pod: {error}") from None
    if not isinstance(pod, dict) or pod.get("kind") != "Pod" or not isinstance(pod.get("spec"), dict):
        raise ValueError("couldn't parse as pod: it is not a Pod")
    meta = pod.setdefault("metadata", {})
    if not meta.get("name"):
        raise ValueError("the pod has no name")
    _check_alone(pod["spec"])
    if meta.get("uid"):
        identity = str(meta["uid"])
    else:
        digest = hashlib.md5(orjson.dumps(pod, option=orjson.OPT_SORT_KEYS), usedforsecurity=False)
        digest.update(f"host:{node}file:{path}".encode() if source == "file" else f"url:{path}".encode())
        identity = digest.hexdigest()
    meta["uid"] = identity
    meta["name"] = f"{meta['name']}-{node.lower()}"
    meta.setdefault("namespace", "default")
    meta["annotations"] = {
        **(meta.get("annotations") or {}), HASH: identity, SEEN: now, SOURCE: source,
    }  # fmt: skip
    spec = pod["spec"]
    default_pod_spec(spec)
    spec["nodeName"] = node
    spec.setdefault("enableServiceLinks", True)
    if source == "file":
        spec["tolerations"] = [*spec.get("tolerations", []), {"operator": "Exists", "effect": "NoExecute"}]
    pod["status"] = {"phase": "Pending"}
    return pod


_VOLUMES = {
    "configMap": "configmaps (via configmap volumes)", "secret": "secrets (via secret volumes)",
    "csi": "csidrivers (via CSI volumes)", "persistentVolumeClaim": "persistentvolumeclaims",
    "ephemeral": "persistentvolumeclaims (via ephemeral volumes)",
}  # fmt: skip
_PROJECTED = {
    "configMap": "configmaps (via projected volumes)", "secret": "secrets (via projected volumes)",
    "serviceAccountToken": "serviceaccounts (via projected volumes)", "clusterTrustBundle": "clustertrustbundles",
    "podCertificate": "podcertificates",
}  # fmt: skip


def api_reference(spec: Fields) -> str:
    """Return the kind of the first API object that a pod refers to, empty if there is none."""
    if spec.get("serviceAccountName") or spec.get("serviceAccount"):
        return "serviceaccounts"
    if spec.get("imagePullSecrets"):
        return "secrets"
    for group in ("initContainers", "containers", "ephemeralContainers"):
        for container in spec.get(group) or ():
            for variable in [*(container.get("env") or ()), *(container.get("envFrom") or ())]:
                source = {**variable, **(variable.get("valueFrom") or {})}
                if "secretKeyRef" in source or "secretRef" in source:
                    return "secrets"
                if "configMapKeyRef" in source or "configMapRef" in source:
                    return "configmaps"
    if spec.get("resourceClaims"):
        return "resourceclaims"
    for volume in spec.get("volumes") or ():
        for source in (volume.get("projected") or {}).get("sources") or ():
            for name, kind in _PROJECTED.items():
                if name in source:
                    return kind
        for name, kind in _VOLUMES.items():
            if name in volume:
                return kind
    return ""


def _check_alone(spec: Fields) -> None:
    """Reject a static pod that needs an API server."""
    if spec.get("ephemeralContainers"):
        raise ValueError("static pods can not have ephemeralContainers")
    kind = api_reference(spec)
    if kind:
        raise ValueError(f"static pods may not reference {kind}")


class StaticPodDirectory:
    """The pods of the files of a folder, or of one file, by uid; ``changed`` is called when they are others."""

    def __init__(
        self, folder: Path, node: str, clock: Clock, changed: Callable[[dict[str, Fields]], None]
    ) -> None:
        self.folder, self._node, self._clock, self._changed = folder, node, clock, changed
        self._only = ""
        self._watcher: Watcher | None = None
        self._due: Any = None
        self.pods: dict[str, Fields] = {}
        self._texts: dict[Path, tuple[str, Fields | None]] = {}

    def start(self) -> None:
        """Read the files now and whenever they change."""
        if self.folder.is_file():  # what is watched is the folder that it is in: editors replace files
            self.folder, self._only = self.folder.parent, self.folder.name
        self.folder.mkdir(parents=True, exist_ok=True)
        self._watcher = Watcher(self.folder, self._soon)
        self._read()

    def stop(self) -> None:
        """Stop watching."""
        if self._watcher is not None:
            self._watcher.close()

    def _soon(self) -> None:
        # Editors write in several steps; one look after them is enough.
        if self._due is None:
            self._due = self._clock.call_later(0.1, self._read)

    def _read(self) -> None:
        from pybernetes.lib import rfc3339

        self._due = None
        texts: dict[Path, tuple[str, Fields | None]] = {}
        for path in sorted(self.folder.iterdir()):
            if path.name.startswith(".") or not path.is_file() or self._only not in ("", path.name):
                continue
            try:
                content = path.read_text()
            except OSError as error:
                log.warning("the static pod %s cannot be read: %s", path, error)
                continue
            known = self._texts.get(path)
            if known is not None and known[0] == content:
                texts[path] = known
                continue
            try:
                moment = rfc3339.micro(self._clock.now())
                texts[path] = (content, static_pod(content, path, self._node, moment))
            except ValueError as error:
                log.error("the static pod %s: %s", path, error)
                texts[path] = (content, None)
        self._texts = texts
        self.pods = {}
        names: set[tuple[str, str]] = set()
        for path, (_, pod) in texts.items():
            if pod is None:
                continue
            name = (pod["metadata"]["namespace"], pod["metadata"]["name"])
            if name in names:
                log.error("the static pod %s: another file has a pod of that name", path)
                continue
            names.add(name)
            self.pods[pod["metadata"]["uid"]] = pod
        self._changed(self.pods)


def mirror_of(pod: Fields, node: Fields) -> Fields:
    """Return the mirror pod of a static pod."""
    meta = pod["metadata"]
    copy = {
        "metadata": {
            "name": meta["name"],
            "namespace": meta["namespace"],
            "labels": meta.get("labels") or {},
            "annotations": {**meta["annotations"], MIRROR: meta["annotations"][HASH]},
        },
        "spec": pod["spec"],
    }
    if node.get("metadata", {}).get("uid"):
        owner = {"apiVersion": "v1", "kind": "Node", "name": node["metadata"]["name"],
                 "uid": node["metadata"]["uid"], "controller": True}  # fmt: skip
        copy["metadata"]["ownerReferences"] = [owner]
    return copy


def without_managed_fields(pod: Fields) -> Fields:
    """Drop the managed fields of a pod: they are as large as the rest of it, and the kubelet never reads them."""
    pod["metadata"].pop("managedFields", None)
    return pod


def is_mirror(pod: Fields) -> bool:
    """Return whether a pod of the API stands for a static one."""
    return MIRROR in (pod["metadata"].get("annotations") or {})
