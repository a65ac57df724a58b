"""Asks systemd for the slices of pods, over D-Bus, as it wants nobody else to make or change its control groups.

Calls wait for systemd's answer, so they are made in a thread; what systemd makes of a slice is a control group like others.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jeepney import Message
    from jeepney.io.blocking import DBusConnection

_NAME, _PATH, _MANAGER = (
    "org.freedesktop.systemd1",
    "/org/freedesktop/systemd1",
    "org.freedesktop.systemd1.Manager",
)
_EXISTS, _MISSING = f"{_NAME}.UnitExists", f"{_NAME}.NoSuchUnit"
_SECONDS = 30.0
_INFINITY = 2**64 - 1
_STEP = 10_000  # microseconds: what systemd rounds the time of processors to
# The property for each file of a control group, of both versions.
_PROPERTIES = {
    "cpu.weight": "CPUWeight",
    "cpu.shares": "CPUShares",
    "memory.max": "MemoryMax",
    "memory.limit_in_bytes": "MemoryLimit",
    "pids.max": "TasksMax",
}
Properties = list[tuple[str, tuple[str, Any]]]


class SystemdError(OSError):
    """systemd refuses something, or does not answer."""


def address() -> str:
    """Return where the bus of the system is."""
    return os.environ.get("DBUS_SYSTEM_BUS_ADDRESS") or "unix:path=/run/dbus/system_bus_socket"


def parent(name: str) -> str:
    """Return the slice that a slice is in: its name says so."""
    above = name.removesuffix(".slice").rpartition("-")[0]
    return f"{above}.slice" if above else "-.slice"


def properties(values: Mapping[str, str]) -> Properties:
    """Return the properties that stand for the limits of a group, by the names of their files."""
    result: Properties = []
    for name, value in values.items():
        if value and name in _PROPERTIES:
            unlimited = value in ("max", "-1")
            result.append((_PROPERTIES[name], ("t", _INFINITY if unlimited else int(value))))
    quota = values.get("cpu.max", "").split() or [
        values.get(name, "") for name in ("cpu.cfs_quota_us", "cpu.cfs_period_us")
    ]
    if all(quota):
        time, period = quota
        result.append(("CPUQuotaPerSecUSec", ("t", _each_second(time, int(period)))))
        result.append(("CPUQuotaPeriodUSec", ("t", int(period))))
    return result


def _each_second(quota: str, period: int) -> int:
    """Return how long processes may run in a second, in microseconds."""
    if quota in ("max", "-1"):
        return _INFINITY
    return math.ceil(int(quota) * 1_000_000 / period / _STEP) * _STEP


class SystemdSlices:
    """One connection to systemd, made when it is first needed and again when it was lost."""

    def __init__(self, bus: str = "") -> None:
        self._bus = bus or address()
        self._lock = threading.Lock()
        self._connection: DBusConnection | None = None

    def start(self, name: str) -> None:
        """Make a slice, unless it is there."""
        counted = [(f"{kind}Accounting", ("b", True)) for kind in ("Memory", "CPU", "Tasks", "IO")]
        described: Properties = [
            ("Description", ("s", f"Kubernetes pods: {name}")),
            ("Wants", ("as", [parent(name)])),
            ("DefaultDependencies", ("b", False)),
            *counted,
        ]
        self._job("StartTransientUnit", "ssa(sv)a(sa(sv))", (name, "replace", described, []), _EXISTS)

    def set(self, name: str, values: Properties) -> None:
        """Give a slice limits, until it goes."""
        if values:
            with self._lock:
                self._call("SetUnitProperties", "sba(sv)", (name, True, values))

    def stop(self, name: str) -> None:
        """End a slice, if there is one."""
        self._job("StopUnit", "ss", (name, "replace"), _MISSING)

    def close(self) -> None:
        """Close the connection to the bus."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _job(self, method: str, signature: str, body: tuple[Any, ...], harmless: str) -> None:
        """Start a job of systemd and wait for its end."""
        from jeepney import MatchRule

        ended = MatchRule(type="signal", interface=_MANAGER, member="JobRemoved", path=_PATH)
        with self._lock:
            connection = self._connected()
            with connection.filter(ended, bufsize=1024) as signals:
                try:
                    (job,) = self._call(method, signature, body)
                except _Refused as error:
                    if error.name == harmless:
                        return
                    raise
                try:
                    while True:
                        _, path, _, result = connection.recv_until_filtered(signals, timeout=_SECONDS).body
                        if path == job:
                            break
                except (OSError, TimeoutError) as error:
                    self._lose()
                    raise SystemdError(f"systemd did not end {method} of {body[0]}: {error}") from None
        if result not in ("done", "skipped"):
            raise SystemdError(f"{method} of {body[0]}: {result}")

    def _connected(self) -> DBusConnection:
        from jeepney import MatchRule, message_bus
        from jeepney.io.blocking import Proxy, open_dbus_connection

        if self._connection is None:
            try:
                self._connection = open_dbus_connection(self._bus)
                ended = MatchRule(type="signal", interface=_MANAGER, member="JobRemoved", path=_PATH)
                Proxy(message_bus, self._connection, timeout=_SECONDS).AddMatch(ended)
                self._call("Subscribe")
            except (OSError, ValueError, KeyError) as error:
                self._lose()
                raise SystemdError(f"systemd cannot be reached at {self._bus}: {error}") from None
        return self._connection

    def _call(self, method: str, signature: str | None = None, body: tuple[Any, ...] = ()) -> tuple[Any, ...]:
        from jeepney import DBusAddress, HeaderFields, MessageType, new_method_call

        message = new_method_call(DBusAddress(_PATH, _NAME, _MANAGER), method, signature, body)
        try:
            answer: Message = self._connected().send_and_get_reply(message, timeout=_SECONDS)
        except (OSError, TimeoutError) as error:
            self._lose()
            raise SystemdError(f"systemd does not answer {method}: {error}") from None
        if answer.header.message_type is MessageType.error:
            name = answer.header.fields.get(HeaderFields.error_name, "")
            raise _Refused(
                name, f"{method} {' '.join(map(str, body[:1]))}: {name}: {' '.join(map(str, answer.body))}"
            )
        return tuple(answer.body)

    def _lose(self) -> None:
        """Forget a connection of which nobody knows what comes next."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class _Refused(SystemdError):
    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.name = name
