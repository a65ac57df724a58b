"""What a store driver declares. Each driver is a file or folder in ``drivers`` with one ``DRIVER``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from pybernetes.control_plane.store.protocol import CommonOptions, Store
from pybernetes.lib.flags import Flag
from pybernetes.lib.http.dialer import Dialer

# Makes a store, not started yet, from the values of the driver's flags and the options that all drivers take.
Open = Callable[[argparse.Namespace, CommonOptions], Store]
OpenBy = Callable[[argparse.Namespace, CommonOptions, Dialer], Store]


@dataclass(frozen=True)
class Driver:
    """One way of keeping data.

    All drivers are imported for their flags, so that a driver imports what is large in ``open`` only.
    """

    name: str  # as --storage-backend names it
    open: Open
    flags: tuple[Flag, ...] = ()
    aliases: tuple[str, ...] = ()
    # The same for a store that is reached by the connections of a dialer; None: it is on this machine.
    open_by: OpenBy | None = None
    # The flag that chooses this driver if no backend is named.
    implied_by: str = ""
