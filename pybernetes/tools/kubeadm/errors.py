"""What ends a command, told in one line."""

from __future__ import annotations


class KubeadmError(Exception):
    """Something does not work; the text says what, in upstream's words where it has some."""
