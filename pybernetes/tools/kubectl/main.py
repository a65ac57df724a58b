"""kubectl's entry: finds the command, runs it, and turns exceptions into exit codes."""

from __future__ import annotations

import os
import sys

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.command_line.flags import FlagError, HelpWanted, declare, parse
from pybernetes.tools.kubectl.command_line.lookup import find
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, Exit, escaped

if TYPE_CHECKING:
    from typing import Any


def main(argv: list[str], **streams: Any) -> int:
    """Run a command line and return the exit code."""
    stderr = streams.get("stderr") or sys.stderr
    stdout = streams.get("stdout") or sys.stdout
    try:
        code = _run(argv, streams)
        stdout.flush()
        return code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exit as error:
        stdout.flush()
        return error.code
    except CommandError as error:
        stdout.flush()
        text = error.text()
        if text:
            stderr.write(escaped(text) + ("" if text.endswith("\n") else "\n"))
        return error.code
    except KeyboardInterrupt:
        stdout.flush()
        return 130


def _run(argv: list[str], streams: dict[str, Any]) -> int:
    if argv[:1] == ["__complete"]:
        from pybernetes.tools.kubectl.command_line.completion import complete

        printed, told = complete(argv[1:], streams)
        (streams.get("stdout") or sys.stdout).write(printed)
        (streams.get("stderr") or sys.stderr).write(told)
        return 0
    common = declare(shared_flags.GLOBAL)
    command, path, arguments = find(argv, common)
    if command is None:
        from pybernetes.tools.kubectl.command_line.help import unknown_or_overview

        return unknown_or_overview(arguments, path, streams.get("stdout") or sys.stdout)
    own = declare(*command.FLAGS)
    flags = {**common, **own}
    try:
        values = parse(arguments, flags, getattr(command, "INTERSPERSED", True))
    except HelpWanted:
        from pybernetes.tools.kubectl.command_line.help import show

        return show(command, path, streams.get("stdout") or sys.stdout)
    except FlagError as error:
        raise CommandError(f"{error.message}\nSee '{path} --help' for usage.") from None
    values.shadowed = frozenset(own) & frozenset(common)
    context = Context(values, path, command, **streams)
    code = command.run(context) or 0
    if values.warnings_as_errors and "client" in context.__dict__ and context.client.warnings:
        count = context.client.warnings
        raise CommandError(f"{count} warning{'s' if count > 1 else ''} received")
    return code
