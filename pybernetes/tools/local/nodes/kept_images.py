"""The archives of images that were brought into a cluster, kept for nodes that come later."""

from __future__ import annotations

import contextlib
import fcntl
import json
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pybernetes.lib.tls import tls
from pybernetes.tools.local.paths import Cluster


class KeptImages:
    """Archives by number, the newest last, and which of them has an image of a name. Used while ``locked``."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._index = folder, folder / "index.json"
        fields: dict[str, Any] = (
            json.loads(self._index.read_text()) if self._index.exists() else {"last": 0, "images": {}}
        )
        self.last: int = fields["last"]
        self.images: dict[str, int] = fields["images"]

    def path(self, number: int) -> Path:
        """Return the file of an archive."""
        return self._folder / f"{number}.tar"

    def copy(self, archive: Path) -> Path:
        """Return a copy of an archive, which is the next one if it is kept."""
        copied = self.path(self.last + 1)
        shutil.copyfile(archive, copied)
        return copied

    def keep(self, names: Iterable[str]) -> int:
        """Note that images of these names are in the archive that was copied last, and return its number."""
        self.last += 1
        self.images.update(dict.fromkeys(names, self.last))
        self._save()
        return self.last

    def forget(self, name: str) -> None:
        """Note that an image is no longer wanted."""
        self.images.pop(name, None)
        self._save()

    def newer_than(self, number: int) -> list[int]:
        """Return the archives that a node lacks which has those up to a number."""
        return sorted(wanted for wanted in set(self.images.values()) if wanted > number)

    def _save(self) -> None:
        content = json.dumps({"last": self.last, "images": self.images}).encode()
        tls.write_atomically(self._index, content, 0o600)
        wanted = {self.path(number) for number in self.images.values()}
        for archive in set(self._folder.glob("*.tar")) - wanted:
            archive.unlink()


@contextlib.contextmanager
def locked(cluster: Cluster) -> Iterator[KeptImages]:
    """Exclude others who bring images into a cluster, or into a node that starts; wait for them."""
    cluster.images.mkdir(mode=0o700, exist_ok=True)
    with (cluster.images / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield KeptImages(cluster.images)
