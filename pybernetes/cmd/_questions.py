"""What programs share that ask a cluster something by kubeconfig: arguments, connection, errors as exit codes."""

from __future__ import annotations

import argparse
import asyncio
import io
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pybernetes.client.client import Client

UNANSWERED, INTERRUPTED = 2, 130
# Gets a client and the namespace that is meant, and gives the exit code.
Ask = Callable[["Client", str], Awaitable[int]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a program that asks."""
    parser.add_argument("-n", "--namespace", default="", help="namespace of the object")
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table")
    parser.add_argument("--kubeconfig", default="", help="where the cluster is")
    parser.add_argument("--context", default="", help="context of the kubeconfig")


def run(program: str, options: argparse.Namespace, ask: Ask) -> int:
    """Ask; what keeps from an answer is said, and the exit code is 2 then."""
    from pybernetes.client import kubeconfig
    from pybernetes.client.errors import StatusError
    from pybernetes.lib.printable import printable

    if isinstance(sys.stdout, io.TextIOWrapper):  # names and messages may have what a terminal does not
        sys.stdout.reconfigure(errors="backslashreplace")

    async def asked() -> int:
        async with source.client(user_agent=program.removeprefix("pyb ")) as client:
            return await ask(client, options.namespace or source.namespace)

    try:
        source = kubeconfig.load(options.kubeconfig or None, context=options.context)
        return asyncio.run(asked())
    except (StatusError, ValueError, OSError) as error:
        print(f"{program}: {printable(str(error))}", file=sys.stderr)
        return UNANSWERED
    except KeyboardInterrupt:
        return INTERRUPTED
