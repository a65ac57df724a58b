"""Static pods of a web server: one pod, or a list of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from pybernetes.api.resource import Object
from pybernetes.lib import rfc3339
from pybernetes.lib.clock import Clock
from pybernetes.lib.http.client import HttpClient, RequestFailed
from pybernetes.lib.http.fetching import fetch
from pybernetes.node.kubelet.pod_sources.static_pod import parse_static_pod

log = logging.getLogger(__name__)
_SECONDS = 10.0
_LIMIT = 10 << 20


class StaticPodUrl:
    """The pods of a URL, by uid; ``changed`` is called with them when they change."""

    def __init__(
        self, url: str, headers: Mapping[str, list[str]], node: str, clock: Clock,
        changed: Callable[[dict[str, Object]], None],
    ) -> None:  # fmt: skip
        self._url, self._headers, self._node, self._clock = url, headers, node, clock
        self._changed, self._last = changed, b""

    async def run(self, seconds: float) -> None:
        """Fetch the pods from time to time until cancelled; a web server does not announce changes."""
        while True:
            try:
                await self._refresh()
            except (RequestFailed, OSError, ValueError) as error:
                log.warning("the static pods of %s: %s", self._url, error)
            await self._clock.sleep(seconds)

    async def _refresh(self) -> None:
        data = await self._fetch()
        if not data:
            raise ValueError("zero-length data received")
        if data != self._last:
            self._changed(self.parse(data))
            self._last = data

    async def _fetch(self) -> bytes:
        client = HttpClient(most_bytes=_LIMIT)
        headers = {name: ", ".join(values) for name, values in self._headers.items()}
        try:
            reply = await fetch(client, self._url, headers, _SECONDS)
        finally:
            client.close()
        if reply.status != 200:
            raise ValueError(f"{self._url}: {reply.status}")
        return reply.body

    def parse(self, data: bytes) -> dict[str, Object]:
        """Return the pods of an answer."""
        import yaml

        value = yaml.safe_load(data)
        if not isinstance(value, dict):
            raise ValueError("couldn't parse as pod")
        items = value.get("items") or () if value.get("kind") == "PodList" else (value,)
        now, pods = rfc3339.micro(self._clock.now()), {}
        for item in items:
            text = yaml.safe_dump({"kind": "Pod", "apiVersion": "v1", **item})
            pod = parse_static_pod(text, self._url, self._node, now, "http")
            pods[pod["metadata"]["uid"]] = pod
        return pods
