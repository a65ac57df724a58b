"""kubectl's entry: finds the command, runs it, and turns exceptions into exit codes."""

from __future__ import annotations

import os
import sys

from pybernetes.tools.kubectl import TYPE_CHECKING, log
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.command_line.flags import FlagError, HelpWanted, declare, parse
from pybernetes.tools.kubectl.command_line.lookup import find, texts_of_flags
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, Exit, escaped

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from pybernetes.tools.kubectl.command_line.flags import Values
    from pybernetes.tools.kubectl.command_line.lookup import Command


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
        if log.level >= 4:
            _tell(error)
        text = error.text()
        if text:
            stderr.write(escaped(text) + ("" if text.endswith("\n") else "\n"))
        return error.code
    except KeyboardInterrupt:
        stdout.flush()
        return 130
    except Exception as error:  # an answer that no API server gives, or a defect of ours
        stdout.flush()
        stderr.write(_unexpected(error))
        return 1


def _tell(error: CommandError) -> None:
    """Print what ``-v=4`` adds to an error: the whole answer of the server, or why there is none."""
    from pybernetes.tools.kubectl.errors import ApiError, NoConnection, Several

    if isinstance(error, Several):
        for one in error.errors:
            _tell(one)
    elif isinstance(error, ApiError) and error.reason != "Invalid":
        import json

        log.line("helpers.go:247", f"server response object: {json.dumps(error.status, indent=2)}", 4)
    elif isinstance(error, NoConnection):
        log.line("helpers.go:265", f"Connection error: {error.request} {error.reason}", 4)


def _unexpected(error: Exception) -> str:
    """Return what is told of an error that nobody has thought of; where it happened is told with ``-v``."""
    if log.level >= 4:
        import traceback

        return escaped("".join(traceback.format_exception(error)))
    if isinstance(error, OSError) and error.filename:
        return escaped(f"error: {error.filename}: {(error.strerror or str(error)).lower()}\n")
    text = escaped(f"{type(error).__name__}: {error}")
    return f"error: kubectl cannot go on: {text}\nEither the server's answer makes no sense or this is a defect; -v=4 shows where\n"


def _has_preferences(argv: list[str], environment: Mapping[str, str]) -> bool:
    """Return whether there can be a kuberc file; this is asked on every start, so without an import."""
    if environment.get("KUBECTL_KUBERC", "").lower() in ("false", "0", "f") or not argv:
        return False
    if environment.get("KUBERC") or any(argument.startswith("--kuberc") for argument in argv):
        return True
    return os.path.exists(os.path.join(environment.get("HOME", "/"), ".kube", "kuberc"))


def _may_be_plugin(command: Command | None, path: str, arguments: list[str]) -> bool:
    """Return whether what follows may be the name of a plugin."""
    if command is None:
        word = next((argument for argument in arguments if not argument.startswith("-")), "help")
        return not word.startswith(("help", "__complete"))
    return path == "kubectl create" and bool(arguments) and not arguments[0].startswith("-")


def _check_given(command: Command, values: Values, stderr: Any) -> None:
    """Warn of flags that are deprecated, and refuse a line without those that are required."""
    if values.changed:
        deprecated = {
            "record": "--record will be removed in the future",
            **getattr(command, "DEPRECATED", {}),
        }
        letters: tuple[str, ...] = getattr(command, "DEPRECATED_LETTERS", ())
        for name in values.changed & deprecated.keys():
            if name in letters and name in values.by_letter:
                letter = values.flags[name].short
                stderr.write(f"Flag shorthand -{letter} has been deprecated, {deprecated[name]}\n")
            stderr.write(f"Flag --{name} has been deprecated, {deprecated[name]}\n")
    missing = [f'"{name}"' for name in getattr(command, "REQUIRED", ()) if name not in values.changed]
    if missing:
        raise CommandError(f"required flag(s) {', '.join(missing)} not set")


def _run(argv: list[str], streams: dict[str, Any]) -> int:
    if argv[:1] in (["__complete"], ["__completeNoDesc"]):
        from pybernetes.tools.kubectl.command_line.completion import complete

        printed, told = complete(argv[1:], streams, argv[0] == "__complete")
        (streams.get("stdout") or sys.stdout).write(printed)
        (streams.get("stderr") or sys.stderr).write(told)
        return 0
    common = declare(shared_flags.GLOBAL)
    environment = streams.get("environment") or os.environ
    stderr = streams.get("stderr") or sys.stderr
    log.set_level(log.asked(argv), stderr)
    preference: dict[str, Any] = {}
    if _has_preferences(argv, environment):
        from pybernetes.tools.kubectl.command_line.kuberc import apply

        argv, preference = apply(argv, common, environment, stderr)
    command, path, arguments = find(argv, common)
    if _may_be_plugin(command, path, arguments):
        from pybernetes.tools.kubectl.command_line import plugins

        plugins.run(argv, len(argv) - len(arguments) + 1)
    if command is None:
        from pybernetes.tools.kubectl.command_line.help import unknown_or_overview

        return unknown_or_overview(arguments, path, streams.get("stdout") or sys.stdout)
    own = declare(*texts_of_flags(command, environment))
    flags = {**common, **own}
    try:
        values = parse(arguments, flags, getattr(command, "INTERSPERSED", True))
    except HelpWanted:
        from pybernetes.tools.kubectl.command_line.help import show

        return show(command, path, streams.get("stdout") or sys.stdout)
    except FlagError as error:
        if hasattr(command, "flag_error"):
            raise command.flag_error(error.message, path) from None
        raise CommandError(f"{error.message}\nSee '{path} --help' for usage.") from None
    _check_given(command, values, stderr)
    values.shadowed = frozenset(own) & frozenset(common)
    context = Context(values, path, command, **streams)
    context.preference = preference
    if values.common("profile") in ("none", ""):
        code = command.run(context) or 0
    else:
        from pybernetes.tools.kubectl.command_line.profiling import profiled

        chosen = command  # of those that were found
        code = profiled(values.profile, values.profile_output, lambda: chosen.run(context)) or 0
    if values.warnings_as_errors and "client" in context.__dict__ and context.client.warnings:
        count = context.client.warnings
        raise CommandError(f"{count} warning{'s' if count > 1 else ''} received")
    return code
