"""Command-line flags with the rules and complaints of Go's pflag; argparse would cost more than the command.

A set of flags is text, one flag to a line: ``shorthand name type default | what it does``. A dash stands for no shorthand.
Types: bool, string, int, count, duration, list (commas separate), array (as given), map (k=v), pairs (k=v, with other words about a bad one).
A type followed by ``?x`` may be given without a value, which then is x.
"""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.errors import CommandError, quoted

if TYPE_CHECKING:
    from typing import Any


_TRUE = ("1", "t", "T", "true", "TRUE", "True")
_FALSE = ("0", "f", "F", "false", "FALSE", "False")


class Flag:
    """One flag."""

    __slots__ = ("bare", "default", "help", "hidden", "kind", "name", "short")

    def __init__(self, line: str) -> None:
        words, _, self.help = line.partition("|")
        short, self.name, kind, *default = words.split(None, 3)
        self.hidden = self.help.strip() == ""
        self.short = "" if short == "-" else short
        self.kind, bare, value = kind.partition("?")
        self.bare = value if bare else ("true" if self.kind == "bool" else None)
        self.default = default[0].strip() if default else ""
        self.help = self.help.strip()

    def initial(self) -> Any:
        """Return the value of a flag that is not given."""
        if self.kind in ("list", "array"):
            return self.default.split(",") if self.default else []
        if self.kind in ("map", "pairs"):
            return {}
        if self.kind == "string":
            return self.default
        return self.convert(self.default or ("false" if self.kind == "bool" else "0"))

    def convert(self, text: str) -> Any:
        """Return the value of a text; ValueError with Go's words if it has none."""
        match self.kind:
            case "bool":
                if text in _TRUE:
                    return True
                if text in _FALSE:
                    return False
                raise ValueError(f"strconv.ParseBool: parsing {quoted(text)}: invalid syntax")
            case "int" | "count":
                try:
                    return int(text, 0)
                except ValueError:
                    raise ValueError(f"strconv.ParseInt: parsing {quoted(text)}: invalid syntax") from None
            case "duration":
                from pybernetes.api.text.durations import parse_duration

                return parse_duration(text)
        return text


class Values:
    """The flags of a command as attributes, dashes as underscores; ``changed`` names those that were given."""

    def __init__(self, flags: dict[str, Flag]) -> None:
        self.flags = flags
        self.changed: set[str] = set()
        self.by_letter: set[str] = set()  # those that were given as -x
        self.given: list[tuple[str, str]] = []  # those that were given, in order, with their texts
        self.args: list[str] = []
        self.dash = -1  # how many arguments stand before --
        self.shadowed: frozenset[str] = (
            frozenset()
        )  # flags of every command that mean something else in this one
        self._values: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__["_values"]
        if name in values:
            return values[name]
        flag = self.__dict__["flags"].get(name.replace("_", "-"))
        if flag is None:
            raise AttributeError(name)
        values[name] = flag.initial()
        return values[name]

    def common(self, name: str) -> Any:
        """Return a global flag; empty if the command uses its name for something else."""
        return "" if name in self.shadowed else getattr(self, name.replace("-", "_"))

    def has(self, name: str) -> bool:
        """Return whether the command has such a flag."""
        return name in self.flags

    def put(self, flag: Flag, text: str) -> None:
        """Take a value from the command line."""
        name = flag.name.replace("-", "_")
        try:
            if flag.kind == "list":
                given = split_csv(text)
                value = (self._values[name] if flag.name in self.changed else []) + given
            elif flag.kind == "array":
                value = (self._values[name] if flag.name in self.changed else []) + [text]
            elif flag.kind in ("map", "pairs"):
                pairs = {}
                for part in split_csv(text):
                    key, equals, item = part.partition("=")
                    if not equals:
                        raise ValueError(
                            f"{part} must be formatted as key=value"
                            if flag.kind == "map"
                            else "malformed pair, expect string=string"
                        )
                    pairs[key] = item
                value = {**self._values.get(name, {}), **pairs}
            else:
                value = flag.convert(text)
        except ValueError as error:
            shown = f"-{flag.short}, --{flag.name}" if flag.short else f"--{flag.name}"
            raise FlagError(f"invalid argument {quoted(text)} for {quoted(shown)} flag: {error}") from None
        self._values[name] = value
        self.changed.add(flag.name)
        self.given.append((flag.name, text))

    def set(self, name: str, value: Any) -> None:
        """Set a value from within, as a default that depends on others."""
        self._values[name.replace("-", "_")] = value


def split_csv(text: str) -> list[str]:
    """Return the fields of one line of comma-separated values."""
    if '"' not in text:
        return text.split(",") if text else []
    import csv

    return next(csv.reader([text]), [])


class FlagError(CommandError):
    """The command line does not fit the flags."""


def declare(*texts: str) -> dict[str, Flag]:
    """Return the flags that some texts declare, by name."""
    flags: dict[str, Flag] = {}
    for text in texts:
        for line in text.splitlines():
            if line and not line.isspace():
                flag = Flag(line)
                flags.setdefault(flag.name, flag)
    return flags


def parse(arguments: list[str], flags: dict[str, Flag], interspersed: bool = True) -> Values:
    """Parse the arguments of a command; FlagError in pflag's words."""
    values = Values(flags)
    shorts = {flag.short: flag for flag in flags.values() if flag.short}
    rest = iter(range(len(arguments)))
    help_wanted = False
    for index in rest:
        argument = arguments[index]
        if len(argument) < 2 or argument[0] != "-":
            values.args.append(argument)
            if not interspersed:
                values.args += arguments[index + 1 :]
                break
            continue
        if argument == "--":
            values.dash = len(values.args)
            values.args += arguments[index + 1 :]
            break
        following = arguments[index + 1 : index + 2]
        try:
            if argument.startswith("--"):
                taken = _long(values, argument, following)
            else:
                taken = _shorts(values, shorts, argument, following)
        except HelpWanted:
            help_wanted, taken = True, False  # what is wrong further on counts more
        if taken:
            next(rest)
    if help_wanted:
        raise HelpWanted
    return values


def _long(values: Values, argument: str, following: list[str]) -> bool:
    name, equals, text = argument[2:].partition("=")
    if not name or name[0] == "-" or name[0] == "=":
        raise FlagError(f"bad flag syntax: {argument}")
    flag = values.flags.get(name)
    if flag is None and "_" in name:
        flag = values.flags.get(name.replace("_", "-"))
    if flag is None:
        if name == "help":
            _help(text if equals else "true")
            return False
        raise FlagError(f"unknown flag: --{name}")
    if equals:
        values.put(flag, text)
    elif flag.bare is not None:
        values.put(flag, flag.bare)
    elif following:
        values.put(flag, following[0])
        return True
    else:
        raise FlagError(f"flag needs an argument: {argument}")
    return False


def _shorts(values: Values, shorts: dict[str, Flag], argument: str, following: list[str]) -> bool:
    letters = argument[1:]
    while letters:
        flag = shorts.get(letters[0])
        if flag is None:
            if letters[0] == "h":
                _help(letters[2:] if letters[1:2] == "=" and letters[2:] else "true")
                return False
            raise FlagError(f"unknown shorthand flag: {letters[0]!r} in -{letters}")
        values.by_letter.add(flag.name)
        if len(letters) > 2 and letters[1] == "=":
            values.put(flag, letters[2:])
            return False
        if flag.bare is not None:
            values.put(flag, flag.bare)
            letters = letters[1:]
            continue
        if len(letters) > 1:
            values.put(flag, letters[1:])
            return False
        if not following:
            raise FlagError(f"flag needs an argument: {letters[0]!r} in -{letters}")
        values.put(flag, following[0])
        return True
    return False


def _help(text: str) -> None:
    """Take the value of --help, which every command has."""
    if text in _TRUE:
        raise HelpWanted
    if text not in _FALSE:
        raise FlagError(
            f'invalid argument "{text}" for "-h, --help" flag: strconv.ParseBool: parsing "{text}": invalid syntax'
        )


class HelpWanted(Exception):
    """--help was given."""
