"""secret: the keys of a secret as files, in memory only."""

from __future__ import annotations

from pybernetes.node.kubelet.volumes.kinds import _content
from pybernetes.node.kubelet.volumes.volume_kind import ContentVolume, VolumeFile, VolumeRequest, default_mode


async def _files(request: VolumeRequest) -> dict[str, VolumeFile]:
    source = request.source
    return await _content.secret(request, source, source["secretName"], default_mode(source))


VOLUME = ContentVolume("secret", _files, in_memory=True)
