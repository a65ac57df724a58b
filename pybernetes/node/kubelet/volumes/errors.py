"""Errors of volumes."""

from __future__ import annotations

MOUNT_FAILED = "ImageVolumeMountFailed"  # how such errors begin in CRI


class VolumeError(Exception):
    """A volume is not available now; ``reason`` is that of the event about it."""

    def __init__(self, message: str, reason: str = "FailedMount") -> None:
        super().__init__(message)
        self.reason, self.message = reason, message


class ImageVolumeError(Exception):
    """An image is present but cannot be mounted."""

    def __init__(self, message: str) -> None:
        super().__init__(f"{MOUNT_FAILED}: {message}")
