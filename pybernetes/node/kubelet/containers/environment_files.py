"""Variables that an earlier container of a pod left in files of a volume: ``NAME=value`` on each line."""

from __future__ import annotations

from collections.abc import Mapping

from pybernetes.api.resource import Object
from pybernetes.lib.files.regular import read_below
from pybernetes.node.kubelet.containers.errors import ConfigError
from pybernetes.node.kubelet.containers.expansion import Room


class EnvironmentFiles:
    """The files that the variables of one container come from. ``volumes`` are paths on the host by name.

    A file is read once, however many variables name it, and counts like what they may have.
    """

    def __init__(self, volumes: Mapping[str, str], room: Room) -> None:
        self._volumes, self._room = volumes, room
        self._files: dict[tuple[str, str], dict[str, str]] = {}

    def value(self, reference: Object) -> str | None:
        """Return the variable that a ``fileKeyRef`` names; None if it is not there and need not be."""
        name, path, key = reference["volumeName"], reference["path"], reference["key"]
        volume = self._volumes.get(name)
        if volume is None:
            raise ConfigError(f'cannot find the volume "{name}" referenced by FileKeyRef')
        if (name, path) not in self._files:
            self._files[name, path] = self._read(volume, path)
        value = self._files[name, path].get(key)
        if value is None and not reference.get("optional"):
            raise ConfigError(f'environment variable key "{key}" not found in file "{path}"')
        return value

    def _read(self, volume: str, path: str) -> dict[str, str]:
        self._room.take(path)
        try:
            text = read_below(volume, path)
        except OSError:
            return {}
        self._room.take(text)
        variables: dict[str, str] = {}
        for line in text.splitlines():
            name, separator, value = line.strip().partition("=")
            if separator:
                variables.setdefault(name.removeprefix("export ").strip(), value.strip().strip("'\""))
        return variables
