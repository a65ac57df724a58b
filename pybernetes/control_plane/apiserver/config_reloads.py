"""Configuration files that are taken over when they change: what is counted of it, and how it is done.

A file that cannot be used is told and counted, and what was in use before stays.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from pybernetes.lib.files.file_follower import FileFollower
from pybernetes.lib.files.regular import read_whole
from pybernetes.lib.metrics.exposition import Exposition

log = logging.getLogger(__name__)


def hashed(text: str) -> str:
    """Return a text as metrics show it: it may be long, and nobody else's business."""
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}" if text else ""


class ConfigReloads:
    """How often a file was taken over and how often not, under upstream's names: ``subject`` is "encryption" and the like."""

    def __init__(self, subject: str, server: str = "", clock: Callable[[], float] = time.time) -> None:
        self.subject, self.server, self.clock = subject, server, clock
        self.config_hash = ""
        self.counts: dict[str, tuple[int, float]] = {}

    def add(self, status: str) -> None:
        """Count a success or a failure."""
        self.counts[status] = (self.counts.get(status, (0, 0.0))[0] + 1, self.clock())

    def render(self, out: Exposition) -> None:
        """Write the metrics."""
        server = ("apiserver_id_hash", hashed(self.server))
        begin = f"apiserver_{self.subject}_config_controller_"
        name = f"{begin}automatic_reloads_total"
        out.family(
            name,
            "counter",
            f"Total number of automatic reloads of {self.subject} configuration split by status and apiserver identity.",
        )
        for status, (count, _) in self.counts.items():
            out.sample(name, [server, ("status", status)], count)
        name = f"{begin}automatic_reload_last_timestamp_seconds"
        out.family(
            name,
            "gauge",
            f"Timestamp of the last automatic reload of {self.subject} configuration split by status and apiserver identity.",
        )
        for status, (_, moment) in self.counts.items():
            out.sample(name, [server, ("status", status)], moment)
        name = f"{begin}last_config_info"
        out.family(
            name,
            "gauge",
            f"Information about the last applied {self.subject} configuration with hash as label, split by apiserver identity.",
        )
        if self.config_hash:
            out.sample(name, [server, ("hash", self.config_hash)], 1)


class ConfigFile:
    """A file that is followed. ``take`` reads it and takes it over, and raises ValueError if it cannot be used."""

    def __init__(self, path: str, take: Callable[[], Awaitable[None]], reloads: ConfigReloads) -> None:
        self.reloads, self._path, self._take = reloads, Path(path), take
        self._follower = FileFollower(self._path, self.refresh)

    def start(self) -> None:
        """Begin to follow."""
        self._follower.start()

    async def close(self) -> None:
        """Stop following."""
        await self._follower.close()

    async def refresh(self) -> None:
        """Take over the file if it has changed."""
        try:
            digest = content_hash(read_whole(self._path))
            if digest == self.reloads.config_hash:
                return
            await self._take()
        except (OSError, ValueError) as error:
            self.reloads.add("failure")
            log.error("the %s configuration stays as it was: %s: %s", self.reloads.subject, self._path, error)
            return
        except Exception:  # an error of ours; the next change is looked at all the same
            self.reloads.add("failure")
            log.exception("the %s configuration stays as it was: %s", self.reloads.subject, self._path)
            return
        self.reloads.config_hash = digest
        self.reloads.add("success")
        log.info("the %s configuration %s has been taken over", self.reloads.subject, self._path)


def content_hash(raw: bytes) -> str:
    """Return the hash of a file's content as metrics show it."""
    return f"sha256:{hashlib.sha256(raw).hexdigest()}"
