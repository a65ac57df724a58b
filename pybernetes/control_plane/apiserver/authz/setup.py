"""From the command line to the authorizers."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from pybernetes.control_plane.apiserver.authz import modes
from pybernetes.control_plane.apiserver.authz.authorizer import Authorizer, Mode
from pybernetes.control_plane.apiserver.authz.structured import StructuredAuthorization
from pybernetes.lib.discover import discover
from pybernetes.lib.flags import Flag

if TYPE_CHECKING:
    from pybernetes.control_plane.apiserver.context import ServerContext


def all_modes() -> dict[str, Mode]:
    """Return every mode in the folder of modes, by name."""
    return discover(modes.__name__, "MODE", key=lambda mode: mode.name)


def flags() -> list[Flag]:
    """Return the flags of authorization, those of the modes included."""
    known = all_modes()
    chooser = Flag(
        "authorization-mode", "Node,RBAC", f"ordered list of authorizers: {', '.join(sorted(known))}"
    )
    file = Flag(
        "authorization-config", "", "file with the chain of authorizers, instead of the flags beside it"
    )
    return [chooser, file, *(flag for mode in known.values() for flag in mode.flags)]


def chosen_modes(flag: str) -> list[Mode]:
    """Return the modes of ``--authorization-mode`` in their order; ValueError names what makes no sense."""
    known = all_modes()
    names = [name.strip() for name in flag.split(",") if name.strip()]
    if not names:
        raise ValueError("--authorization-mode: at least one authorization mode must be passed")
    for name in names:
        if name not in known:
            raise ValueError(
                f"--authorization-mode: {name} is not supported; choose from {', '.join(sorted(known))}"
            )
        if names.count(name) > 1:
            raise ValueError(f"--authorization-mode: {name} is there more than once")
    return [known[name] for name in names]


def structured(arguments: argparse.Namespace, server: str) -> StructuredAuthorization | None:
    """Return the chain that a file names; None if there is none. ValueError tells what is wrong with it."""
    path = arguments.authorization_config
    if not path:
        return None
    chooser, _, *others = flags()
    policies = [
        flag for flag in others if flag.name == "authorization-policy-file"
    ]  # which the file cannot name
    refused = [flag for flag in (chooser, *others) if flag not in policies]
    if any(getattr(arguments, flag.attribute) != flag.default for flag in refused):
        raise ValueError(
            "--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined"
        )
    return StructuredAuthorization(path, all_modes(), arguments, server)


def authorizers(arguments: argparse.Namespace) -> list[Callable[[ServerContext], Authorizer]]:
    """Return what makes the authorizers of a server; ValueError for flags of a mode that is not chosen."""
    chosen = chosen_modes(arguments.authorization_mode)
    for name, mode in all_modes().items():
        for flag in mode.flags:
            if mode not in chosen and getattr(arguments, flag.attribute) != flag.default:
                raise ValueError(f"--{flag.name} needs --authorization-mode={name}")
    for mode in chosen:
        mode.check(arguments)
    return [partial(_build, mode, arguments) for mode in chosen]


def _build(mode: Mode, arguments: argparse.Namespace, context: ServerContext) -> Authorizer:
    return mode.build(context, arguments)
