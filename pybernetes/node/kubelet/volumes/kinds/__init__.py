"""One file for each type of volume, with a ``VOLUME``."""
