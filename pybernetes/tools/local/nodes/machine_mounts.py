"""What a machine of a local cluster has mounted: the host's tree, with folders of its own in it.

Changes below /etc, /opt, /usr/libexec, /var/lib and /var/log are the machine's alone (an overlay, whose upper layer is kept
with the machine), and so are the folders of ``OWN``, which lie there plainly: a container runtime, volumes and etcd need that.
/run begins empty as on every machine that starts, but for what the host has there. Nothing that is mounted in a machine is
seen on the host; what the host mounts is seen in the machine.

Everything here works on the calling thread, which leaves the host's mounts for good.
"""

from __future__ import annotations

import ctypes
import os
import stat
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pybernetes.lib.kernel import mountinfo
from pybernetes.node.kubelet.volumes.host_mounts import (
    MS_BIND,
    MS_NODEV,
    MS_NOSUID,
    MS_REC,
    MS_SHARED,
    MS_SLAVE,
    mount,
    unmount,
)

LAYERED = ("/etc", "/opt", "/usr/libexec", "/var/lib", "/var/log")
# Each with its mode.
OWN = {
    "/etc/cni/net.d": 0o755,
    "/etc/kubernetes": 0o755,
    "/var/lib/cni": 0o755,
    "/var/lib/containerd": 0o711,
    "/var/lib/etcd": 0o700,
    "/var/lib/kubelet": 0o711,
    "/var/log/containers": 0o755,
    "/var/log/pods": 0o711,
}
PLUGINS = "/opt/cni/bin"
_RUN = "/run"
_CLONE_NEWNS, _CLONE_NEWUTS = 0x20000, 0x4000000
_LIBC = ctypes.CDLL(None, use_errno=True)


def tree(root: Path, path: str) -> Path:
    """Return where a folder of a machine's own lies on the host."""
    return root / "tree" / path.lstrip("/")


def become(root: Path, hostname: str, run: Mapping[str, Path], plugins: Path | None, kept: Path) -> None:
    """Give the calling thread the mounts and the name of a machine whose files are in a folder.

    ``run`` are folders of the host that the machine has below /run, ``plugins`` those that are in /opt/cni/bin at first;
    ``kept`` is a folder that stays the host's, wherever it lies.
    """
    if _LIBC.unshare(_CLONE_NEWNS | _CLONE_NEWUTS):
        code = ctypes.get_errno()
        raise OSError(code, f"a mount namespace for {hostname}: {os.strerror(code)}")
    mount("", "/", "", MS_SLAVE | MS_REC)
    listed = mountinfo.parse(Path("/proc/thread-self/mountinfo").read_bytes())
    points = {mount.point for mount in listed}
    # What holds other machines: it would outlive them here.
    others = {point for point in points if point.startswith("/run/pybernetes/")}
    for point in sorted(others, reverse=True):
        unmount(point)
    points -= others
    number = _number(root / "machine-id")
    for name in (
        "tree",
        "layers",
    ):  # whatever modes files in the machine have, on the host they are their owner's alone
        (root / name).mkdir(exist_ok=True)
        (root / name).chmod(0o700)
    with _Places() as places:
        own = {path: places.make(tree(root, path), mode) for path, mode in OWN.items()}
        own |= {path: places.open(folder) for path, folder in run.items()}
        etc = places.open(Path("/etc"))
        for path in LAYERED:
            _cover(places, path, root / "layers" / path.strip("/").replace("/", "-"), [*points, str(kept)])
        _replace_run(places)
        for path, source in own.items():
            os.makedirs(path, exist_ok=True)
            mount(source, path, "", MS_BIND)
        os.makedirs(PLUGINS, exist_ok=True)
        if plugins is not None:
            _overlay(places, plugins, PLUGINS, root / "layers" / "cni-plugins")
        _boot()
        if "/etc/resolv.conf" not in points:
            _follow_name_servers(etc)
    _name(hostname, number)
    mount("", "/", "", MS_SHARED | MS_REC)  # among the machine and its containers


class _Places:
    """Folders by descriptors: they stay what they are when something is mounted above them."""

    def __init__(self) -> None:
        self._descriptors: list[int] = []

    def __enter__(self) -> _Places:
        return self

    def __exit__(self, *error: object) -> None:
        for descriptor in self._descriptors:
            os.close(descriptor)

    def open(self, path: Path) -> str:
        """Return a name of what is at a path now."""
        self._descriptors.append(os.open(path, os.O_PATH))
        return f"/proc/self/fd/{self._descriptors[-1]}"

    def make(self, path: Path, mode: int) -> str:
        """Return a name of a folder, which is made if it is missing."""
        if not path.is_dir():
            path.mkdir(parents=True)
            path.chmod(mode)
        return self.open(path)


def _overlay(places: _Places, lower: Path, target: str, layer: Path) -> None:
    """Mount a folder with what the machine changed in it; by descriptors, as names may have what separates options."""
    upper, work = layer / "upper", layer / "work"
    if not upper.exists():
        status = lower.stat()
        work.mkdir(parents=True, exist_ok=True, mode=0o700)
        upper.mkdir()
        os.chown(upper, status.st_uid, status.st_gid)
        upper.chmod(stat.S_IMODE(status.st_mode))
    names = (places.open(path) for path in (lower, upper, work))
    mount("overlay", target, "overlay", 0, "lowerdir={},upperdir={},workdir={}".format(*names))


def _cover(places: _Places, path: str, layer: Path, shown: Iterable[str]) -> None:
    """Cover a folder of the host with the machine's; what is mounted below it, or kept, shows through."""
    os.makedirs(path, exist_ok=True)
    below = [(point, places.open(Path(point))) for point in _outermost(path, shown)]
    _overlay(places, Path(path), path, layer)
    for point, source in below:
        mount(source, point, "", MS_BIND | MS_REC)


def _outermost(path: str, points: Iterable[str]) -> Iterator[str]:
    """Yield the points below a path that are below no other of them."""
    last = ""
    for point in sorted(
        {point for point in points if point.startswith(f"{path}/")}, key=lambda name: name.split("/")
    ):
        if not last or not f"{point}/".startswith(f"{last}/"):
            last = point
            yield point


def _replace_run(places: _Places) -> None:
    """Mount a new /run in which what the host has there shows through."""
    before = places.open(Path(_RUN))
    entries = list(os.scandir(before))
    mount("tmpfs", _RUN, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755")
    for entry in entries:
        place = f"{_RUN}/{entry.name}"
        if entry.is_symlink():
            os.symlink(os.readlink(entry.path), place)
            continue
        if entry.is_dir(follow_symlinks=False):
            os.mkdir(place)
        else:
            os.close(os.open(place, os.O_CREAT | os.O_WRONLY, 0o600))
        mount(f"{before}/{entry.name}", place, "", MS_BIND | MS_REC)


def _follow_name_servers(etc: str) -> None:
    """Let the machine see which name servers the host has at any time: a covered folder would show those of before."""
    os.makedirs("/run/host/etc")
    mount(etc, "/run/host/etc", "", MS_BIND)
    theirs, ours = Path("/run/host/etc/resolv.conf"), Path("/etc/resolv.conf")
    if theirs.is_symlink() or not theirs.exists() or ours.is_symlink():
        return  # a link leads to a file that is not covered
    with _replacing(ours) as new:
        new.symlink_to(theirs)


def _boot() -> None:
    """Give this start of the machine a number of its own, by which kubelets notice that it was off."""
    own = Path("/run/boot-id")
    own.write_text(f"{uuid.uuid4()}\n")
    own.chmod(0o444)
    mount(str(own), "/proc/sys/kernel/random/boot_id", "", MS_BIND)


def _name(hostname: str, number: str) -> None:
    """Give the machine its name and its number."""
    data = hostname.encode()
    if _LIBC.sethostname(data, len(data)):
        raise OSError(ctypes.get_errno(), f"the name {hostname} is refused")
    with _replacing(Path("/etc/hostname")) as new:
        new.write_text(f"{hostname}\n")
    with _replacing(Path("/etc/machine-id")) as new:
        new.write_text(number)


def _number(file: Path) -> str:
    """Return what tells the machine from all others, for as long as it exists."""
    if not file.exists():
        file.write_text(f"{uuid.uuid4().hex}\n")
    return file.read_text()


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """Yield a file that takes the place of another; one that is mounted there, as in a container, goes out of the way."""
    unmount(path)
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    yield new
    os.replace(new, path)
