"""configMap: the keys of a config map as files."""

from __future__ import annotations

from pybernetes.node.kubelet.volumes.base import Content, Item, Request, decode_mode
from pybernetes.node.kubelet.volumes.kinds import _content


async def _files(request: Request) -> dict[str, Item]:
    source = request.source
    return await _content.config_map(request, source, source["name"], decode_mode(source))


VOLUME = Content("configMap", _files)
