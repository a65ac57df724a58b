"""Which rotated logs are removed."""

from __future__ import annotations

from pybernetes.node.kubelet.housekeeping import log_rotation


def test_logs_that_go() -> None:
    files = ["0.log.20260101-000000.gz", "0.log.20260102-000000.gz", "0.log.20260103-000000"]
    assert log_rotation.excess(files, 5) == [] and log_rotation.excess(files, 4) == files[:1]
    assert log_rotation.excess(files, 2) == files and log_rotation.excess([], 1) == []
    left = ["a.tmp", "b", "b.gz", "c"]
    assert log_rotation.leftovers(left) == ["a.tmp", "b"]
