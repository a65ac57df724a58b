"""Settings of the kernel are put back by the last cluster that goes."""

from __future__ import annotations

from pathlib import Path

import pytest

from pybernetes.tools.local import name_lock
from pybernetes.tools.local.network import kernel_settings
from pybernetes.tools.local.paths import Cluster

BEFORE = {
    "ipv4/ip_forward": "0",
    "ipv4/conf/all/accept_redirects": "1",
    "ipv4/conf/all/forwarding": "0",
    "ipv4/conf/eth0/forwarding": "1",
    "netfilter/nf_conntrack_udp_timeout": "30",
}
LATER = {name: "7" for name in BEFORE}


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(Cluster, "run", property(lambda self: tmp_path / "run" / self.name))
    monkeypatch.setattr(kernel_settings, "_KERNEL", tmp_path / "kernel")
    write(tmp_path / "kernel", BEFORE)
    return tmp_path / "kernel"


def write(kernel: Path, values: dict[str, str]) -> None:
    for name, value in values.items():
        (kernel / name).parent.mkdir(parents=True, exist_ok=True)
        (kernel / name).write_text(value + "\n")


def read(kernel: Path) -> dict[str, str]:
    return {name: (kernel / name).read_text().strip() for name in BEFORE if (kernel / name).exists()}


def up(cluster: Cluster) -> None:
    name_lock.acquire(cluster)
    kernel_settings.remember(cluster)


def delete(cluster: Cluster) -> None:
    kernel_settings.put_back(cluster)
    name_lock.release(cluster)


def test_the_last_cluster_puts_back_what_the_first_found(kernel: Path, tmp_path: Path) -> None:
    first, second = Cluster("first", tmp_path), Cluster("second", tmp_path)
    up(first)
    write(kernel, LATER)
    up(second)
    up(first)  # again, after it was stopped
    delete(first)
    assert read(kernel) == LATER
    delete(first)  # it is gone already
    assert read(kernel) == LATER
    delete(second)
    assert read(kernel) == BEFORE and not (tmp_path / "run").exists()


def test_what_is_left_of_a_cluster_that_was_never_deleted_does_not_count(
    kernel: Path, tmp_path: Path
) -> None:
    gone, own = Cluster("gone", tmp_path), Cluster("own", tmp_path)
    up(gone)
    write(kernel, LATER)
    name_lock.release(gone)
    up(own)
    write(kernel, BEFORE)
    delete(own)
    assert read(kernel) == LATER


def test_a_link_that_is_gone_keeps_nothing_from_being_put_back(kernel: Path, tmp_path: Path) -> None:
    own = Cluster("own", tmp_path)
    up(own)
    write(kernel, LATER)
    (kernel / "ipv4/conf/eth0/forwarding").unlink()
    delete(own)
    assert read(kernel) == {name: value for name, value in BEFORE.items() if "eth0" not in name}
