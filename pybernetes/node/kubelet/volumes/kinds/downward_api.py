"""downwardAPI: fields and resources of the pod as files."""

from __future__ import annotations

from pybernetes.node.kubelet.volumes.kinds import _content
from pybernetes.node.kubelet.volumes.volume_kind import ContentVolume, VolumeFile, VolumeRequest, default_mode


async def _files(request: VolumeRequest) -> dict[str, VolumeFile]:
    return _content.downward(request, request.source, default_mode(request.source))


VOLUME = ContentVolume("downwardAPI", _files, in_memory=True)
