"""The descriptor of a workload controller: all they are told is how many keys to work on at once."""

from __future__ import annotations

from argparse import Namespace

from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.lib.flags import Flag
from pybernetes.runtime import Controller, Runtime


def describe(cls: type[Controller], name: str, syncs: str, identity: str = "", count: int = 5) -> Descriptor:
    """Describe a controller ``name-controller`` with the alias ``name`` and the flag ``--concurrent-SYNCS-syncs``."""
    flag = Flag(f"concurrent-{syncs}-syncs", count, f"how many {syncs} objects are worked on at once")

    def build(runtime: Runtime, options: Namespace) -> Controller:
        controller = cls(runtime)
        controller.workers = getattr(options, flag.attribute)
        return controller

    return Descriptor(
        name=f"{name}-controller", build=build, identity=identity or f"{name}-controller", aliases=(name,), flags=(flag,)
    )  # fmt: skip
