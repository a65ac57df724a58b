"""Help texts, made of what the commands say about themselves."""

from __future__ import annotations

import sys

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.command_line.flags import Flag, declare
from pybernetes.tools.kubectl.command_line.lookup import COMMANDS, group_of, load, names, texts_of_flags
from pybernetes.tools.kubectl.errors import Verbatim

if TYPE_CHECKING:
    from typing import TextIO

    from pybernetes.tools.kubectl.command_line.lookup import Command

_PLUGINS = "Subcommands provided by plugins"
_HIDDEN = ("help", "options", "alpha")  # commands that the overview leaves out
_OTHER = "Other Commands"  # where those are listed that are named nowhere
_GROUPS = (
    ("Basic Commands (Beginner)", "create expose run set"),
    ("Basic Commands (Intermediate)", "explain get edit delete"),
    ("Deploy Commands", "rollout scale autoscale"),
    ("Cluster Management Commands", "certificate cluster-info top cordon uncordon drain taint"),
    (
        "Troubleshooting and Debugging Commands",
        "describe logs attach exec port-forward proxy cp auth debug events",
    ),
    ("Advanced Commands", "diff apply patch replace wait kustomize"),
    ("Settings Commands", "label annotate completion"),
    (_PLUGINS, ""),
    (_OTHER, "api-resources api-versions config kuberc plugin version"),
)


# Words of other programs, by the command that is meant.
_SUGGESTED = {"delete": ("rm", "remove"), "describe": ("inspect",), "get": ("list", "ls"), "top": ("stats",)}


def unknown_or_overview(arguments: list[str], path: str, out: TextIO) -> int:
    """Print the overview of all commands, or refuse an unknown word and guess what was meant."""
    from pybernetes.tools.kubectl.command_line.flags import FlagError, HelpWanted, parse

    try:
        words = parse(arguments, declare(shared_flags.GLOBAL)).args
    except HelpWanted:
        words = []
    except FlagError as error:
        if not (words := [argument for argument in arguments if not argument.startswith("-")]):
            raise Verbatim(f"error: {error.message}\nSee '{path} --help' for usage.") from None
    if not words:
        overview(out)
        return 0
    text = f'error: unknown command "{words[0]}" for "{path}"'
    order = [name for _, listed in _GROUPS for name in listed.split()]
    known = sorted(names(COMMANDS), key=lambda name: order.index(name) if name in order else len(order))
    word = words[0].lower()
    close = [
        name
        for name in known
        if _distance(word, name) <= 2 or name.startswith(word) or word in _SUGGESTED.get(name, ())
    ]
    if close:
        text += "\n\nDid you mean this?\n" + "".join(f"\t{name}\n" for name in close)
    raise Verbatim(text)


def _distance(left: str, right: str) -> int:
    """Return how many letters must change to turn one word into another."""
    row = list(range(len(right) + 1))
    for place, char in enumerate(left, 1):
        before, row[0] = row[0], place
        for index, other in enumerate(right, 1):
            before, row[index] = row[index], min(row[index] + 1, row[index - 1] + 1, before + (char != other))
    return row[-1]


def overview(out: TextIO, heading: bool = True) -> None:
    """Print all commands, by purpose."""
    if heading:
        out.write("kubectl controls the Kubernetes cluster manager.\n\n")
        out.write(" Find more information at: https://kubernetes.io/docs/reference/kubectl/\n\n")
    known = [name for name in names(COMMANDS) if name not in _HIDDEN]
    for title, words in _GROUPS:
        out.write(f"{title}:\n")
        out.write(_summaries(COMMANDS, [name for name in words.split() if name in known], 15))
        known = [name for name in known if name not in words.split()]
        if title == _OTHER:
            out.write(_summaries(COMMANDS, known, 15))
        if title == _PLUGINS:
            out.write(
                "".join(
                    f"  {name:<15} The command {name} is a plugin installed by the user\n"
                    for name in _plugins()
                )
            )
        out.write("\n")
    out.write("Usage:\n  kubectl [flags] [options]\n\n")
    out.write('Use "kubectl <command> --help" for more information about a given command.\n')
    out.write('Use "kubectl options" for a list of global command-line options (applies to all commands).\n')


def _summaries(package: str, words: list[str], width: int) -> str:
    from pybernetes.tools.kubectl.command_line.translations import summary

    group = package.removeprefix(COMMANDS).replace(".", " ").replace("_", "-").strip()
    commands = ((word, load(package, word)) for word in words)
    return "".join(
        f"  {word:<{width}} {summary(f'{group} {word}'.strip(), command.SUMMARY)}\n"
        for word, command in commands
        if command
    )


def _plugins() -> list[str]:
    """Return the first words of the names of plugins on the path."""
    import os

    from pybernetes.tools.kubectl.command_line.plugins import PREFIX, listed

    paths = listed(os.environ.get("PATH", ""), lambda text: None)
    words = (os.path.basename(path).removeprefix(PREFIX).split("-")[0] for path in paths)
    return list(dict.fromkeys(name for name in words if name not in names(COMMANDS)))


def show(command: Command, path: str, out: TextIO) -> int:
    """Print what a command does, its flags and its usage."""
    from pybernetes.tools.kubectl.command_line.translations import sentence

    out.write(f"{sentence(path.removeprefix('kubectl '), command.SUMMARY)}\n")
    from pybernetes.tools.kubectl.command_line.examples import EXAMPLES

    if aliases := getattr(command, "ALIASES", ()):
        out.write(f"\nAliases:\n{', '.join((path.rpartition(' ')[2], *aliases))}\n")
    if lines := EXAMPLES.get(path.removeprefix("kubectl ")):
        texts = (f"  # {comment}\n  kubectl {line}\n" for comment, line in lines)
        out.write("\nExamples:\n" + "\n".join(texts))
    if package := group_of(command):
        width = max(11, *(len(name) for name in names(package))) + 2
        out.write(f"\nAvailable Commands:\n{_summaries(package, names(package), width)}")
    flags = [flag for flag in declare(*texts_of_flags(command)).values() if not flag.hidden]
    if flags:
        out.write("\nOptions:\n" + flag_texts(flags))
    options = "" if "[options]" in command.USAGE else " [options]"
    out.write(f"\nUsage:\n  kubectl {command.USAGE}{options}\n\n")
    if package:
        out.write(f'Use "{path} <command> --help" for more information about a given command.\n')
    out.write('Use "kubectl options" for a list of global command-line options (applies to all commands).\n')
    return 0


def flag_texts(flags: list[Flag]) -> str:
    """Return the flags with their defaults and descriptions."""
    texts = []
    for flag in sorted(flags, key=lambda entry: entry.name):
        short = f"-{flag.short}, " if flag.short else ""
        default = {"list": "[]", "array": "[]", "map": "", "pairs": "", "string": f"'{flag.default}'"}.get(
            flag.kind, flag.default or ("false" if flag.kind == "bool" else "0")
        )
        texts.append(f"    {short}--{flag.name}={default}:\n\t{flag.help}\n")
    return "\n".join(texts)


def options(out: TextIO | None = None) -> None:
    """Print the flags of every command."""
    out = out or sys.stdout
    out.write("The following options can be passed to any command:\n\n")
    out.write(flag_texts([flag for flag in declare(shared_flags.GLOBAL).values() if not flag.hidden]))
