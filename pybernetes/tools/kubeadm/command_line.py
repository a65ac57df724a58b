"""Command lines as upstream's kubeadm reads them: a tree of commands, each with flags of its own, and its errors."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.lib import flags as values
from pybernetes.lib.flags import Flag, Seconds
from pybernetes.tools.kubeadm.configuration.validation_parts import FEATURE_GATES
from pybernetes.tools.kubeadm.errors import KubeadmError

# Flags that may stand beside --config: they say how to do it, not what.
_BESIDE_CONFIG = frozenset(
    ("config", "ignore-preflight-errors", "dry-run", "kubeconfig", "node-name", "kubeconfig-dir", "upload-certs",
     "print-manifest", "allow-missing-template-keys", "output", "show-managed-fields", "print-join-command", "rootfs", "v",
     "log-file", "yes")
)  # fmt: skip
_SHORT = {"c": "context-lines", "f": "force", "h": "help", "o": "output", "v": "v", "y": "yes"}
HELP = Flag("help", False, "help for this command")
GLOBAL = (
    Flag("rootfs", "", "The path to the root file system of the machine; kubeadm changes its root to it."),
    Flag("v", 0, "number for the log level verbosity"),
    values.Ignored("vmodule", "", "the log is plain text on stderr, line by line"),
)
CONFIG = Flag("config", "", "Path to a kubeadm configuration file.")
DRY_RUN = Flag("dry-run", False, "Don't apply any changes; just output what would be done.")
IGNORE = Flag(
    "ignore-preflight-errors",
    (),
    "A list of checks whose errors will be shown as warnings; 'all' ignores all.",
)
SKIP_PHASES = Flag("skip-phases", (), "List of phases to be skipped")
KUBECONFIG = Flag(
    "kubeconfig", "/etc/kubernetes/admin.conf", "The kubeconfig file to use when talking to the cluster."
)
PATCHES = Flag(
    "patches", "", 'Path to a directory that contains files named "target[suffix][+patchtype].extension".'
)
CRI_SOCKET = Flag("cri-socket", "", "Path to the CRI socket to connect.")
OUTPUT = Flag("output", "text", "Output format: text, json or yaml.")


class Arguments(argparse.Namespace):
    """What a command line says; ``given`` has the names of the flags on it."""

    given: frozenset[str]
    words: list[str]

    def was_given(self, name: str) -> bool:
        """Return whether a flag is on the command line."""
        return name in self.given

    def is_dry_run(self, configuration: Object) -> bool:
        """Return whether nothing may change: as the flag says, or else the configuration."""
        return bool(self.dry_run if self.was_given("dry-run") else configuration.get("dryRun"))


@dataclass(frozen=True)
class Command:
    """A command: what it does, which flags it takes, and the commands below it.

    ``others`` are flags that it does not take, and that its work finds at their defaults.
    """

    name: str
    summary: str
    run: Callable[[Arguments], None] | None = None
    flags: tuple[Flag, ...] = ()
    commands: tuple[Command, ...] = ()
    words: str = ""  # what may stand behind it, such as ``[version]``
    most: int = 0  # how many words that are
    demanded: bool = False  # whether they must stand there, at the latest in a configuration
    about: str = ""  # more of it than the summary, in its help
    others: tuple[Flag, ...] = ()
    aliases: tuple[str, ...] = ()
    hidden: bool = False
    required: tuple[str, ...] = ()  # flags that must be given

    def named(self, word: str) -> Command | None:
        """Return the command below this one that has a name."""
        return next(
            (command for command in self.commands if word == command.name or word in command.aliases), None
        )


def walk(command: Command, path: str = "") -> Iterator[tuple[str, Command]]:
    """Yield a command and all below it that are shown, with the words that lead there."""
    yield path, command
    for below in command.commands:
        if not below.hidden:
            yield from walk(below, f"{path} {below.name}".strip())


def run(root: Command, argv: Sequence[str], started: Callable[[Arguments], None] | None = None) -> int:
    """Run what a command line asks for and return the exit code; ``started`` is told of it before."""
    command, path, rest = _find(root, argv)
    arguments = parse(command, rest)
    if arguments.help:
        print(help_text(path, command))
        return 0
    if command.run is None:
        if arguments.words:
            raise KubeadmError(f'unknown command "{arguments.words[0]}" for "{path}"')
        print(help_text(path, command))
        if command is not root:
            raise KubeadmError("subcommand is required")
        return 0
    if len(arguments.words) > command.most:
        count = len(arguments.words)
        raise KubeadmError(
            _too_many(command, count)
            if command.most
            else f'unknown command "{arguments.words[0]}" for "{path}"'
        )
    missing = [f'"{name}"' for name in command.required if name not in arguments.given]
    if missing:
        raise KubeadmError(f"required flag(s) {', '.join(missing)} not set")
    if started is not None:
        started(arguments)
    command.run(arguments)
    return 0


def _too_many(command: Command, count: int) -> str:
    if command.demanded:
        return f"too many arguments. Required arguments: {command.words}"
    return f"accepts at most {command.most} arg(s), received {count}"


def _find(root: Command, argv: Sequence[str]) -> tuple[Command, str, list[str]]:
    """Return the deepest command that the words name, the words that lead there, and all else."""
    command, path, rest = root, root.name, []
    waiting = iter(argv)
    for word in waiting:
        below = command.named(word) if not word.startswith("-") else None
        if below is not None:
            command, path = below, f"{path} {below.name}"
            continue
        rest.append(word)
        if word == "--":
            break
        flag = _flag_of(command, word)
        if flag is not None and "=" not in word and not isinstance(flag.default, bool):
            rest += [following for following in [next(waiting, None)] if following is not None]
    return command, path, [*rest, *waiting]


def _flag_of(command: Command, word: str) -> Flag | None:
    name = word[2:].partition("=")[0] if word.startswith("--") else _SHORT.get(word[1:2], "")
    if word.startswith("-") and not word.startswith("--") and len(word) > 2:
        return None  # its value stands with it
    return _known(command).get(name)


def _known(command: Command) -> dict[str, Flag]:
    return {flag.name: flag for flag in (*command.flags, *GLOBAL, HELP)}


def parse(command: Command, argv: Sequence[str]) -> Arguments:
    """Return what a command line says: flags anywhere, and words; KubeadmError in upstream's words."""
    known = _known(command)
    result = Arguments(
        **{flag.attribute: flag.default for flag in (*command.others, *known.values())}, words=[]
    )
    given: set[str] = set()
    waiting = iter(argv)
    for word in waiting:
        if len(word) < 2 or word[0] != "-":
            result.words.append(word)
            continue
        if word == "--":
            result.words += waiting
            break
        name, shown, text = _split(word, known)
        flag = known[name]
        if text is None and isinstance(flag.default, bool):
            text = "true"
        if text is None:
            text = next(waiting, None)
        if text is None:
            raise KubeadmError(f"flag needs an argument: {word if word[:2] == '--' else _letter(word)}")
        value = _value(flag, shown, text)
        if isinstance(value, tuple) and name in given:
            value = (*getattr(result, flag.attribute), *value)
        setattr(result, flag.attribute, value)
        given.add(name)
    result.given = frozenset(given)
    values.check(result, known.values())
    return result


def _letter(word: str) -> str:
    return f"'{word[1]}' in {word}"


def _split(word: str, known: dict[str, Flag]) -> tuple[str, str, str | None]:
    """Return the name of a flag, how errors show it, and the value that stands with it."""
    if word.startswith("--"):
        name, separator, text = word[2:].partition("=")
        if not name:
            raise KubeadmError(f"bad flag syntax: {word}")
        if name not in known:
            raise KubeadmError(f"unknown flag: --{name}")
        letter = next((short for short, long in _SHORT.items() if long == name), "")
        return name, f"-{letter}, --{name}" if letter else f"--{name}", text if separator else None
    name = _SHORT.get(word[1], "")
    if name not in known:
        raise KubeadmError(f"unknown shorthand flag: {_letter(word)}")
    text = word[2:].removeprefix("=")
    return name, f"-{word[1]}, --{name}", text or None


def _value(flag: Flag, shown: str, text: str) -> Any:
    try:
        if isinstance(flag.default, bool):
            return values.boolean(text)
        if isinstance(flag.default, Seconds):
            return values.duration(text)
        if isinstance(flag.default, tuple):
            return values.strings(text)
        return type(flag.default)(text)
    except ValueError:
        what = {bool: "strconv.ParseBool: parsing", int: "strconv.ParseInt: parsing"}.get(type(flag.default))
        reason = f'{what} "{text}": invalid syntax' if what else f'time: invalid duration "{text}"'
        raise KubeadmError(f'invalid argument "{text}" for "{shown}" flag: {reason}') from None


def check_mixed(arguments: Arguments) -> None:
    """Refuse flags that say what a configuration file says already."""
    if "config" not in arguments.given:
        return
    mixed = sorted(
        name for name in arguments.given if name not in _BESIDE_CONFIG and not name.startswith("skip-")
    )
    if mixed:
        raise KubeadmError(f"can not mix '--config' with arguments [{' '.join(mixed)}]")


def pairs(text: str) -> dict[str, bool]:
    """Return the switches of a flag such as ``A=true,B=false``."""
    result = {}
    for part in values.strings(text):
        name, separator, value = part.partition("=")
        if not separator:
            raise KubeadmError(f"missing bool value for feature-gate key:{name}")
        if name not in FEATURE_GATES:
            raise KubeadmError(f"unrecognized feature-gate key: {name}")
        try:
            result[name] = values.boolean(value)
        except ValueError:
            text = f"invalid value {value} for feature-gate key: {name}, use true|false instead"
            raise KubeadmError(text) from None
    return result


def help_text(path: str, command: Command) -> str:
    """Return the help of a command."""
    lines = [command.about or command.summary, "", "Usage:"]
    if command.run is not None or not command.commands:
        lines.append(f"  {path}{f' {command.words}' if command.words else ''} [flags]")
    if command.commands:
        lines += [f"  {path} [command]", "", "Available Commands:"]
        shown = [below for below in command.commands if not below.hidden]
        width = max(len(below.name) for below in shown)
        lines += [f"  {below.name:<{width}}  {below.summary}" for below in shown]
    lines += ["", "Flags:", *_rows((*command.flags, HELP))]
    lines += ["", "Global Flags:", *_rows(GLOBAL)]
    if command.commands:
        lines += ["", f'Use "{path} [command] --help" for more information about a command.']
    return "\n".join(lines)


_KINDS: tuple[tuple[type, str], ...] = (
    (bool, ""), (Seconds, " duration"), (int, " int"), (tuple, " strings"), (str, " string"),
)  # fmt: skip


def _rows(flags: Iterable[Flag]) -> list[str]:
    letters = {long: short for short, long in _SHORT.items()}
    rows = []
    for flag in sorted(flags, key=lambda entry: entry.name):
        kind = next(text for known, text in _KINDS if isinstance(flag.default, known))
        letter = letters.get(flag.name)
        shown = ",".join(flag.default) if isinstance(flag.default, tuple) else flag.default
        default = f" (default {shown})" if shown and not isinstance(flag.default, bool) else ""
        rows.append((f"{f'-{letter}, ' if letter else '    '}--{flag.name}{kind}", f"{flag.help}{default}"))
    width = max(len(left) for left, _ in rows)
    return [f"  {left:<{width}}   {right}" for left, right in rows]
