"""What can be wrong with the definition of a container."""

from __future__ import annotations


class ConfigError(Exception):
    """A container cannot be created from its definition: CreateContainerConfigError."""
