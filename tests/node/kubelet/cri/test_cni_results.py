"""The time of a network, from the file that CNI leaves."""

import os
from pathlib import Path

from pybernetes.node.kubelet.cri.cni_results import CniResults


def result(folder: Path, name: str, at: float) -> None:
    (folder / name).write_text("{}")
    os.utime(folder / name, (at, at))


def test_the_time_of_a_result(tmp_path: Path) -> None:
    results = CniResults(tmp_path)
    assert results.made("abc") is None
    result(tmp_path, "pybernetes-abc-eth0", 1000.5)
    result(tmp_path, "pybernetes-def-eth0", 2000.5)
    assert (results.made("abc"), results.made("def"), results.made("none")) == (1000.5, 2000.5, None)
    result(tmp_path, "another-network-ghi-net1", 3000.0)  # since the node has another network now
    assert results.made("ghi") == 3000.0


def test_there_is_no_folder(tmp_path: Path) -> None:
    assert CniResults(tmp_path / "none").made("abc") is None
