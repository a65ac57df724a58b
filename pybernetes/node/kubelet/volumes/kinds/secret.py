"""secret: the keys of a secret as files, in memory only."""

from __future__ import annotations

from pybernetes.node.kubelet.volumes.base import Content, Item, Request, decode_mode
from pybernetes.node.kubelet.volumes.kinds import _content


async def _files(request: Request) -> dict[str, Item]:
    source = request.source
    return await _content.secret(request, source, source["secretName"], decode_mode(source))


VOLUME = Content("secret", _files, in_memory=True)
