"""One file for each kind of volume, with a ``VOLUME``."""
