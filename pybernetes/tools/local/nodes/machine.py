"""A machine of a local cluster: namespaces (mounts, its name, a network) in which programs run as on a host of their own.

It is two files that hold its namespaces, so nothing has to run for it to exist, and its programs may come and go. Its network
is made beside it (``network.py``). ``kill`` is what a power cut is: every process is gone at once, and with the namespaces
everything that was mounted; its folder is what is left on its disk.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from pybernetes.node.kubelet.volumes.host_mounts import MS_BIND, MS_PRIVATE, mount, unmount
from pybernetes.tools.local.nodes import machine_mounts

_NAMESPACES = ("uts", "mnt")  # the last one says that all of it is there
_KILL_SECONDS = 10.0


class Machine:
    """A machine with a name; ``root`` is its disk, ``run`` where its cluster keeps what need not survive a reboot."""

    def __init__(self, name: str, root: Path, run: Path, network: str = "", group: str = "") -> None:
        self.name, self.root, self.run = name, root, run
        self.network = network  # the name of its network namespace; empty for the host's own
        self.group = group  # the control group that its containers are in, below that of every hierarchy
        self._folder = run / "machines"
        self._files = {kind: self._folder / f"{name}.{kind}" for kind in _NAMESPACES}

    def command(self, *words: str) -> tuple[str, ...]:
        """Return the command line that runs a program inside."""
        # Not `ip netns exec`, which would hide the mounts of the cgroups.
        network = [f"--net=/run/netns/{self.network}"] if self.network else []
        own = (f"--uts={self._files['uts']}", f"--mount={self._files['mnt']}")
        return ("nsenter", *network, *own, "--", *words)

    @property
    def exists(self) -> bool:
        """Whether programs can run inside."""
        return os.path.ismount(self._files["mnt"])

    def own(self, path: str) -> Path:
        """Return where a folder of its own lies on the host."""
        return machine_mounts.tree(self.root, path)

    def create(self, shared: Mapping[str, Path], kept: Path, plugins: Path | None = None) -> None:
        """Make the machine if it does not exist; the arguments are those of ``machine_mounts.become``."""
        if self.exists:
            return
        self.root.mkdir(parents=True, exist_ok=True, mode=0o711)
        self._make_folder()
        made, kept_long_enough = threading.Event(), threading.Event()
        problem: list[BaseException] = []
        thread = 0

        def live() -> None:
            nonlocal thread
            thread = threading.get_native_id()
            try:
                machine_mounts.become(self.root, self.name, shared, plugins, kept)
            except BaseException as error:
                problem.append(error)
            made.set()
            kept_long_enough.wait()

        worker = threading.Thread(target=live, daemon=True)
        worker.start()
        made.wait()
        try:
            if problem:
                raise problem[0]
            for kind, file in self._files.items():
                unmount(file)
                file.touch(mode=0o600)
                mount(f"/proc/self/task/{thread}/ns/{kind}", file, "", MS_BIND)
        finally:
            kept_long_enough.set()
            worker.join()

    def _make_folder(self) -> None:
        """Make the folder of the namespaces' files, which the kernel wants on a mount that nobody shares."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not _is_mounted(self._folder):
            mount(str(self._folder), self._folder, "", MS_BIND)
            mount("", self._folder, "", MS_PRIVATE)

    def processes(self) -> set[int]:
        """Return what runs inside: programs in its namespace, all that they started, and its containers."""
        parents: dict[int, int] = {}
        inside = _in_group(self.group) if self.group else set()
        own = _identity(self._files["mnt"]) if self.exists else None
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError, ValueError, IndexError):
                state, parent = (process / "stat").read_text().rpartition(")")[2].split()[:2]
                if state in "ZX":
                    continue
                parents[int(process.name)] = int(parent)
                if own is not None and _identity(process / "ns" / "mnt") == own:
                    inside.add(int(process.name))
        return with_descendants(inside & parents.keys(), parents)

    def kill(self) -> None:
        """End everything that runs inside, at once and without a word."""
        deadline = time.monotonic() + _KILL_SECONDS
        while running := self.processes():
            _signal(running, signal.SIGSTOP)  # so that nothing sees the end of something else
            _signal(running, signal.SIGKILL)
            if time.monotonic() > deadline:
                raise OSError(f"processes of {self.name} cannot be ended: {sorted(running)}")
            time.sleep(0.005)

    def pause(self) -> None:
        """Freeze everything that runs inside."""
        held: set[int] = set()
        while new := self.processes() - held:
            _signal(new, signal.SIGSTOP)
            held |= new

    def resume(self) -> None:
        """Let everything go on."""
        _signal(self.processes(), signal.SIGCONT)

    def delete(self) -> None:
        """End everything and let go of the namespaces; the disk stays."""
        self.kill()
        for file in self._files.values():
            unmount(file)
            file.unlink(missing_ok=True)
        if self._folder.is_dir() and not any(self._folder.iterdir()):
            unmount(self._folder)
            self._folder.rmdir()


def with_descendants(pids: Iterable[int], parents: Mapping[int, int]) -> set[int]:
    """Return processes with all that they started, directly or not; ``parents`` has the parent of each process."""
    children: dict[int, list[int]] = {}
    for pid, parent in parents.items():
        children.setdefault(parent, []).append(pid)
    result: set[int] = set()
    left = list(pids)
    while left:
        pid = left.pop()
        if pid not in result:
            result.add(pid)
            left += children.get(pid, ())
    return result


def _in_group(group: str) -> set[int]:
    """Return the processes in a control group, in whatever hierarchy, and below it."""
    top = Path("/sys/fs/cgroup")
    pids: set[int] = set()
    for hierarchy in (top, *top.iterdir()):
        for folder, _, _ in os.walk(hierarchy / group):
            with contextlib.suppress(OSError):
                pids.update(map(int, Path(folder, "cgroup.procs").read_text().split()))
    return pids


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino


def _is_mounted(folder: Path) -> bool:
    from pybernetes.lib.kernel import mountinfo

    return str(folder) in mountinfo.points_below(str(folder.parent))


def _signal(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
