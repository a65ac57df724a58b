"""Chooses a driver by the name of a storage backend or by the flags that were given, and opens its store."""

from __future__ import annotations

import argparse
from typing import Any

from pybernetes.control_plane.store import drivers
from pybernetes.control_plane.store.driver import Driver
from pybernetes.control_plane.store.protocol import (
    Check,
    Clock,
    CommonOptions,
    HistoryLimits,
    Sealing,
    Stamp,
    Store,
    StoreError,
    accept,
    identity,
    wall_clock,
)
from pybernetes.lib.discover import discover
from pybernetes.lib.flags import Flag, defaults
from pybernetes.lib.http.dialer import Dialer
from pybernetes.lib.memory import memory_room

_DEFAULT = "sqlite"


def all_drivers() -> list[Driver]:
    """Return every driver in the folder of drivers."""
    return list(discover(drivers.__name__, "DRIVER", key=lambda driver: driver.name).values())


def backends() -> list[str]:
    """Return the names that open_store takes."""
    return sorted(name for driver in all_drivers() for name in (driver.name, *driver.aliases))


def flags() -> list[Flag]:
    """Return the flag that chooses a driver, and the flags of every driver."""
    known = all_drivers()
    names = ", ".join(driver.name for driver in known)
    chooser = Flag("storage-backend", "", f"where objects are kept: {names} ({_DEFAULT})")
    return [chooser, *(flag for driver in known for flag in driver.flags)]


def open_store(
    backend: str,
    *,
    stamp: Stamp = identity,
    check: Check = accept,
    clock: Clock = wall_clock,
    history: HistoryLimits | None = None,
    **options: Any,
) -> Store:
    """Make the store of a backend, not started yet; ``options`` are values of the driver's own flags."""
    driver = _find(backend)
    try:
        arguments = defaults(driver.flags, **options)
    except TypeError as error:
        raise StoreError(f"storage backend {backend}: {error}") from error
    return driver.open(arguments, {"stamp": stamp, "check": check, "clock": clock, "history": history})


def open_chosen(
    arguments: argparse.Namespace,
    stamp: Stamp,
    check: Check,
    sealing: Sealing | None = None,
    dialer: Dialer | None = None,
) -> Store:
    """Make the store that the command line chooses, by a dialer if there is one; a flag of another driver is refused by name."""
    known = all_drivers()
    implied = (driver.name for driver in known if driver.implied_by and _given(arguments, driver))
    try:
        driver = _find(arguments.storage_backend or next(implied, _DEFAULT))
    except StoreError as error:
        raise ValueError(f"--storage-backend: {error}") from None
    for other in known:
        for flag in other.flags:
            if flag not in driver.flags and getattr(arguments, flag.attribute) != flag.default:
                raise ValueError(f"--{flag.name} is not an option of --storage-backend={driver.name}")
    history = HistoryLimits().within(memory_room.room())
    options: CommonOptions = {"sealing": sealing, "stamp": stamp, "check": check, "history": history}
    if dialer is None:
        return driver.open(arguments, options)
    if driver.open_by is None:
        raise ValueError(f"--storage-backend={driver.name} is on this machine: it is not reached by a proxy")
    return driver.open_by(arguments, options, dialer)


def _given(arguments: argparse.Namespace, driver: Driver) -> bool:
    flag = next(flag for flag in driver.flags if flag.name == driver.implied_by)
    return bool(getattr(arguments, flag.attribute) != flag.default)


def _find(backend: str) -> Driver:
    for driver in all_drivers():
        if backend in (driver.name, *driver.aliases):
            return driver
    raise StoreError(f"unknown storage backend {backend!r}: choose one of {', '.join(backends())}")
