"""Volumes of pods: ``kinds`` has one file for each kind, ``volume_manager`` mounts them."""
