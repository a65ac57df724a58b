"""configMap: the keys of a config map as files."""

from __future__ import annotations

from pybernetes.node.kubelet.volumes.kinds import _content
from pybernetes.node.kubelet.volumes.volume_kind import ContentVolume, VolumeFile, VolumeRequest, default_mode


async def _files(request: VolumeRequest) -> dict[str, VolumeFile]:
    source = request.source
    return await _content.config_map(request, source, source["name"], default_mode(source))


VOLUME = ContentVolume("configMap", _files)
