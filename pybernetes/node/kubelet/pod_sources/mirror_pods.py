"""Shows static pods in the API: a mirror for each, made anew when somebody deletes it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from pybernetes.client import AlreadyExists, Client, NotFound, StatusError
from pybernetes.client.refs import PODS
from pybernetes.lib.clock import Clock
from pybernetes.node.kubelet.pod_sources import static_pod
from pybernetes.runtime.informer import Informer

log = logging.getLogger(__name__)
Fields = dict[str, Any]
_FIRST_SECONDS, _LONGEST_SECONDS = 0.2, 10.0


async def show(
    client: Client,
    pods: Informer,
    clock: Clock,
    pod: Fields,
    wanted: Callable[[str], Fields | None],
    node: Callable[[], Fields],
) -> None:
    """Make the mirror of a static pod match what is ``wanted`` under its key, or remove it if nothing is."""
    meta = pod["metadata"]
    key = f"{meta['namespace']}/{meta['name']}"
    await pods.wait_synced()
    delay = _FIRST_SECONDS
    while True:
        definition, shown = wanted(key), pods.get(key)
        try:
            if shown is not None and static_pod.is_mirror(shown):
                if definition is not None and _is_mirror_of(shown, definition):
                    return
                await client.delete(
                    PODS, meta["name"], meta["namespace"], uid=shown["metadata"]["uid"], grace=0
                )
            if definition is not None:
                await client.create(PODS, static_pod.mirror_of(definition, node()), meta["namespace"])
            return
        except (NotFound, AlreadyExists):
            if definition is None:
                return
        except (StatusError, OSError) as error:
            log.warning("the mirror of the static pod %s: %s", meta["name"], error)
        await clock.sleep(delay)
        delay = min(_LONGEST_SECONDS, delay * 2)


def _is_mirror_of(shown: Fields, pod: Fields) -> bool:
    meta = shown["metadata"]
    return meta["annotations"][static_pod.MIRROR] == pod["metadata"]["uid"] and not meta.get(
        "deletionTimestamp"
    )
