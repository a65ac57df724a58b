"""Slices that systemd makes: against a service on a bus of the test's own that answers as systemd does."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jeepney import (
    DBusAddress,
    HeaderFields,
    Message,
    MessageType,
    message_bus,
    new_error,
    new_method_return,
    new_signal,
)
from jeepney.io.blocking import Proxy, open_dbus_connection

from pybernetes.node.kubelet.cgroups import pod_cgroups, systemd_slices
from pybernetes.node.kubelet.cgroups.pod_cgroups import PodCgroups
from pybernetes.node.kubelet.cgroups.systemd_slices import SystemdError, SystemdSlices
from tests.support import end, require_program

MANAGER = DBusAddress(
    "/org/freedesktop/systemd1", "org.freedesktop.systemd1", "org.freedesktop.systemd1.Manager"
)
INFINITY = 2**64 - 1


class Systemd:
    """What of systemd answers on a bus: units by name with their properties."""

    def __init__(self, address: str) -> None:
        self.units: dict[str, dict[str, Any]] = {}
        self.result = "done"  # how jobs end
        self._jobs = 0
        self._connection = open_dbus_connection(address)
        Proxy(message_bus, self._connection).RequestName(MANAGER.bus_name)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                message = self._connection.receive()
            except (OSError, ValueError, EOFError):
                return
            if message.header.message_type is MessageType.method_call:
                self._answer(message)

    def _answer(self, message: Message) -> None:
        method, body = message.header.fields[HeaderFields.member], message.body
        name = body[0] if body else ""
        if method == "StartTransientUnit" and name in self.units:
            self._refuse(message, "UnitExists", f"Unit {name} was already loaded")
        elif method in ("StopUnit", "SetUnitProperties") and name not in self.units:
            self._refuse(message, "NoSuchUnit", f"Unit {name} not loaded.")
        elif method == "SetUnitProperties":
            self.units[name] |= dict(body[2])
            self._connection.send(new_method_return(message))
        elif method in ("StartTransientUnit", "StopUnit"):
            if method == "StopUnit":
                del self.units[name]
            else:
                self.units[name] = dict(body[2])
            self._end_job(message, name)
        else:
            self._connection.send(new_method_return(message))

    def _end_job(self, message: Message, name: str) -> None:
        self._jobs += 1
        job = f"/org/freedesktop/systemd1/job/{self._jobs}"
        # Somebody else's job ends before ours.
        for path in ("/org/freedesktop/systemd1/job/7777", job):
            if path == job:
                self._connection.send(new_method_return(message, "o", (job,)))
            signal = new_signal(MANAGER, "JobRemoved", "uoss", (self._jobs, path, name, self.result))
            self._connection.send(signal)

    def _refuse(self, message: Message, error: str, text: str) -> None:
        self._connection.send(new_error(message, f"org.freedesktop.systemd1.{error}", "s", (text,)))

    def close(self) -> None:
        self._connection.close()


@pytest.fixture
def bus(tmp_path: Path) -> Iterator[str]:
    program = require_program("dbus-daemon")
    configuration = tmp_path / "bus.conf"
    configuration.write_text(
        f"<busconfig><type>system</type><listen>unix:path={tmp_path}/bus</listen><auth>EXTERNAL</auth>"
        '<policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/>'
        "</policy></busconfig>"
    )
    process = subprocess.Popen(
        [program, f"--config-file={configuration}", "--nofork", "--print-address"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        end(process)


@pytest.fixture
def systemd(bus: str) -> Iterator[Systemd]:
    service = Systemd(bus)
    yield service
    service.close()


def _pod(**requests: str) -> dict[str, Any]:
    resources = {"requests": requests, "limits": requests}
    return {
        "metadata": {"uid": "1-2"},
        "spec": {"containers": [{"name": "c", "resources": resources}]},
        "status": {"qosClass": "Burstable"},
    }


@pytest.mark.parametrize("unified", [True, False])
def test_a_pods_slice(bus: str, systemd: Systemd, tmp_path: Path, unified: bool) -> None:
    """What the kubelet does for a pod: its slice with limits, below those that are there, and its end."""
    mount = tmp_path / "cgroup"
    mount.mkdir()
    if unified:
        (mount / "cgroup.controllers").touch()
    groups = PodCgroups(driver="systemd", mount=mount, pids=100)
    groups.slices = SystemdSlices(bus)
    name = "kubepods-burstable-pod1_2.slice"
    try:
        assert groups.create(_pod(cpu="250m", memory="64Mi")) == name
        assert groups.create(_pod(cpu="250m", memory="64Mi")) == name  # it is there, which is well
        unit = systemd.units[name]
        assert unit["Wants"] == ("as", ["kubepods-burstable.slice"])
        assert unit["MemoryAccounting"] == unit["CPUAccounting"] == ("b", True)
        assert unit["MemoryMax" if unified else "MemoryLimit"] == ("t", 64 * 2**20)
        assert unit["CPUWeight" if unified else "CPUShares"] == ("t", 10 if unified else 256)
        assert unit["CPUQuotaPerSecUSec"] == ("t", 250_000)
        assert unit["TasksMax"] == ("t", 100)
        groups.remove(_pod())
        assert name not in systemd.units
        groups.remove(_pod())  # it is gone, which is well
    finally:
        groups.slices.close()


def test_what_systemd_cannot_do_is_said(bus: str, systemd: Systemd) -> None:
    slices = SystemdSlices(bus)
    try:
        systemd.result = "failed"
        with pytest.raises(SystemdError, match=r"StartTransientUnit of a\.slice: failed"):
            slices.start("a.slice")
        with pytest.raises(SystemdError, match="NoSuchUnit"):
            slices.set("b.slice", [("TasksMax", ("t", 1))])
    finally:
        slices.close()


def test_nobody_on_the_bus_and_no_bus(bus: str, tmp_path: Path) -> None:
    for address in (bus, f"unix:path={tmp_path}/nobody"):
        with pytest.raises(SystemdError, match="systemd cannot be reached"):
            SystemdSlices(address).start("a.slice")


def test_systemd_that_was_away_is_asked_again(bus: str) -> None:
    slices = SystemdSlices(bus)
    with pytest.raises(SystemdError):
        slices.start("a.slice")
    service = Systemd(bus)
    try:
        slices.start("a.slice")
        assert "a.slice" in service.units
    finally:
        slices.close()
        service.close()


@pytest.mark.parametrize(
    ("values", "properties"),
    [
        ({"cpu.max": "max 100000"}, {"CPUQuotaPerSecUSec": INFINITY, "CPUQuotaPeriodUSec": 100_000}),
        ({"cpu.max": "12345 100000"}, {"CPUQuotaPerSecUSec": 130_000, "CPUQuotaPeriodUSec": 100_000}),
        ({"cpu.cfs_quota_us": "-1", "cpu.cfs_period_us": "1000"},
         {"CPUQuotaPerSecUSec": INFINITY, "CPUQuotaPeriodUSec": 1000}),
        ({"cpu.cfs_period_us": "1000"}, {}),
        ({"memory.max": "max", "pids.max": "", "cpu.weight": "5"}, {"MemoryMax": INFINITY, "CPUWeight": 5}),
    ],
)  # fmt: skip
def test_limits_as_properties(values: dict[str, str], properties: dict[str, int]) -> None:
    assert {name: value for name, (_, value) in systemd_slices.properties(values)} == properties


def test_a_slice_is_below_the_one_that_its_name_says() -> None:
    assert systemd_slices.parent("kubepods-burstable-pod1_2.slice") == "kubepods-burstable.slice"
    assert systemd_slices.parent("kubepods.slice") == "-.slice"


def test_names_of_containers_groups() -> None:
    """As containerd and CRI-O give them."""
    assert pod_cgroups.container_group("containerd", "systemd", "1") == "cri-containerd-1.scope"
    assert pod_cgroups.container_group("containerd", "cgroupfs", "1") == "1"
    assert pod_cgroups.container_group("cri-o", "systemd", "1") == "crio-1.scope"
    assert pod_cgroups.container_group("cri-o", "cgroupfs", "1") == "crio-1"
