"""Static pods of the files of a folder, or of one file."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.lib import rfc3339
from pybernetes.lib.clock import Clock, Timer
from pybernetes.lib.files.regular import open_regular_path
from pybernetes.lib.kernel.inotify import FolderWatcher
from pybernetes.node.kubelet.pod_sources.static_pod import parse_static_pod

log = logging.getLogger(__name__)
_LONGEST = 10 << 20  # of a file, in bytes


class StaticPodDirectory:
    """The pods of the files of a folder, or of one file, by uid; ``changed`` is called with them when they change."""

    def __init__(
        self, folder: Path, node: str, clock: Clock, changed: Callable[[dict[str, Object]], None],
        seconds: float = 20.0,
    ) -> None:  # fmt: skip
        self.folder, self._node, self._clock, self._changed = folder, node, clock, changed
        self._seconds = seconds  # between two looks at what the kernel does not tell of: files behind links
        self._only = ""
        self._watcher: FolderWatcher | None = None
        self._timer: Timer | None = None
        self._look_timer: Timer | None = None
        self.pods: dict[str, Object] = {}
        self._texts: dict[Path, tuple[str, Object | None]] = {}

    def start(self) -> None:
        """Read the files now and whenever they change."""
        if self.folder.is_file():  # its folder is watched: editors replace files
            self.folder, self._only = self.folder.parent, self.folder.name
        self.folder.mkdir(parents=True, exist_ok=True)
        self._watcher = FolderWatcher(self.folder, self._soon)
        self._read()
        self._look_timer = self._clock.call_later(self._seconds, self._look)

    def stop(self) -> None:
        """Stop watching."""
        if self._look_timer is not None:
            self._look_timer.cancel()
        if self._watcher is not None:
            self._watcher.close()

    def _soon(self) -> None:
        # Editors write in several steps; reading once after them is enough.
        if self._timer is None:
            self._timer = self._clock.call_later(0.1, self._read)

    def _look(self) -> None:
        self._look_timer = self._clock.call_later(self._seconds, self._look)
        self._read(unless_same=True)

    def _read(self, *, unless_same: bool = False) -> None:
        self._timer = None
        texts: dict[Path, tuple[str, Object | None]] = {}
        for path in sorted(self.folder.iterdir()):
            if path.name.startswith(".") or self._only not in ("", path.name):
                continue
            try:
                content = _content(path)
            except IsADirectoryError:
                continue
            except (OSError, ValueError) as error:
                log.warning("the static pod %s cannot be read: %s", path, error)
                continue
            known = self._texts.get(path)
            if known is not None and known[0] == content:
                texts[path] = known
                continue
            try:
                moment = rfc3339.micro(self._clock.now())
                texts[path] = (content, parse_static_pod(content, path, self._node, moment))
            except ValueError as error:
                log.error("the static pod %s: %s", path, error)
                texts[path] = (content, None)
        if unless_same and texts == self._texts:
            return
        self._texts = texts
        self.pods = {}
        names: set[tuple[str, str]] = set()
        for path, (_, pod) in texts.items():
            if pod is None:
                continue
            name = (pod["metadata"]["namespace"], pod["metadata"]["name"])
            if name in names:
                log.error("the static pod %s: another file has a pod of that name", path)
                continue
            names.add(name)
            self.pods[pod["metadata"]["uid"]] = pod
        self._changed(self.pods)


def _content(path: Path) -> str:
    """Return the text of a file; raise OSError if it is none, and ValueError if it is too long."""
    real = path.resolve()  # administrators keep links there
    if real.is_dir():
        raise IsADirectoryError(path)
    with open_regular_path(real) as file:
        data = file.read(_LONGEST + 1)
    if len(data) > _LONGEST:
        raise ValueError(f"it is longer than {_LONGEST} bytes")
    return data.decode()
