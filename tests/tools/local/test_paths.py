"""The folders of a local cluster."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from pybernetes.tools.local.paths import Cluster


def test_a_cluster_is_its_owners_alone(tmp_path: Path) -> None:
    """CVE-2021-41103: everybody could enter the folders of containers, and run what is in there with another's rights."""
    before = os.umask(0)
    try:
        cluster = Cluster("c", tmp_path)
        cluster.create()
    finally:
        os.umask(before)
    for folder in (cluster.root, cluster.certificates, cluster.data, cluster.logs):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
