"""The controllers of a program together: their flags, which of them are to run, and how they are put into one manager."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from pybernetes.client.client import Client
from pybernetes.lib.flags import Flag
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.controller_manager.descriptor import Descriptor
from pybernetes.runtime.manager import Manager

# Gives the client that a controller writes with, by the name of its service account.
ClientFor = Callable[[str], Client]


def flags(known: Mapping[str, Descriptor]) -> tuple[Flag, ...]:
    """Return the flags of all controllers; several may read the same one."""
    flags_by_name: dict[str, Flag] = {}
    for descriptor in known.values():
        for flag in descriptor.flags:
            if flags_by_name.setdefault(flag.name, flag).default != flag.default:
                raise ValueError(f"{descriptor.name} has another default for --{flag.name}")
    return tuple(flags_by_name.values())


def select(
    asked: Sequence[str], known: Mapping[str, Descriptor], absent: Mapping[str, str] = MappingProxyType({})
) -> list[Descriptor]:
    """Return the controllers that a list such as ``*,bootstrapsigner,-ttl`` selects; raise ValueError for an unknown name.

    A name turns a controller on, with a dash in front off, and the star stands for all that are on by default. ``absent``
    are names that upstream knows, with why there is no such controller here: they can be turned off, and not on.
    """
    names = {alias: name for name, descriptor in known.items() for alias in (name, *descriptor.aliases)}
    wanted: dict[str, bool] = {}
    for text in asked:
        if text == "*":
            continue
        name = names.get(text.removeprefix("-"))
        reason = absent.get(text.removeprefix("-"))
        if reason is not None:
            if not text.startswith("-"):
                raise ValueError(f'the controller "{text}" is not there: {reason}')
            continue
        if name is None:
            raise ValueError(f'"{text.removeprefix("-")}" is not in the list of known controllers')
        wanted.setdefault(name, not text.startswith("-"))
    star = "*" in asked
    return [descriptor for name, descriptor in known.items() if wanted.get(name, star and descriptor.enabled)]


def add_all(
    manager: Manager, chosen: Sequence[Descriptor], options: Namespace, client_for: ClientFor | None = None
) -> list[str]:
    """Build controllers into a manager; return the names of those that have something to do.

    They share the manager's informers. With ``client_for`` each writes as itself.
    """
    built = []
    for descriptor in chosen:
        runtime = manager.runtime
        if client_for is not None and descriptor.identity:
            runtime = runtime.as_client(client_for(descriptor.identity))
        controller = descriptor.build(runtime, options)
        if controller is None:
            continue
        if isinstance(controller, Controller):
            manager.add(controller)
        else:
            manager.add_task(descriptor.name, controller.run)
        built.append(descriptor.name)
    return built
