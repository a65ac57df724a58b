"""User namespaces of pods with ``hostUsers: false``: each gets a range of the node's users that no other pod has.

A pod's range is kept in its folder, as upstream keeps it, so that a restarted kubelet gives it to nobody else.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from cri_api.v1 import api_pb2 as messages

from pybernetes.node.kubelet.containers.errors import ConfigError
from pybernetes.node.kubelet.cri.messages import Message

UNIT = 65536
_ALL = 2**32
_FILE = "userns"


class UserNamespaces:
    """The ranges of a node's pods. ``directory`` has a folder for each pod, by its uid."""

    def __init__(self, directory: Path, ids_per_pod: int = UNIT) -> None:
        self._directory, self._length = directory, ids_per_pod
        self._first: dict[str, int] = {}  # by uid of the pod
        if directory.is_dir():
            for uid in sorted(os.listdir(directory)):
                self._recall(uid)

    def of(self, uid: str) -> Message:
        """Return the user namespace of a pod, a new one if it has none yet; raise ConfigError if none is left."""
        first = self._recall(uid)
        if first is None:
            first = self._allocate()
            self._write(uid, first)
            self._first[uid] = first
        mapping = messages.IDMapping(container_id=0, host_id=first, length=self._length)
        return messages.UserNamespace(mode=messages.POD, uids=[mapping], gids=[mapping])

    def _allocate(self) -> int:
        # A pod is gone for good with its folder.
        self._first = {uid: first for uid, first in self._first.items() if (self._directory / uid).exists()}
        taken = set(self._first.values())
        # The first range is the node's own users: root of no pod is root of the node.
        for first in range(self._length, _ALL - self._length + 1, self._length):
            if first not in taken:
                return first
        raise ConfigError("create user namespace: could not find an empty slot to allocate a user namespace")

    def _recall(self, uid: str) -> int | None:
        """Return the range that a pod has, by its file if it has one."""
        if uid in self._first:
            return self._first[uid]
        try:
            first = _parse((self._directory / uid / _FILE).read_bytes(), self._length)
        except (FileNotFoundError, NotADirectoryError):
            return None
        if first in self._first.values():
            raise ConfigError(f'user namespace: range picked for pod "{uid}" already taken')
        self._first[uid] = first
        return first

    def _write(self, uid: str, first: int) -> None:
        folder = self._directory / uid
        mapping = [{"hostId": first, "containerId": 0, "length": self._length}]
        temporary = folder / f"{_FILE}.new"
        with temporary.open("wb") as file:
            file.write(json.dumps({"uidMappings": mapping, "gidMappings": mapping}).encode())
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, folder / _FILE)


def _parse(text: bytes, length: int) -> int:
    """Return the first user of a range; raise ConfigError if it is not one that we write."""
    try:
        value: Any = json.loads(text)
        (uids,), (gids,) = value["uidMappings"], value["gidMappings"]
        first = int(uids["hostId"])
        known = {"hostId": first, "containerId": 0, "length": length}
        if uids != known or gids != known or first % length or not length <= first <= _ALL - length:
            raise ValueError(value)
        return first
    except (ValueError, KeyError, TypeError):
        raise ConfigError("user namespace: invalid user namespace mappings file") from None
