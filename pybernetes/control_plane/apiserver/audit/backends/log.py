"""The backend that writes events into a file, a line for each, and begins another file when one is full."""

from __future__ import annotations

import asyncio
import gzip
import os
import shutil
import sys
import threading
import time
from abc import ABC, abstractmethod
from argparse import Namespace
from datetime import UTC, datetime
from pathlib import Path

from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.audit.backends import common
from pybernetes.control_plane.apiserver.audit.backends.common import STRICT, Base, Item, Options
from pybernetes.control_plane.apiserver.audit.event import Event
from pybernetes.lib.flags import Flag

NAME = "log"
FORMATS = ("legacy", "json")
FLAGS = (
    Flag("audit-log-path", "", "file that requests are noted in; - is the standard output"),
    Flag("audit-log-maxage", 366, "days after which old files are removed; 0 keeps them"),
    Flag("audit-log-maxbackup", 100, "how many old files stay; 0 keeps all"),
    Flag("audit-log-maxsize", 100, "megabytes after which another file is begun; 0 never does"),
    Flag("audit-log-format", "json", f"form of the lines: {', '.join(FORMATS)}"),
    Flag("audit-log-compress", False, "compress old files"),
    *common.flags(NAME, Options(common.BLOCKING)),
)
_DAY = 86400.0
_MOMENT = "%Y-%m-%dT%H-%M-%S"


def build(given: Namespace) -> Log | None:
    """Return the backend that the flags ask for; None if they do not."""
    if not given.audit_log_path:
        return None
    if given.audit_log_format not in FORMATS:
        raise ValueError(
            f'invalid audit log format {given.audit_log_format}, allowed formats are "{",".join(FORMATS)}"'
        )
    for name in ("maxage", "maxbackup", "maxsize"):
        value = getattr(given, f"audit_log_{name}")
        if value < 0:
            raise ValueError(f"--audit-log-{name} {value} can't be a negative number")
    place = given.audit_log_path
    output: Output = Standard()
    if place != "-":
        output = Files(
            Path(place), given.audit_log_maxsize << 20, given.audit_log_maxbackup, given.audit_log_maxage,
            compress=given.audit_log_compress,
        )  # fmt: skip
    return Log(output, common.options(NAME, given), legacy=given.audit_log_format == "legacy")


class Output(ABC):
    """Where lines go."""

    @abstractmethod
    def open(self) -> None:
        """Get ready; OSError if it cannot be done."""

    @abstractmethod
    def write(self, text: bytes) -> None:
        """Write lines; OSError if it cannot be done."""

    @abstractmethod
    def close(self) -> None:
        """Let go."""


class Standard(Output):
    """The standard output, which is open from the start and stays so."""

    def open(self) -> None:
        pass

    def write(self, text: bytes) -> None:
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()

    def close(self) -> None:
        pass


class Files(Output):
    """A file that only its owner may read, and those that were full."""

    def __init__(
        self, path: Path, most_bytes: int, most_files: int, most_days: int, *, compress: bool
    ) -> None:
        self._path, self._most_bytes = path, most_bytes
        self._most_files, self._most_days, self._compress = most_files, most_days, compress
        self._descriptor = -1
        self._size = 0
        self._tidying = threading.Lock()

    def open(self) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._descriptor = os.open(self._path, os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        self._size = os.fstat(self._descriptor).st_size

    def write(self, text: bytes) -> None:
        if self._most_bytes and self._size and self._size + len(text) > self._most_bytes:
            self._rotate()
        self._size += len(text)
        while text:
            text = text[os.write(self._descriptor, text) :]

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _rotate(self) -> None:
        moment = time.time_ns() // 1_000_000
        while (full := self._name(moment)).exists() or full.with_name(f"{full.name}.gz").exists():
            moment += 1
        self.close()
        self._path.rename(full)
        self.open()
        # Nobody waits for this: it is about files that are full already.
        asyncio.get_running_loop().run_in_executor(None, self.tidy)

    def _name(self, milliseconds: int) -> Path:
        moment = datetime.fromtimestamp(milliseconds // 1000, UTC).strftime(_MOMENT)
        return self._path.with_name(
            f"{self._path.stem}-{moment}.{milliseconds % 1000:03d}{self._path.suffix}"
        )

    def tidy(self) -> None:
        """Remove files that are too old or too many, and compress the others if asked to."""
        with self._tidying:
            self._tidy()

    def _tidy(self) -> None:
        begin, end = f"{self._path.stem}-", self._path.suffix
        old = sorted(
            path for path in self._path.parent.glob(f"{begin}*")
            if path.name.removesuffix(".gz").endswith(end) and _moment(path, begin, end) is not None
        )  # fmt: skip
        oldest = time.time() - self._most_days * _DAY
        for position, path in enumerate(reversed(old)):
            moment = _moment(path, begin, end) or 0.0
            if (self._most_files and position >= self._most_files) or (self._most_days and moment < oldest):
                path.unlink(missing_ok=True)
            elif self._compress and path.suffix != ".gz":
                _compress(path)


def _moment(path: Path, begin: str, end: str) -> float | None:
    """Return when a file was full, by its name."""
    text = path.name.removesuffix(".gz").removesuffix(end).removeprefix(begin)
    try:
        return datetime.strptime(text, f"{_MOMENT}.%f").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _compress(path: Path) -> None:
    packed = path.with_name(f"{path.name}.gz")
    descriptor = os.open(packed, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    with (
        path.open("rb") as source,
        os.fdopen(descriptor, "wb") as raw,
        gzip.GzipFile(fileobj=raw, mode="wb") as target,
    ):
        shutil.copyfileobj(source, target)
    path.unlink()


class Log(Base):
    """The backend."""

    name = NAME

    def __init__(self, output: Output, options: Options, *, legacy: bool = False) -> None:
        super().__init__(options)
        self._output, self._legacy = output, legacy

    async def start(self) -> None:
        """Open the file."""
        self._output.open()
        await super().start()

    async def close(self) -> None:
        """Write what waits."""
        await super().close()
        self._output.close()

    def send(self, item: Item) -> bool:
        """Write one event."""
        return self._write([item]) or self.options.mode != STRICT

    async def deliver(self, items: list[Item]) -> None:
        """Write a batch."""
        self._write(items)

    def _write(self, items: list[Item]) -> bool:
        lines = [legacy(event).encode() if self._legacy else line for event, line in items]
        try:
            self._output.write(b"\n".join(lines) + b"\n")
        except OSError as error:
            self.losses.add(len(items), error)
            return False
        return True


def legacy(event: Event) -> str:
    """Return an event as one line of text."""
    user, other = event.get("user") or {}, event.get("impersonatedUser")
    name = user.get("username") or "<none>"
    groups = _listed(user["groups"]) if user.get("username") and user.get("groups") else "<none>"
    as_user = other.get("username", "") if other is not None else "<self>"
    as_groups = _listed(other["groups"]) if other is not None and other.get("groups") else "<lookup>"
    status = event.get("responseStatus")
    fields = (
        ("id", event["auditID"]), ("stage", event["stage"]), ("ip", (event["sourceIPs"] or ["<unknown>"])[0]),
        ("method", event["verb"]), ("user", name), ("groups", groups), ("as", as_user), ("asgroups", as_groups),
        ("user-agent", event.get("userAgent", "")),
        ("namespace", event.get("objectRef", {}).get("namespace") or "<none>"), ("uri", event["requestURI"]),
    )  # fmt: skip
    text = " ".join(f"{key}={go_format.quote(value)}" for key, value in fields)
    response = status["code"] if status is not None else "<deferred>"
    return f'{event["requestReceivedTimestamp"]} AUDIT: {text} response="{response}"'


def _listed(values: list[str]) -> str:
    return ",".join(go_format.quote(value) for value in values)
