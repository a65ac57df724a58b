"""What a program knows of a controller before it runs."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pybernetes.lib.flags import Flag

if TYPE_CHECKING:
    from pybernetes.runtime.runtime import Runtime


class Runnable(Protocol):
    """Anything that works until it is cancelled: a ``runtime.Controller``, or several of them as one."""

    async def run(self) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Descriptor:
    """One entry of ``--controllers``.

    ``build`` makes the controller from the runtime and the parsed options; it gives None if the options leave it
    nothing to do (no key to sign with). ``identity`` is the service account in kube-system that it acts as under
    ``--use-service-account-credentials``; one without acts as the manager. One that is not ``enabled`` runs only if it is asked for by name.
    """

    name: str
    build: Callable[[Runtime, Namespace], Runnable | None]
    identity: str
    aliases: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()
    enabled: bool = True
