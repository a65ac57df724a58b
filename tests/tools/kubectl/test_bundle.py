"""kubectl as one file: it runs without anything of this installation, and unpacks itself once."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from pybernetes.tools.kubectl import bundle

pytestmark = pytest.mark.slow


def test_one_file_is_enough(tmp_path: Path) -> None:
    target, unpacked = tmp_path / "kubectl", tmp_path / "unpacked"
    unpacked.mkdir()
    bundle.build(target)
    environment = {"PATH": "/usr/bin:/bin", "TMPDIR": str(unpacked), "HOME": str(tmp_path)}
    for _ in range(2):
        done = subprocess.run(
            [target, "version", "--client", "-o", "json"], env=environment, capture_output=True, text=True, check=True
        )  # fmt: skip
        assert json.loads(done.stdout)["clientVersion"]["gitVersion"].startswith("v1.37.")
    (folder,) = unpacked.iterdir()
    assert folder.stat().st_mode & 0o077 == 0
    refused = subprocess.run([target, "get", "pods"], env=environment, capture_output=True, text=True)
    assert refused.returncode == 1 and "refused" in refused.stderr
