"""What the machine as a whole uses."""

from __future__ import annotations

from pybernetes.node.stats import host


def test_the_machine() -> None:
    highest, present = host.processes()
    assert highest > present > 0 and host.boot_time() > 0 and host.cpu_time() > 0 and host.memory_total() > 0
