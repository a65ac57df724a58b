"""Labels and annotations (upstream's) by which a restarted kubelet recognizes its containers."""

from __future__ import annotations

import hashlib

import orjson

from pybernetes.api.resource import Object

POD_NAME = "io.kubernetes.pod.name"
POD_NAMESPACE = "io.kubernetes.pod.namespace"
POD_UID = "io.kubernetes.pod.uid"
CONTAINER_NAME = "io.kubernetes.container.name"
HASH = "io.kubernetes.container.hash"
RESTART_COUNT = "io.kubernetes.container.restartCount"
MESSAGE_PATH = "io.kubernetes.container.terminationMessagePath"
MESSAGE_POLICY = "io.kubernetes.container.terminationMessagePolicy"
PRE_STOP = "io.kubernetes.container.preStopHandler"
PORTS = "io.kubernetes.container.ports"
TERMINATION_GRACE = "io.kubernetes.pod.terminationGracePeriod"
# Our own: the images that a container has as volumes, which must not be removed.
IMAGE_VOLUMES = "pybernetes.dev/image-volumes"


def fingerprint(container: Object) -> str:
    """Return a short hash that changes when a container has to be created anew: only name and image count."""
    value = orjson.dumps([container.get("name"), container.get("image")])
    return hashlib.sha256(value).hexdigest()[:8]
