"""Volumes of pods: ``kinds`` has one file for each type, ``volume_manager`` puts them where containers find them."""
