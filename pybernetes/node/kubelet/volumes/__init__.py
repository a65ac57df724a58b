"""Volumes of pods: ``kinds`` has one file for each type, ``manager`` puts them where containers find them."""

from pybernetes.node.kubelet.volumes.volume_manager import MountedVolume, VolumeError, VolumeManager

__all__ = ["MountedVolume", "VolumeError", "VolumeManager"]
