"""What the control plane of a local cluster can reach of the machine's files: what it runs, and what is its own."""

from __future__ import annotations

import logging
import os
import tempfile
from pathlib import Path

from pybernetes.lib.processes import landlock
from pybernetes.tools.local import ownership
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import Settings

log = logging.getLogger(__name__)
# Libraries, names of hosts and users, certificates of authorities, the machine's memory and processors, zones of time.
_SYSTEM = (
    "/bin", "/dev", "/etc", "/lib", "/lib64", "/proc", "/sbin", "/sys", "/usr",
    "/run/NetworkManager", "/run/resolvconf", "/run/systemd/resolve",
)  # fmt: skip


def confine(cluster: Cluster, settings: Settings) -> None:
    """Confine this process for good; where the kernel cannot, its user's rights are all that holds it."""
    own = ownership.own_folders(cluster, settings)
    for folder in own:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = cluster.data / "tmp"
    temporary.mkdir(mode=0o700, exist_ok=True)
    os.environ["TMPDIR"] = tempfile.tempdir = str(temporary)
    readable = [*map(Path, _SYSTEM), *ownership.code()]
    # Files name others beside them, such as a kubeconfig its certificates.
    named = [path.parent for path in ownership.named_files(settings)]
    writable = [folder for folder in named if os.access(folder, os.W_OK)]  # logs
    if not landlock.restrict([*readable, *named], [*own, *writable, Path(os.devnull)]):
        log.info("this kernel has no Landlock: the control plane is not confined to its own files")
