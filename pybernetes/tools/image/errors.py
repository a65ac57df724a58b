"""What can go wrong with an image, for people."""

from __future__ import annotations


class ImageError(Exception):
    """An image cannot be made or pushed; the text says why and what to do."""
