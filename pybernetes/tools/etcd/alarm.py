"""``pyb etcd alarm``: what members have raised, and its end."""

from __future__ import annotations

import argparse

from pybernetes.control_plane.store.drivers.etcd import cluster
from pybernetes.tools.etcd import _connection

HELP = "list and disarm alarms"


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the actions."""
    actions = parser.add_subparsers(required=True, metavar="list|disarm")
    for name, run, text in (
        ("list", list_alarms, "list the alarms that are raised"),
        ("disarm", disarm, "end all alarms, once their reason is gone"),
    ):
        action = actions.add_parser(name, help=text)
        _connection.add_flags(action)
        action.set_defaults(run=run)


def list_alarms(arguments: argparse.Namespace) -> str:
    """Return the alarms."""
    return _lines(_connection.run(arguments, cluster.alarms))


def disarm(arguments: argparse.Namespace) -> str:
    """End the alarms, and return them."""
    return _lines(_connection.run(arguments, cluster.disarm))


def _lines(alarms: list[tuple[int, str]]) -> str:
    return "\n".join(f"memberID:{member} alarm:{name}" for member, name in alarms)
