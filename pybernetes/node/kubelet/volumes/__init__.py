"""Volumes of pods: ``kinds`` has one file for each type, ``manager`` puts them where containers find them."""

from pybernetes.node.kubelet.volumes.manager import Mounted, VolumeError, Volumes

__all__ = ["Mounted", "VolumeError", "Volumes"]
