"""kubefedctl as a program: which verb, and what its errors look like."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable

from pybernetes.lib import discover
from pybernetes.lib.flags import boolean
from pybernetes.tools.federation import session

_VERBS = "pybernetes.tools.federation.verbs"
_SWITCHES = ("--dry-run", "--delete-crd", "--force", "--enable-type", "-t", "--contents", "-c")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line, with all verbs."""
    result = argparse.ArgumentParser(
        prog="kubefedctl",
        description="kubefedctl controls a Kubernetes Cluster Federation",
        allow_abbrev=False,
    )
    verbs = result.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name in discover.names(_VERBS):
        module = discover.load(_VERBS, name)
        verb = verbs.add_parser(
            name.replace("_", "-"), help=module.SUMMARY, description=module.SUMMARY, allow_abbrev=False
        )
        session.add_flags(verb)
        module.add_arguments(verb)
        verb.set_defaults(run=module.run)
    return result


def plain(argv: list[str]) -> list[str]:
    """Return a command line without values of switches, which Go's flags may have: ``--dry-run=true``."""
    result = []
    for word in argv:
        name, equals, value = word.partition("=")
        if equals and name in _SWITCHES:
            try:
                if boolean(value):
                    result.append(name)
                continue
            except ValueError:
                pass  # the parser says that it is none
        result.append(word)
    return result


def main(argv: list[str]) -> int:
    """Run a verb and return the exit code."""
    arguments = parser().parse_args(plain(argv))
    if arguments.v:
        from pybernetes.lib import logs

        logs.set_up(arguments.v)

    async def work() -> int:
        async with session.Session(arguments) as opened:
            return await arguments.run(opened) or 0

    return told("Error: ", lambda: asyncio.run(work()))


def told(prefix: str, work: Callable[[], int], *errors: type[Exception]) -> int:
    """Run an action; turn errors into a message and an exit code."""
    from pybernetes.client.errors import StatusError
    from pybernetes.client.kubeconfig import ConfigError
    from pybernetes.tools.federation.errors import FederationError

    expected: tuple[type[Exception], ...] = (
        FederationError,
        StatusError,
        ConfigError,
        OSError,
        ValueError,
        *errors,
    )
    try:
        return work()
    except expected as error:
        print(f"{prefix}{error}", file=sys.stderr)
        return 1
