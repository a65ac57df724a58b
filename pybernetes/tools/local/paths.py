"""Where a local cluster keeps its files: all below one folder."""

from __future__ import annotations

import os
import re
from pathlib import Path

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?\Z")
DEFAULT = "pybernetes"


class ClusterError(Exception):
    """Something about a cluster went wrong; the text says what and what to do."""


class NoSuchCluster(ClusterError):
    """There is no cluster of that name."""


def home() -> Path:
    """Return the folder of all local clusters."""
    folder = os.environ.get("PYBERNETES_HOME")
    return Path(folder).absolute() if folder else Path.home() / ".pybernetes"


class Cluster:
    """One local cluster: its name and the paths of its files."""

    def __init__(self, name: str = DEFAULT, root: Path | None = None) -> None:
        if not _NAME.match(name):
            raise ValueError(f"{name!r} is no name for a cluster: use lower case letters, digits and dashes")
        self.name = name
        self.root = (root or home()) / "clusters" / name

    @property
    def exists(self) -> bool:
        """Whether there is such a cluster; one whose folder somebody removed still has its name on the machine."""
        return self.root.is_dir() or self.owner == str(self.root)

    @property
    def owner(self) -> str:
        """The folder of the cluster that has this one's name on the machine; empty if none has."""
        try:
            return self.owner_file.read_text()
        except FileNotFoundError:
            return ""

    @property
    def owner_file(self) -> Path:
        return self.run / "owner"

    @property
    def certificates(self) -> Path:
        return self.root / "certificates"

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def lock(self) -> Path:
        return self.root / "lock"

    @property
    def settings(self) -> Path:
        return self.root / "cluster.json"

    @property
    def kubeconfig(self) -> Path:
        return self.root / "admin.kubeconfig"

    @property
    def run(self) -> Path:
        """The folder for what need not survive a reboot. Not below the root: the path of a socket has to be short."""
        return Path("/run/pybernetes") / self.name

    @property
    def volumes(self) -> Path:
        """The folder with the folders of volumes, which containers write to."""
        return self.root / "volumes"

    @property
    def images(self) -> Path:
        """The folder with the archives of images that were brought here, for nodes that come later."""
        return self.root / "images"

    @property
    def balancers(self) -> Path:
        """The file in which the host helper keeps what load balancers there are."""
        return self.run / "balancers.json"

    @property
    def host_socket(self) -> Path:
        """The socket at which the host helper answers the control plane."""
        return self.run / "host.sock"

    @property
    def processes(self) -> Path:
        """The file with what the supervisor says about its processes."""
        return self.root / "programs.json"

    def pid_file(self, process: str) -> Path:
        """Return the file that says which process a background program is."""
        return self.root / f"{process}.pid"

    def log(self, program: str) -> Path:
        """Return the file that a background program writes to."""
        return self.logs / f"{program}.log"

    def create(self) -> None:
        """Make the folders, for their owner alone: they hold keys."""
        for folder in (self.root, self.certificates, self.data, self.logs):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)


def clusters() -> list[Cluster]:
    """Return every cluster of this user."""
    folder = home() / "clusters"
    names = sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    return [Cluster(name) for name in names]


def find(name: str) -> Cluster:
    """Return a cluster that exists; without a name the only one there is, or the default."""
    if not name:
        existing = clusters()
        name = existing[0].name if len(existing) == 1 else DEFAULT
    cluster = Cluster(name)
    if not cluster.exists:
        raise NoSuchCluster(f"there is no cluster named {name!r}; pyb up {name} makes one")
    return cluster
