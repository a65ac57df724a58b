"""Finds commands: ``get`` is commands/get.py; ``rollout`` is commands/rollout/rollout.py, its own commands lie beside it.

Only the files of the words on the command line are imported. A command is a file with these names:

SUMMARY        what it does, in a line
USAGE          how it is called, without ``kubectl``
FLAGS          texts that declare its flags (see ``flags``)
run(context)   does it, and may return an exit code
ALIASES        other words for it, in one line; may be left out, as what follows
INTERSPERSED   False if all that follows the first argument is an argument
flag_error     makes the error of a line that does not fit the flags, of its message and the command's path
REQUIRED       names of flags that must be given
DEPRECATED     what to do instead of giving a flag, by its name
DEPRECATED_LETTERS  those of them whose one-letter form is told of on its own
COMPLETION     what its arguments are, for the shell (see ``completion``)
GATED          flags that are there only if a variable of the environment is ``true``: texts by variable
"""

from __future__ import annotations

import os

from pybernetes.tools.kubectl import TYPE_CHECKING, import_named

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    from pybernetes.tools.kubectl.command_line.flags import Flag
    from pybernetes.tools.kubectl.context import Context

    class Command(Protocol):
        """The file of a command."""

        __name__: str
        SUMMARY: str
        USAGE: str
        FLAGS: tuple[str, ...]

        def run(self, context: Context) -> int | None:
            """Do what the command is for."""


COMMANDS = "pybernetes.tools.kubectl.commands"


def find(argv: list[str], common: dict[str, Flag]) -> tuple[Command | None, str, list[str]]:
    """Return the command, its path as messages name it, and the arguments without it."""
    arguments = list(argv)
    path, command = "kubectl", None
    package: str | None = COMMANDS
    place = 0
    while package is not None:
        place = first_word(arguments, place, common)
        if place < 0:
            break
        word = arguments[place]
        following = load(package, word)
        if following is None:
            break
        arguments.pop(place)
        command = following
        path = f"{path} {command.__name__.rpartition('.')[2].replace('_', '-')}"
        package = group_of(command)
    return command, path, arguments


def texts_of_flags(command: Command, environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return the texts that declare the flags of a command, with those that the environment asks for."""
    gated: dict[str, str] = getattr(command, "GATED", {})
    asked = (text for name, text in gated.items() if environment.get(name, "").lower() == "true")
    return (*command.FLAGS, *asked)


def load(package: str, word: str) -> Command | None:
    """Return the command of a package that a word means."""
    if not word.replace("-", "").isalnum() or word.startswith("-"):
        return None
    name = word.replace("-", "_")
    for folder in _folders(package):
        if os.path.exists(os.path.join(folder, f"{name}.py")) and not package.endswith(f".{name}"):
            return import_named(f"{package}.{name}")
        if os.path.exists(os.path.join(folder, name, f"{name}.py")):
            return import_named(f"{package}.{name}.{name}")
    for folder in _folders(package):
        for entry in os.scandir(folder):
            name = entry.name.removesuffix(".py")
            path = entry.path if name != entry.name else os.path.join(entry.path, f"{name}.py")
            if not name.startswith("_") and _has_alias(path, word):
                return load(package, name.replace("_", "-"))
    return None


def names(package: str) -> list[str]:
    """Return the commands of a package, as they are written on a command line."""
    from pybernetes.lib import discover

    return [name.replace("_", "-") for name in discover.names(package) if not package.endswith(f".{name}")]


def group_of(command: Command) -> str | None:
    """Return the package with the commands of a command that has some."""
    package, _, name = command.__name__.rpartition(".")
    return package if package.endswith(f".{name}") else None


def _has_alias(path: str, word: str) -> bool:
    """Return whether a file says that a word is an alias; importing all of them to find out would take longer."""
    try:
        with open(path, encoding="utf-8") as file:
            return any(line.startswith("ALIASES = ") and f'"{word}"' in line for line in file)
    except OSError:  # a folder that is no command
        return False


def _folders(package: str) -> list[str]:
    return list(import_named(package).__path__)


def first_word(arguments: list[str], place: int, common: dict[str, Flag]) -> int:
    """Return the index of the first argument that is neither a flag nor the value of a flag; -1 if there is none."""
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
