"""kubectl's entry: finds the verb, imports only its file, and turns exceptions into exit codes."""

from __future__ import annotations

import os
import sys
from importlib import import_module

from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.command_line.flags import Flag, FlagError, HelpWanted, declare, parse
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, Exit

TYPE_CHECKING = False  # typing's own costs time to import
if TYPE_CHECKING:
    from typing import Any

_PACKAGE = "pybernetes.tools.kubectl.commands"


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
            stderr.write(text + ("" if text.endswith("\n") else "\n"))
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
        from pybernetes.tools.kubectl.help import unknown_or_overview

        return unknown_or_overview(arguments, path, streams.get("stdout") or sys.stdout)
    own = declare(*command.FLAGS)
    flags = {**common, **own}
    try:
        values = parse(arguments, flags, getattr(command, "INTERSPERSED", True))
    except HelpWanted:
        from pybernetes.tools.kubectl.help import show

        return show(command, path, streams.get("stdout") or sys.stdout)
    except FlagError as error:
        raise CommandError(f"{error.message}\nSee '{path} --help' for usage.") from None
    values.shadowed = frozenset(own) & frozenset(common)
    context = Context(values, path, **streams)
    code = command.run(context) or 0
    if values.warnings_as_errors and "client" in context.__dict__ and context.client.warnings:
        count = context.client.warnings
        raise CommandError(f"{count} warning{'s' if count > 1 else ''} received")
    return code


def find(argv: list[str], common: dict[str, Flag]) -> tuple[Any, str, list[str]]:
    """Return the module of the command, its path as messages name it, and the arguments without it."""
    arguments = list(argv)
    path, package, module = "kubectl", _PACKAGE, None
    place = 0
    while True:
        place = _first_word(arguments, place, common)
        if place < 0:
            break
        name = _ALIASES.get(arguments[place], arguments[place])
        command = _load(package, name)
        if command is None:
            break
        arguments.pop(place)
        module, path = command, f"{path} {name}"
        package = f"{package}.{_file(name)}"
        if not getattr(module, "GROUP", False):
            break
    return module, path, arguments


_ALIASES = {"kubectl": "kubectl "}


def _file(name: str) -> str:
    word = name.replace("-", "_")
    return f"{word}_" if word in ("exec", "set", "help", "debug", "proxy") else word


def _load(package: str, name: str) -> Any:
    if not name or not all(char.isalnum() or char == "-" for char in name) or name.startswith("-"):
        return None
    module = f"{package}.{_file(name)}"
    folder = os.path.join(os.path.dirname(__file__), *module.split(".")[3:])
    if not (os.path.exists(f"{folder}.py") or os.path.isdir(folder)):
        return _alias(package, name)
    return import_module(module)


def _alias(package: str, name: str) -> Any:
    alias = {
        "auth.sudo": None, "apply.view": None,
        "config.use": "config.use_context", "create.ns": "create.namespace", "create.cm": "create.configmap",
        "create.deploy": "create.deployment", "create.sa": "create.serviceaccount", "create.svc": "create.service",
        "create.ing": "create.ingress", "create.cj": "create.cronjob", "create.pc": "create.priorityclass",
        "create.pdb": "create.poddisruptionbudget", "create.resourcequota": "create.quota",
        "create.service.headless": None, "set.resource": "set_.resources", "top.nodes": "top.node", "top.no": "top.node",
        "top.pods": "top.pod", "top.po": "top.pod", "set_.sa": "set_.serviceaccount", "rollout.ro": None,
        "config.context": "config.use_context", "config.use_ctx": "config.use_context",
    }.get(f"{package[len(_PACKAGE) + 1 :]}.{name}")  # fmt: skip
    return import_module(f"{_PACKAGE}.{alias}") if alias else None


def _first_word(arguments: list[str], place: int, common: dict[str, Flag]) -> int:
    """Return the index of the first argument that is neither a flag nor the value of a flag."""
    shorts = {flag.short: flag for flag in common.values() if flag.short}
    while place < len(arguments):
        argument = arguments[place]
        if argument == "--":
            return -1
        if not argument.startswith("-") or argument == "-":
            return place
        flag = common.get(argument[2:]) if argument.startswith("--") else shorts.get(argument[1:])
        place += 2 if flag is not None and flag.bare is None else 1
    return -1
